/** API calls for the catalogues that an account may extend. */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

/** Smallest id that an entry added by an account can have; built-in entries have smaller ids. */
const FIRST_OWN_ID = 1_000_000_000;

export const CATALOGUES = [
  ...(['units', 'unitFamily', 'variableTypes', 'siteTypes', 'sourceTypes', 'energyTypes', 'energyUsages'] as const),
  'features',
] as const;
export type Catalogue = (typeof CATALOGUES)[number];

/** An entry of any catalogue; only some catalogues have the optional members. */
export interface Entry {
  readonly id: number;
  readonly name: string;
  readonly symbol?: string;
  readonly unitFamilyId?: number;
  readonly divisor?: number;
  readonly offset?: number;
  readonly aggregate?: string;
}

/** Members of a new entry, as they are sent to the API. */
export type NewEntry = Readonly<Record<string, string | number>> & { readonly name: string };

interface Calls {
  readonly list: () => Promise<readonly Entry[]>;
  readonly add: (entry: NewEntry) => Promise<unknown>;
  readonly change: (id: number, members: { readonly name: string; readonly symbol?: string }) => Promise<unknown>;
  readonly remove: (id: number) => Promise<unknown>;
}

const params = (id: number) => ({ params: { path: { id } } });

/** The calls of each catalogue. */
export const CALLS: Readonly<Record<Catalogue, Calls>> = {
  units: {
    list: () => bodyOf(api.GET('/units')),
    add: (entry) => bodyOf(api.POST('/units', { body: entry as never })),
    change: (id, body) => bodyOf(api.PUT('/units/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/units/{id}', params(id))),
  },
  unitFamily: {
    list: () => bodyOf(api.GET('/unitFamily')),
    add: (body) => bodyOf(api.POST('/unitFamily', { body })),
    change: (id, body) => bodyOf(api.PUT('/unitFamily/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/unitFamily/{id}', params(id))),
  },
  variableTypes: {
    list: () => bodyOf(api.GET('/variables/types')),
    add: (entry) => bodyOf(api.POST('/variables/types', { body: entry as never })),
    change: (id, body) => bodyOf(api.PUT('/variables/types/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/variables/types/{id}', params(id))),
  },
  siteTypes: {
    list: () => bodyOf(api.GET('/sitetypes')),
    add: (body) => bodyOf(api.POST('/sitetypes', { body })),
    change: (id, body) => bodyOf(api.PUT('/sitetypes/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/sitetypes/{id}', params(id))),
  },
  sourceTypes: {
    list: () => bodyOf(api.GET('/sourceTypes')),
    add: (body) => bodyOf(api.POST('/sourceTypes', { body })),
    change: (id, body) => bodyOf(api.PUT('/sourceTypes/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/sourceTypes/{id}', params(id))),
  },
  energyTypes: {
    list: () => bodyOf(api.GET('/energyTypes')),
    add: (body) => bodyOf(api.POST('/energyTypes', { body })),
    change: (id, body) => bodyOf(api.PUT('/energyTypes/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/energyTypes/{id}', params(id))),
  },
  energyUsages: {
    list: () => bodyOf(api.GET('/energyUsages')),
    add: (body) => bodyOf(api.POST('/energyUsages', { body })),
    change: (id, body) => bodyOf(api.PUT('/energyUsages/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/energyUsages/{id}', params(id))),
  },
  features: {
    list: () => bodyOf(api.GET('/account/features')),
    add: (body) => bodyOf(api.POST('/account/features', { body })),
    change: (id, body) => bodyOf(api.PUT('/account/features/{id}', { ...params(id), body })),
    remove: (id) => bodyOf(api.DELETE('/account/features/{id}', params(id))),
  },
};

/** Whether the entry belongs to the account and is not built in. */
export function isOwn({ id }: Entry): boolean {
  return id >= FIRST_OWN_ID;
}

/** @returns the query of a catalogue's entries, with the same query key as `useCatalogues`. */
export function useEntries(catalogue: Catalogue) {
  return useQuery({ queryKey: [catalogue], queryFn: CALLS[catalogue].list });
}
