/** Reads and saves elements (sites, sources and variables), and reads forms, catalogues and time zones. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { answerOf, api, bodyOf } from '../api/client.ts';
import type { CatalogueName, Kind, Members } from './fields.ts';

/** Maximum number of children that are listed on the page of an element. */
export const MAX_CHILDREN = 100;
const STALE_MS = 300_000;

/** An element of the structure, with its `clientData`. */
export interface Stored extends Members {
  readonly id: number;
  readonly name: string | null;
  readonly clientData?: Members | null;
  readonly formProblems?: readonly { readonly path: string; readonly message: string }[];
  readonly siteId?: number;
  readonly siteName?: string;
  readonly sourceId?: number;
  readonly sourceName?: string;
}

async function load(kind: Kind, id: number): Promise<Stored> {
  const path = { id };
  if (kind === 'Site')
    return bodyOf(api.GET('/sites/{id}', { params: { path, query: { displayLevel: 'VerboseSite' } } }));
  const query = { displayLevel: 'Verbose' } as const;
  if (kind === 'Source') return bodyOf(api.GET('/sources/{id}', { params: { path, query } }));
  return bodyOf(api.GET('/variables/{id}', { params: { path, query } }));
}

/** @returns a query that loads a site, source or variable. */
export function useElement(kind: Kind, id: number) {
  return useQuery({ queryKey: ['element', kind, id], queryFn: () => load(kind, id) });
}

/** @returns a query that loads those forms of the account that apply to elements of this kind. */
export function useForms(kind: Kind) {
  return useQuery({
    queryKey: ['forms', kind],
    queryFn: () => bodyOf(api.GET('/form', { params: { query: { entityType: kind } } })),
    staleTime: STALE_MS,
  });
}

interface Children {
  readonly body: readonly Child[];
  readonly total: number;
}

/** A source or a variable in a list. */
export interface Child {
  readonly id: number;
  readonly name: string | null;
  readonly serialNumber?: string | null;
  readonly mappingConfig?: string | null;
}

/**
 * @returns a query that loads the first MAX_CHILDREN children and the total number of all children. A site's children
 *   are sources; a source's children are variables.
 */
export function useChildren(kind: 'Site' | 'Source', id: number) {
  return useQuery({
    queryKey: ['children', kind, id],
    queryFn: (): Promise<Children> => {
      const page = { pageNumber: 0, itemsPerPage: MAX_CHILDREN };
      const headers = { 'x-total-count': 'true' };
      return kind === 'Site'
        ? answerOf(api.GET('/sources', { params: { query: { siteIds: [id], ...page } }, headers }))
        : answerOf(api.GET('/variables', { params: { query: { sourceIds: [id], ...page } }, headers }));
    },
  });
}

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly symbol?: string;
}

const LOADERS: Readonly<Record<CatalogueName, () => Promise<readonly Entry[]>>> = {
  units: () => bodyOf(api.GET('/units')),
  siteTypes: () => bodyOf(api.GET('/sitetypes')),
  sourceTypes: () => bodyOf(api.GET('/sourceTypes')),
  energyTypes: () => bodyOf(api.GET('/energyTypes')),
  energyUsages: () => bodyOf(api.GET('/energyUsages')),
  variableTypes: () => bodyOf(api.GET('/variables/types')),
};

/** An option of a select field. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

/** @returns the options of each catalogue, by its name. While a catalogue loads, its array of options is empty. */
export function useCatalogues(names: readonly CatalogueName[]): ReadonlyMap<CatalogueName, readonly Option[]> {
  const results = useQueries({
    queries: names.map((name) => ({ queryKey: [name], queryFn: LOADERS[name], staleTime: STALE_MS })),
  });
  return new Map(names.map((name, index) => [name, (results[index]?.data ?? []).map(toOption)] as const));
}

function toOption({ id, name, symbol }: Entry): Option {
  return { value: String(id), label: symbol && symbol !== name ? `${name} (${symbol})` : name };
}

/** @returns the ids of all time zones; empty while they load. */
export function useTimeZones(): readonly string[] {
  const zones = useQuery({
    queryKey: ['time-zones'],
    queryFn: () => bodyOf(api.GET('/timezones')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return zones.data?.map(({ id }) => id) ?? [];
}

/** Creates an element with `members`, or changes these members of an existing element. @returns the element id. */
export async function saveElement(kind: Kind, target: Target, members: Members): Promise<number> {
  // The cast is needed because the table of fields decides the members, so their types are not known here.
  const body = members as never;
  if ('id' in target) {
    const path = { id: target.id };
    if (kind === 'Site') await bodyOf(api.PUT('/sites/{id}', { params: { path }, body }));
    else if (kind === 'Source') await bodyOf(api.PUT('/sources/{id}', { params: { path }, body }));
    else {
      const variable = { ...path, sourceId: target.parentId ?? 0 };
      await bodyOf(api.PUT('/sources/{sourceId}/variables/{id}', { params: { path: variable }, body }));
    }
    return target.id;
  }
  if (kind === 'Site') return bodyOf(api.POST('/sites', { body }));
  if (kind === 'Source')
    return (await bodyOf(api.POST('/sources', { body: { ...members, siteId: target.parentId } as never }))).id;
  const path = { sourceId: target.parentId ?? 0 };
  return (await bodyOf(api.POST('/variables/source/{sourceId}', { params: { path }, body }))).id;
}

/** Identifies the element to change, or the parent of the element to create. */
export type Target = { readonly id: number; readonly parentId?: number } | { readonly parentId?: number };
