/**
 * Lists the members that refer to catalogue entries, such as `typeId` of a site, and converts these references between
 * ids and names. For a built-in entry, a document has the id. For an entry that an account added, a document has the
 * name, because the ids of added entries differ between accounts.
 */
import type { Queryable } from '../../../platform/database/database.ts';
import { type EntryCatalogue, listTypes, listVariableTypes } from '../../catalogue/list-types.ts';
import { listUnits } from '../../catalogue/units.ts';
import type { KindName } from './kinds.ts';

export type NamedCatalogue = 'Unit' | Exclude<EntryCatalogue, 'Feature'>;

/** For each kind of resource: the members that refer to a catalogue entry, each with the name of that catalogue. */
export const CATALOGUE_MEMBERS: Readonly<Record<KindName, Readonly<Record<string, NamedCatalogue>>>> = {
  sites: { typeId: 'SiteType' },
  sources: { sourceTypeId: 'SourceType', energyTypeId: 'EnergyType', energyUsageId: 'EnergyUsage' },
  variables: { variableTypeId: 'VariableType', unitId: 'Unit' },
};

/** For each catalogue, the path of the route that lists its entries; error messages name this path. */
export const CATALOGUE_PATHS: Readonly<Record<NamedCatalogue, string>> = {
  Unit: '/units',
  SiteType: '/sitetypes',
  SourceType: '/sourceTypes',
  EnergyType: '/energyTypes',
  EnergyUsage: '/energyUsages',
  VariableType: '/variables/types',
};

/**
 * Names of the entries that the account added, by id. All catalogues take the ids of added entries from one sequence,
 * above the ids of built-in entries. So the id of an added entry is unique across all catalogues.
 */
export type OwnNames = ReadonlyMap<number, string>;

/** Reads the names of the units, types and features that an account added. */
export async function readOwnNames(queryable: Queryable, accountId: number): Promise<OwnNames> {
  const { rows } = await queryable.query<{ id: number; name: string }>(
    `select id, name from unit where account_id = $1
     union all select id, name from catalogue_entry where account_id = $1`,
    [accountId],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * @returns the name of the entry if `value` is the id of an entry that the account added; otherwise `value` itself.
 */
export function toDocumentId(value: unknown, names: OwnNames): unknown {
  return (typeof value === 'number' ? names.get(value) : undefined) ?? value;
}

/**
 * @returns the ids of the catalogue's built-in entries and of the account's entries. The keys are the names and the names
 * in lower case. When an entry of the account and a built-in entry have the same name, the map has the account's.
 */
export async function readIdsByName(
  queryable: Queryable,
  accountId: number,
  catalogue: NamedCatalogue,
): Promise<ReadonlyMap<string, number>> {
  const entries = await listEntries(queryable, accountId, catalogue);
  const sorted = entries.toSorted((a, b) => a.id - b.id);
  return new Map([
    ...sorted.map(({ id, name }) => [name.toLowerCase(), id] as const),
    ...sorted.map(({ id, name }) => [name, id] as const),
  ]);
}

function listEntries(queryable: Queryable, accountId: number, catalogue: NamedCatalogue) {
  if (catalogue === 'Unit') return listUnits(queryable, accountId);
  if (catalogue === 'VariableType') return listVariableTypes(queryable, accountId);
  return listTypes(queryable, accountId, catalogue);
}

/** @returns the message for a name that no entry has. */
export function unknownName(catalogue: NamedCatalogue, name: string): string {
  return `must be an id, or the name of an entry of GET ${CATALOGUE_PATHS[catalogue]} or of the document, got ${JSON.stringify(name)}; correct the name or add the entry`;
}

/** @returns true for the name of an entry, false for an id, which may be a string of digits (R-A3). */
export function isEntryName(value: unknown): value is string {
  return typeof value === 'string' && !/^\d{1,10}$/.test(value);
}
