/**
 * Abort reason of a run or preview that will be repeated. The record of an aborted run keeps the message of this error.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /**
   * Aborted when the calculator stops, at the end of the grace period. Not aborted when a run or preview is stopped to
   * free a borrowed slot.
   */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
