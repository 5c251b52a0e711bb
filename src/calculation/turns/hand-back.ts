/** The reason of an aborted run or preview; its message is recorded with the run, which is repeated. */
export class HandBack extends Error {
  override readonly name = 'HandBack';
}
