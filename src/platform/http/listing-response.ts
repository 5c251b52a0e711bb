/** Responses of listings: an array of items, the header `x-total-count` on request (R-A7), and warnings. */
import type { Context } from 'hono';
import { declareQuery } from './query.ts';
import { flagParameter } from './query-parameters.ts';

/** The parameter that every listing has besides its own. */
export const COUNT_QUERY = declareQuery({
  includeItemsCount: flagParameter('`true` requests the response header `x-total-count`.'),
});

/**
 * Whether the client wants the total: the request header `x-total-count` is `true` (R-A7), or `includeItemsCount` of the query,
 * which older clients send. Counting may cost more than the page, so nothing is counted otherwise.
 */
export function isTotalWanted(c: Context): boolean {
  return c.req.header('x-total-count')?.toLowerCase() === 'true' || COUNT_QUERY.parse(c.req.url).includeItemsCount;
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

/** Says in the header `Warning` that a parameter had no effect: listings are arrays, which have no member for it. */
export function setWarning(c: Context, text: string): void {
  c.header('Warning', `299 tidemark "${text}"`, { append: true });
}
