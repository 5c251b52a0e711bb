/** Answers of listings: the items as an array, and their total on request (R-A7). */
import type { Context } from 'hono';

/** Whether the caller asked for `x-total-count`. */
export function isTotalWanted(c: Context): boolean {
  return c.req.header('x-total-count')?.toLowerCase() === 'true';
}

/** Sets `x-total-count` when it was asked for. */
export function setTotalCount(c: Context, totalCount: number): void {
  if (isTotalWanted(c)) c.header('x-total-count', String(totalCount));
}

/** A listing that is there as a whole. */
export function answerWhole(c: Context, items: readonly unknown[]): Response {
  setTotalCount(c, items.length);
  return c.json(items);
}
