/** Why a run or preview was aborted; its message is recorded with the run, which is repeated. */
export class HandBack extends Error {
  override readonly name = 'HandBack';
}
