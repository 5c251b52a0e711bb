/**
 * Lists the types that an account may use (R-C8): first the built-in types, then the types that the account added, in
 * the order of their ids.
 */
import type { Queryable } from '../../platform/database/database.ts';
import { AGGREGATE, type Aggregate, nameOf } from './enumerations.ts';
import {
  ENERGY_TYPES,
  ENERGY_USAGES,
  FEATURES,
  SITE_TYPES,
  SOURCE_TYPES,
  VARIABLE_TYPES,
  type VariableType,
} from './types.ts';

/** Catalogues to which accounts can add entries; the table `catalogue_entry` stores the added entries. */
export type EntryCatalogue = 'SiteType' | 'SourceType' | 'EnergyType' | 'EnergyUsage' | 'VariableType' | 'Feature';

export interface CatalogueType {
  readonly id: number;
  readonly name: string;
}

interface Entry extends CatalogueType {
  readonly aggregate: number | null;
}

const toTypes = (members: Readonly<Record<string, number>>): readonly CatalogueType[] =>
  Object.entries(members).map(([name, id]) => ({ id, name }));

/** Built-in entries of each catalogue. */
export const BUILT_IN_TYPES = {
  SiteType: toTypes(SITE_TYPES),
  SourceType: toTypes(SOURCE_TYPES),
  EnergyType: toTypes(ENERGY_TYPES),
  EnergyUsage: toTypes(ENERGY_USAGES),
  VariableType: VARIABLE_TYPES,
  Feature: toTypes(FEATURES),
} as const satisfies Readonly<Record<EntryCatalogue, readonly CatalogueType[]>>;

/** Lists the types of a catalogue (R-C8). */
export async function listTypes(
  queryable: Queryable,
  accountId: number,
  catalogue: Exclude<EntryCatalogue, 'Feature' | 'VariableType'>,
): Promise<readonly CatalogueType[]> {
  return [...BUILT_IN_TYPES[catalogue], ...(await listOwnEntries(queryable, accountId, catalogue))];
}

/** Lists the types of variables (R-C8). */
export async function listVariableTypes(queryable: Queryable, accountId: number): Promise<readonly VariableType[]> {
  const own = await readEntries(queryable, accountId, 'VariableType');
  const shown = own.map(({ id, name, aggregate }) => ({ id, name, aggregate: toAggregate(aggregate) }));
  return [...VARIABLE_TYPES, ...shown];
}

/** Lists the entries that an account added to a catalogue, in the order of their ids. */
export async function listOwnEntries(
  queryable: Queryable,
  accountId: number,
  catalogue: EntryCatalogue,
): Promise<readonly CatalogueType[]> {
  return (await readEntries(queryable, accountId, catalogue)).map(({ id, name }) => ({ id, name }));
}

async function readEntries(
  queryable: Queryable,
  accountId: number,
  catalogue: EntryCatalogue,
): Promise<readonly Entry[]> {
  const { rows } = await queryable.query<Entry>(
    'select id, name, aggregate from catalogue_entry where account_id = $1 and catalogue = $2 order by id',
    [accountId, catalogue],
  );
  return rows;
}

function toAggregate(number: number | null): Aggregate {
  return nameOf<Aggregate>(AGGREGATE, number) ?? 'AVG';
}
