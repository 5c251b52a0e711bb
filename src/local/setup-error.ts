/** A reason why the local stack cannot start, as a sentence for the person at the terminal; never a bug. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
