/** Tells answers that are streamed, of unknown length, from those that are there as a whole. */
import type { Context } from 'hono';

const STREAMED = 'isStreamed';

/** Says that the answer's body is a stream: nobody should wait for its end. */
export function markStreamed(c: Context): void {
  c.set(STREAMED, true);
}

export function isStreamed(c: Context): boolean {
  return c.get(STREAMED) === true;
}
