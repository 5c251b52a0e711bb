/** Variables (R-C6). A variable is one time series: its points are pushed, or calculated as its declaration says. */
import { z } from 'zod';
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { booleanSchema } from '../platform/http/lenient.ts';
import { MAX_VERSION_LIMIT } from '../platform/limits.ts';
import { AGGREGATE, QUANTITY_TYPE, TIME_PERIOD } from './catalogue/enumerations.ts';
import {
  clientDataField,
  enumerationField,
  idField,
  jsonObjectSchema,
  referenceField,
  textField,
  textSchema,
} from './fields.ts';
import { deleteResources, type Resource } from './resource.ts';

const integerBetween = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  );

/** Schema of the number by which readings are divided when they arrive; null means 1. */
const dividerSchema = z
  .number()
  .refine((value) => value !== 0, { error: 'must not be 0, because values are divided by it' })
  .nullable()
  .meta({
    description:
      'Number by which readings that arrive in a push or a file are divided; must not be 0; null means 1. Changing the number does not change stored points. Results of calculations are not divided.',
  });
const isDefaultSchema = booleanSchema.nullable().meta({
  description:
    'If true, this variable receives the push elements that identify its source but no variable. True for at most one variable of a source.',
});

/**
 * A blank text clears the mappingConfig, because a push cannot name a blank mappingConfig. `variable-conflicts.ts`
 * checks that a mappingConfig is unique within its source.
 */
const mappingConfigSchema = textSchema
  .transform((text) => text.trim() || null)
  .nullable()
  .meta({
    type: ['string', 'null'],
    description:
      'Name of the variable in pushes and files; unique within the source. White space around it is removed.',
  });

/** Describes variables: their table and fields, their site for access checks, and the parents that events contain. */
export const VARIABLE: Resource = {
  kind: 'Variable',
  table: 'variable',
  from: 'variable join source on source.id = variable.source_id',
  siteId: 'source.site_id',
  parents: { sourceId: 'variable.source_id', siteId: 'source.site_id' },
  fields: {
    sourceId: referenceField('source_id'),
    name: textField('name'),
    variableTypeId: idField('variable_type_id'),
    unitId: idField('unit_id'),
    divider: { column: 'divider', schema: dividerSchema, filterType: 'number' },
    granularity: {
      column: 'granularity',
      schema: integerBetween(1, 1_000_000).nullable(),
      filterType: 'number',
    },
    granularityTimeBase: enumerationField('granularity_time_base', TIME_PERIOD),
    quantityType: enumerationField('quantity_type', QUANTITY_TYPE),
    aggregate: enumerationField('aggregate', AGGREGATE),
    mappingConfig: { column: 'mapping_config', schema: mappingConfigSchema, filterType: 'text' },
    isDefault: { column: 'is_default', schema: isDefaultSchema, filterType: 'boolean' },
    isVersioned: { column: 'is_versioned', schema: booleanSchema.nullable(), filterType: 'boolean' },
    versionLimit: {
      column: 'version_limit',
      schema: integerBetween(1, MAX_VERSION_LIMIT).nullable(),
      filterType: 'number',
    },
    // The schema accepts any JSON object, because the code in src/calculation validates the declaration.
    calculated: { column: 'calculated', schema: jsonObjectSchema.nullable(), isJson: true },
    clientData: clientDataField,
  },
  derived: { sourceName: 'source.name' },
  required: ['sourceId'],
};

/** Writable members that are shown at level Verbose only, because they may be large. */
const VERBOSE: readonly string[] = ['calculated', 'clientData'];

/**
 * Members shown at each displayLevel. Only a calculated variable has the member `calculated` (R-C12). The member
 * `problems` exists only if the declaration has problems, and `formProblems` only if the form values have problems.
 */
export const VARIABLE_LEVELS = {
  Normal: ['id', 'sourceName', ...Object.keys(VARIABLE.fields).filter((name) => !VERBOSE.includes(name))],
  Verbose: ['id', 'sourceName', ...Object.keys(VARIABLE.fields), 'problems', 'formProblems'],
} as const;

/** The job of a deletion with hardDelete=true; null for a deletion without hardDelete. */
export type HardDeletion = { readonly deletionId: string } | null;

/**
 * Deletes variables immediately; the background purge removes their points (`point_purge`).
 * @throws {DomainError} conflict when `hard` is null and a remaining variable reads one of the variables (R-C7).
 */
export async function deleteVariables(
  transaction: Transaction,
  accountId: number,
  variableIds: readonly number[],
  hard: HardDeletion,
): Promise<void> {
  if (variableIds.length === 0) return;
  const readers = hard ? [] : await findReaders(transaction, variableIds);
  if (readers.length > 0) {
    const rule = `Variable ${variableIds.join(', ')} cannot be deleted while calculated variables (${readers.join(', ')}) read it`;
    throw new DomainError(
      'conflict',
      `${rule}; change the declarations of the calculated variables first, or set hardDelete=true to delete the variable anyway`,
    );
  }
  await transaction.query(
    `insert into point_purge (account_id, variable_id, deletion_id)
     select $1, unnest($2::int[]), $3::uuid on conflict do nothing`,
    [accountId, variableIds, hard?.deletionId ?? null],
  );
  await deleteResources(transaction, VARIABLE, accountId, variableIds);
}

async function findReaders(queryable: Queryable, variableIds: readonly number[]): Promise<readonly number[]> {
  const { rows } = await queryable.query<{ id: number }>(
    `select distinct variable_id as id from variable_input
     where input_variable_id = any($1::int[]) and variable_id <> all($1::int[]) order by id`,
    [variableIds],
  );
  return rows.map(({ id }) => id);
}
