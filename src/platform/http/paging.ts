/** Paging of listings (§8): page number from 0, and items per page. */
import type { QueryValues } from './query.ts';
import { integerParameter } from './query-parameters.ts';

export interface Paging {
  /** Items per page; undefined: the whole listing is one page. */
  readonly limit: number | undefined;
  readonly offset: number;
}

/** Paging that returns the whole listing as one page. */
export const WHOLE: Paging = { limit: undefined, offset: 0 };

/** Query parameters of a paged listing (§2 Paging). */
export const PAGING = {
  pageNumber: integerParameter('Page number, counted from 0.', { min: 0, default: 0 }),
  itemsPerPage: integerParameter('Items per page; without it the whole listing is page 0, and later pages are empty.', {
    min: 1,
  }),
};

/**
 * Limit and offset of the requested page (§8). Without a size, the whole listing is page 0 and the others are empty: a
 * client that requests pages until one is empty then stops.
 */
export function toPaging({ pageNumber, itemsPerPage: limit }: QueryValues<typeof PAGING>): Paging {
  if (limit === undefined) return pageNumber === 0 ? WHOLE : { limit: 0, offset: 0 };
  return { limit, offset: pageOffset(limit, pageNumber) };
}

/** One page of a listing held in memory (§8). */
export function pageOf<Item>(items: readonly Item[], { limit, offset }: Paging): readonly Item[] {
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}

// Exceeds the length of any listing. Offset plus limit still fits a PostgreSQL bigint and an exact JavaScript integer.
const MAX_OFFSET = 2 ** 52;

/** @param itemsPerPage items of a page. @param pageNumber from 0. @returns the items before the page, at most 2^52. */
export function pageOffset(itemsPerPage: number, pageNumber: number): number {
  return Math.min(itemsPerPage * pageNumber, MAX_OFFSET);
}
