/** Defines the error for a body that cannot be parsed in its format, and finds the line and column for its message. */

/** The body cannot be parsed, so the expression was not evaluated. The message is for the sender of the body. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** @returns line and column of a position in a text, both counted from 1; any line end is accepted. */
export function placeOf(text: string, position: number): string {
  let line = 1;
  let start = 0;
  for (let at = 0; at < position; at += 1) {
    if (text[at] !== '\n' && (text[at] !== '\r' || text[at + 1] === '\n')) continue;
    line += 1;
    start = at + 1;
  }
  return `line ${line}, column ${position - start + 1}`;
}
