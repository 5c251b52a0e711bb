/**
 * Abort reason of a run or preview that will be repeated. The record of an aborted run keeps the message of this error.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /**
   * Aborted when the calculator stops and its grace period has ended. Not aborted when a run or preview is stopped only
   * because it must free a borrowed slot.
   */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
