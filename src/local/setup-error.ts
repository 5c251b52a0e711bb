/** An expected problem of a local command. Its message is printed without a stack trace. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
