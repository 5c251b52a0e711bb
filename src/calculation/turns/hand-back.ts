/**
 * Reason with which a run or preview is aborted in order to be repeated later. The record of the run keeps the message.
 */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /**
   * Signal that is aborted when the grace period of the stopping calculator ends. The run or preview can be handed back
   * before that.
   */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
