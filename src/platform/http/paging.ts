/** Paging of listings (§8): a client sends the number of a page, counted from 0, and the number of items per page. */
import type { QueryValues } from './query.ts';
import { integerParameter } from './query-parameters.ts';

export interface Paging {
  /** Items per page; undefined when the whole listing is one page. */
  readonly limit: number | undefined;
  readonly offset: number;
}

/** Paging that returns the whole listing as one page. */
export const WHOLE: Paging = { limit: undefined, offset: 0 };

/** Query parameters of a paged listing (§2 Paging). */
export const PAGING = {
  pageNumber: integerParameter('Page number, counted from 0.', { min: 0, default: 0 }),
  itemsPerPage: integerParameter('Items per page. If absent, page 0 contains all items, and later pages are empty.', {
    min: 1,
  }),
};

/**
 * Returns limit and offset of the requested page (§8). Without `itemsPerPage`, page 0 is the whole listing. Later pages
 * are empty, because clients may request pages until one is empty.
 */
export function toPaging({ pageNumber, itemsPerPage: limit }: QueryValues<typeof PAGING>): Paging {
  if (limit === undefined) return pageNumber === 0 ? WHOLE : { limit: 0, offset: 0 };
  return { limit, offset: pageOffset(limit, pageNumber) };
}

/** Returns one page of a listing that is in memory (§8). */
export function pageOf<Item>(items: readonly Item[], { limit, offset }: Paging): readonly Item[] {
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}

// Largest offset; it is beyond the end of any listing. The sum of this offset and a limit still fits into a PostgreSQL
// bigint and is an exact JavaScript integer.
const MAX_OFFSET = 2 ** 52;

/**
 * @param pageNumber number of the page, counted from 0.
 * @returns the number of items before the page, at most 2^52.
 */
export function pageOffset(itemsPerPage: number, pageNumber: number): number {
  return Math.min(itemsPerPage * pageNumber, MAX_OFFSET);
}
