/** The reason of an aborted run or preview; its message is recorded with the run, which is repeated. */
export class HandBack extends Error {
  override readonly name = 'HandBack';
  /** Aborted when the calculator stops, which can be after this hand-back. */
  readonly stopping: AbortSignal;

  constructor(message: string, stopping: AbortSignal) {
    super(message);
    this.stopping = stopping;
  }
}
