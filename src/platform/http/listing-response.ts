/** Responses of listings: an array of items, and the header `x-total-count` on request (R-A7). */
import type { Context } from 'hono';

/** Whether the request header `x-total-count` is `true` (R-A7). */
export function isTotalWanted(c: Context): boolean {
  return c.req.header('x-total-count')?.toLowerCase() === 'true';
}

/** Sets `x-total-count` when the client requested it (R-A7). */
export function setTotalCount(c: Context, totalCount: number): void {
  if (isTotalWanted(c)) c.header('x-total-count', String(totalCount));
}

/** Answers a listing without paging (R-A7). */
export function answerWhole(c: Context, items: readonly unknown[]): Response {
  setTotalCount(c, items.length);
  return c.json(items);
}
