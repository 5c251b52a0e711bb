/** An expected problem of a local command. Its message is a sentence that says what to change; it is printed without a stack. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
