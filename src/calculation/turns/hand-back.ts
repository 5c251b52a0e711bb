/**
 * Abort reason of a run or preview that will be repeated. The record of an aborted run keeps the message of this error.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /** Aborted only when the calculator stops, at the end of the grace period. */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
