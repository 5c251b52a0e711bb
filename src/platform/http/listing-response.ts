/** Responses of listings: an array of items, the header `x-total-count` on request (R-A7), and warnings. */
import type { Context } from 'hono';
import { declareQuery } from './query.ts';
import { flagParameter } from './query-parameters.ts';

/** Query parameter that every listing has. */
export const COUNT_QUERY = declareQuery({
  includeItemsCount: flagParameter('`true` requests the response header `x-total-count`.'),
});

/**
 * Returns true when the client requests the total number of items (R-A7). Compute the total only then, because counting
 * can cost more than reading the page.
 */
export function isTotalWanted(c: Context): boolean {
  return c.req.header('x-total-count')?.toLowerCase() === 'true' || COUNT_QUERY.parse(c.req.url).includeItemsCount;
}

/** Sets `x-total-count` when the client requested it (R-A7). */
export function setTotalCount(c: Context, totalCount: number): void {
  if (isTotalWanted(c)) c.header('x-total-count', String(totalCount));
}

/** Answers with a listing that is not divided into pages (R-A7). */
export function answerWhole(c: Context, items: readonly unknown[]): Response {
  setTotalCount(c, items.length);
  return c.json(items);
}

/**
 * Reports in the header `Warning` that a parameter had no effect; the body of a listing is an array and
 * has no place for warnings.
 */
export function setWarning(c: Context, text: string): void {
  c.header('Warning', `299 tidemark "${text}"`, { append: true });
}
