/** Marks streamed answers, whose length is unknown; middleware must not buffer them. */
import type { Context } from 'hono';

const STREAMED = 'isStreamed';

/** Marks the answer to this request as streamed. */
export function markStreamed(c: Context): void {
  c.set(STREAMED, true);
}

/** Returns true when the answer to this request is marked as streamed. */
export function isStreamed(c: Context): boolean {
  return c.get(STREAMED) === true;
}
