/** Paging of listings (§8): zero-based page number and items per page. */
import { type Query, queryInteger } from './query-string.ts';

export interface Paging {
  readonly limit: number | undefined;
  readonly offset: number;
}

/** Without ItemsPerPage the whole listing is one page. @throws DomainError invalid_input. */
export function parsePaging(query: Query): Paging {
  const limit = queryInteger(query, 'itemsPerPage', 1);
  const pageNumber = queryInteger(query, 'pageNumber', 0) ?? 0;
  return { limit, offset: limit === undefined ? 0 : pageOffset(limit, pageNumber) };
}

// There is nothing behind it, and with a page added it still is a number that every statement can hold.
const MAX_OFFSET = 2 ** 52;

/** How many items come before a page. */
export function pageOffset(itemsPerPage: number, pageNumber: number): number {
  return Math.min(itemsPerPage * pageNumber, MAX_OFFSET);
}
