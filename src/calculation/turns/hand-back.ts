/**
 * Reason with which a run or preview is aborted in order to be repeated later. The record of the run keeps the message.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /**
   * When the calculator stops, this signal is aborted at the end of the grace period. A run or preview can be handed
   * back before the signal is aborted.
   */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
