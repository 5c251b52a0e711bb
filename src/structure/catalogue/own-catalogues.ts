/**
 * The catalogues to which an account may add its own entries (R-C8): where these entries are stored, which members they
 * have, and which resources use them. `own-entries.ts` writes the entries; the routes and their description follow from
 * this table.
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { enumerationSchema, idSchema } from '../../platform/http/lenient.ts';
import { MAX_NAME } from '../../platform/limits.ts';
import { AGGREGATE } from './enumerations.ts';
import { BUILT_IN_TYPES, type EntryCatalogue } from './list-types.ts';

/**
 * First id of the catalogue entries that accounts add; every built-in entry has a lower id. A resource may have a type
 * number without a catalogue entry. Such a number should be lower too, but no code checks it.
 */
export const FIRST_OWN_ID = 1_000_000_000;

const MAX_SYMBOL = 50;

const textOf = (max: number) => z.string().trim().max(max).refine(isStorableText, { error: STORABLE_RULE });

/** Imports refer to an entry by name or by number, so a name must not be a number. */
const nameSchema = textOf(MAX_NAME)
  .min(1, 'must not be empty')
  .refine((name) => !/^\d+$/.test(name), { error: 'must not consist of digits only' });

/** A field that clients can set in an account's own entries. */
export interface EntryMember {
  readonly column: string;
  readonly schema: z.ZodType;
  /** Value that is stored when a new entry lacks this member. A member without `fallback` is required. */
  readonly fallback?: unknown;
  /** For a member that takes the names of an enumeration: the number stored for each name. */
  readonly stored?: Readonly<Record<string, number>>;
  /** When true, the value of the member can be set only when the entry is created. */
  readonly isFixed?: true;
}

export interface OwnCatalogue {
  /** Path of the routes of the catalogue, such as `/units`. */
  readonly path: string;
  /** The word that messages use for an entry of the catalogue, such as `unit`. */
  readonly label: string;
  readonly table: 'unit' | 'unit_family' | 'catalogue_entry';
  /** Value of the column `catalogue` in a table that several catalogues share. */
  readonly catalogue?: EntryCatalogue;
  readonly members: Readonly<Record<string, EntryMember>>;
  /** Built-in entries. A catalogue without `builtIn` has them in `table`, in the rows with a null `account_id`. */
  readonly builtIn?: readonly { readonly id: number; readonly name: string }[];
  /** SQL that selects `kind` and `id` of everything that uses the entry with id $2 in the account with id $1. */
  readonly uses: string;
}

const name: EntryMember = { column: 'name', schema: nameSchema };
const finite = z.number();

/** @param column the column of `table` that holds the id of a catalogue entry. */
const ofResource = (table: 'site' | 'source' | 'variable', column: string) =>
  `select '${table}' as kind, id::text from ${table} where account_id = $1 and ${column} = $2`;

const typeCatalogue = (path: string, label: string, catalogue: EntryCatalogue, uses: string): OwnCatalogue => ({
  ...{ path, label, table: 'catalogue_entry', catalogue, members: { name }, builtIn: BUILT_IN_TYPES[catalogue], uses },
});

const UNITS: OwnCatalogue = {
  ...{ path: '/units', label: 'unit', table: 'unit' },
  members: {
    name,
    symbol: { column: 'symbol', schema: textOf(MAX_SYMBOL), fallback: '' },
    unitFamilyId: { column: 'unit_family_id', schema: idSchema, isFixed: true },
    divisor: {
      column: 'divisor',
      schema: finite.refine((value) => value !== 0, { error: 'must not be 0, because values are divided by it' }),
      fallback: 1,
      isFixed: true,
    },
    offset: { column: 'zero_offset', schema: finite, fallback: 0, isFixed: true },
  },
  uses: `${ofResource('variable', 'unit_id')}
    union select 'declaration of variable', variable.id::text from declaration_reference reference
    join variable on variable.id = reference.variable_id where variable.account_id = $1 and reference.unit_id = $2
    union select 'form', id::text from form where account_id = $1
      and jsonb_path_exists(groups, '$[*].fields[*].unitId ? (@ == $id)', jsonb_build_object('id', $2::int))`,
};

const FAMILIES: OwnCatalogue = {
  ...{ path: '/unitFamily', label: 'unit family', table: 'unit_family', members: { name } },
  uses: `select 'unit' as kind, id::text from unit where account_id = $1 and unit_family_id = $2`,
};

/**
 * The routes of this catalogue add, change and delete an account's own features, but do not list them.
 * `accounts/members/features.ts` lists all features with their levels.
 */
export const FEATURE_CATALOGUE = typeCatalogue(
  '/account/features',
  'feature',
  'Feature',
  `select 'user' as kind, user_id as id from user_feature
   where account_id = $1 and kind = 'Feature' and feature_id = $2 and level <> 'None'`,
);

const VARIABLE_TYPE_CATALOGUE: OwnCatalogue = {
  ...typeCatalogue('/variables/types', 'variable type', 'VariableType', ofResource('variable', 'variable_type_id')),
  members: {
    name,
    aggregate: { column: 'aggregate', schema: enumerationSchema(AGGREGATE), stored: AGGREGATE, fallback: 'AVG' },
  },
};

export const OWN_CATALOGUES: readonly OwnCatalogue[] = [
  UNITS,
  FAMILIES,
  VARIABLE_TYPE_CATALOGUE,
  typeCatalogue('/sitetypes', 'site type', 'SiteType', ofResource('site', 'type_id')),
  typeCatalogue('/sourceTypes', 'source type', 'SourceType', ofResource('source', 'source_type_id')),
  typeCatalogue('/energyTypes', 'energy type', 'EnergyType', ofResource('source', 'energy_type_id')),
  typeCatalogue('/energyUsages', 'energy usage', 'EnergyUsage', ofResource('source', 'energy_usage_id')),
  FEATURE_CATALOGUE,
];
