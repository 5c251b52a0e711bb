/** Paging of listings (§8): zero-based page number and items per page. */
import type { QueryValues } from './query.ts';
import { integerParameter } from './query-parameters.ts';

export interface Paging {
  /** undefined: the whole listing is one page. */
  readonly limit: number | undefined;
  readonly offset: number;
}

/** The query parameters of a listing in pages (§2 Paging). */
export const PAGING = {
  pageNumber: integerParameter('Page number, counted from 0.', { min: 0, default: 0 }),
  itemsPerPage: integerParameter('Items per page; without it the whole listing is one page.', { min: 1 }),
};

/** Limit and offset of the page. */
export function toPaging({ pageNumber, itemsPerPage: limit }: QueryValues<typeof PAGING>): Paging {
  return { limit, offset: limit === undefined ? 0 : pageOffset(limit, pageNumber) };
}

/** The items of one page, of a listing held in memory. */
export function pageOf<Item>(items: readonly Item[], { limit, offset }: Paging): readonly Item[] {
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}

// No listing is longer, and with a page added it is still a number every statement can hold.
const MAX_OFFSET = 2 ** 52;

/** How many items come before a page, at most 2^52. */
export function pageOffset(itemsPerPage: number, pageNumber: number): number {
  return Math.min(itemsPerPage * pageNumber, MAX_OFFSET);
}
