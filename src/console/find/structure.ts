/** Loads sites, sources and variables: page by page for the tree, and the first hits for a search. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, answerOf, api, bodyOf } from '../api/client.ts';
import type { components } from '../api/openapi.d.ts';
import { type ElementKind, toFilter } from './search-rules.ts';

export type Site = components['schemas']['Site'];
export type Source = components['schemas']['Source'];
export type Variable = components['schemas']['Variable'];

/** Maximum number of elements that one request for a list returns. */
const PAGE = 500;
/** Maximum number of hits that a search shows for each kind of element: sites, sources and variables. */
const MAX_HITS = 50;
const headers = { 'x-total-count': 'true' };

/** Key of a list of the tree: the sites, the sources of a site, or the variables of a source. */
export type ListKey = 'sites' | `sources:${number}` | `variables:${number}`;
export type Element = Site | Source | Variable;

export interface Page {
  readonly body: readonly Element[];
  readonly total: number;
}

async function loadPage(key: ListKey, pageNumber: number): Promise<Page> {
  const [kind, id] = key.split(':');
  const page = { pageNumber, itemsPerPage: PAGE };
  const filter = [Number(id)];
  if (kind === 'sites') return answerOf(api.GET('/sites', { params: { query: page }, headers }));
  if (kind === 'sources')
    return answerOf(api.GET('/sources', { params: { query: { siteIds: filter, ...page } }, headers }));
  return answerOf(api.GET('/variables', { params: { query: { sourceIds: filter, ...page } }, headers }));
}

export interface LoadedList {
  readonly pages: readonly (Page | undefined)[];
  readonly error: unknown;
}

/** Loads the lists of the tree page by page: the first page of the sites, and the pages that `want` asks for. */
export function useLists() {
  const [wanted, setWanted] = useState<ReadonlyMap<ListKey, number>>(new Map([['sites', 1]]));
  const requests = [...wanted].flatMap(([key, count]) => Array.from({ length: count }, (_, page) => ({ key, page })));
  const results = useQueries({
    queries: requests.map(({ key, page }) => ({
      queryKey: ['structure', key, page],
      queryFn: () => loadPage(key, page),
    })),
  });
  const lists = new Map<ListKey, LoadedList>();
  requests.forEach(({ key }, index) => {
    const known = lists.get(key) ?? { pages: [], error: null };
    const { data, error } = results[index] ?? {};
    lists.set(key, { pages: [...known.pages, data], error: known.error ?? error ?? null });
  });
  /** Asks for the first `pageCount` pages of a list. */
  const want = (key: ListKey, pageCount: number) =>
    setWanted((current) => ((current.get(key) ?? 0) >= pageCount ? current : new Map(current).set(key, pageCount)));
  return { lists, want };
}

export interface Hits {
  readonly sites: Found<Site>;
  readonly sources: Found<Source>;
  readonly variables: Found<Variable>;
}

interface Found<Item> {
  readonly body: readonly Item[];
  readonly total: number;
}

/**
 * @returns a query whose data are the first hits for `text`. Until these hits arrive, the data are the hits for the
 *   previous text. The query sends no request while `text` is empty.
 */
export function useSearch(text: string) {
  return useQuery({
    queryKey: ['search', text],
    queryFn: () => search(text),
    enabled: text !== '',
    placeholderData: (previous) => previous,
  });
}

async function search(text: string): Promise<Hits> {
  const query = (kind: ElementKind) => ({ customFilter: toFilter(text, kind), pageNumber: 0, itemsPerPage: MAX_HITS });
  const refusals: unknown[] = [];
  // A filter may name a field that not every kind of element has. When the API refuses the filter for a kind without
  // this field, the kind has no hits. When the API refuses the filter for all three kinds, the search fails.
  const found = <Item>(call: Promise<Found<Item>>) =>
    call.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      refusals.push(error);
      return { body: [], total: 0 } as Found<Item>;
    });
  const [variables, sources, sites] = await Promise.all([
    found(answerOf(api.GET('/variables', { params: { query: query('variables') }, headers }))),
    found(answerOf(api.GET('/sources', { params: { query: query('sources') }, headers }))),
    found(answerOf(api.GET('/sites', { params: { query: query('sites') }, headers }))),
  ]);
  if (refusals.length === 3) throw refusals[0];
  return { sites, sources, variables };
}

/**
 * Loads the sources of found variables.
 * @returns a query whose data is a map from source id to source.
 */
export function useSourcesOf(variables: readonly Variable[]) {
  const sourceIds = [...new Set(variables.map(({ sourceId }) => sourceId))].sort((a, b) => a - b);
  return useQuery({
    queryKey: ['sources', sourceIds],
    queryFn: async () => {
      const sources = await bodyOf(api.GET('/sources', { params: { query: { sourceIds } } }));
      return new Map(sources.map((source) => [source.id, source] as const));
    },
    enabled: sourceIds.length > 0,
  });
}
