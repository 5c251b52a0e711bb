/**
 * Reason with which a run or preview is aborted in order to be repeated later. The record of the run keeps the message.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /** Aborted when the calculator stops and its grace period has ended, which can be after this hand-back. */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
