/** Sources (R-C5): meters, sensors and other origins of variables, with their identifiers (serial number, EAN, …). */
import { z } from 'zod';
import type { Transaction } from '../platform/database/database.ts';
import { isStorableText, STORABLE_RULE } from '../platform/database/storable-text.ts';
import { DomainError } from '../platform/errors.ts';
import { timeZoneSchema } from './catalogue/time-zones.ts';
import { clientDataField, idField, nameField, referenceField, textField } from './fields.ts';
import { deleteResources, type Resource } from './resource.ts';
import { deleteVariables, type HardDeletion } from './variable.ts';

const MAX_TAGS = 100;
const tagSchema = z.string().min(1).max(200).refine(isStorableText, { error: STORABLE_RULE });

/** Describes sources: their table, their fields, and the site id that limits access to them. */
export const SOURCE: Resource = {
  kind: 'Source',
  table: 'source',
  from: 'source join site on site.id = source.site_id',
  siteId: 'source.site_id',
  parents: { siteId: 'source.site_id' },
  fields: {
    siteId: referenceField('site_id'),
    name: nameField('name'),
    sourceTypeId: idField('source_type_id'),
    energyTypeId: idField('energy_type_id'),
    energyUsageId: idField('energy_usage_id'),
    timeZoneId: { column: 'time_zone_id', schema: timeZoneSchema.nullable(), filterType: 'text' },
    eanNumber: textField('ean_number'),
    meterNumber: textField('meter_number'),
    serialNumber: textField('serial_number'),
    description: textField('description'),
    localisation: textField('localisation'),
    meterAddress: textField('meter_address'),
    tags: {
      column: 'tags',
      schema: z.array(tagSchema).max(MAX_TAGS).nullable(),
      filterType: 'texts',
    },
    clientData: clientDataField,
  },
  derived: { siteName: 'site.name' },
  required: ['siteId', 'name'],
};

const OWN = ['id', 'siteName', ...Object.keys(SOURCE.fields)];

/**
 * Members shown at each displayLevel. Every level except `Light` shows all fields of the source, because clients copy
 * sources that they read at level `Site` (R-C12). `Verbose` adds `formProblems`.
 */
export const SOURCE_LEVELS = {
  Light: ['id', 'siteId', 'name', 'sourceTypeId', 'serialNumber', 'timeZoneId'],
  Site: OWN,
  Normal: OWN,
  Verbose: [...OWN, 'formProblems'],
} as const;

/**
 * Deletes sources and, if `hard` is given, their variables. The background purge removes the points of the variables.
 * @throws {DomainError} conflict when a source has variables and `hard` is null (R-C7).
 */
export async function deleteSources(
  transaction: Transaction,
  accountId: number,
  sourceIds: readonly number[],
  hard: HardDeletion,
): Promise<void> {
  const { rows } = await transaction.query<{ id: number }>(
    'select id from variable where source_id = any($1::int[]) order by id for update',
    [sourceIds],
  );
  if (rows.length > 0 && !hard) {
    const rule = `Source ${sourceIds.join(', ')} cannot be deleted while it has variables (${rows.length})`;
    throw new DomainError('conflict', `${rule}; delete its variables first, or set hardDelete=true to delete them too`);
  }
  await deleteVariables(
    transaction,
    accountId,
    rows.map(({ id }) => id),
    hard,
  );
  await deleteResources(transaction, SOURCE, accountId, sourceIds);
}
