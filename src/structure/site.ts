/**
 * Sites (R-C4): a site is a location of measurements and has a civil time zone. The site access of a USER limits what
 * this USER sees.
 */
import type { Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { timeZoneSchema } from './catalogue/time-zones.ts';
import { clientDataField, idField, nameField, textField, textSchema } from './fields.ts';
import { deleteResources, type Field, type Resource } from './resource.ts';
import { deleteSources } from './source.ts';
import type { HardDeletion } from './variable.ts';

/** Identifier of the site in a client's own system, by which an import finds the site. */
const externalIdField: Field = {
  column: 'external_id',
  schema: textSchema
    .transform((text) => text.trim() || null)
    .nullable()
    .meta({
      type: ['string', 'null'],
      description:
        "Identifier of the site in a client's own system. An import finds the site by this identifier. White space around it is removed.",
    }),
  filterType: 'text',
};

/** Describes sites: their table, their members, and the site id that decides who may access a site. */
export const SITE: Resource = {
  kind: 'Site',
  table: 'site',
  from: 'site',
  siteId: 'site.id',
  parents: {},
  fields: {
    externalId: externalIdField,
    name: nameField('name'),
    typeId: idField('type_id'),
    timeZoneId: { column: 'time_zone_id', schema: timeZoneSchema, filterType: 'text' },
    street: textField('street'),
    postalCode: textField('postal_code'),
    city: textField('city'),
    country: textField('country'),
    location: textField('location'),
    clientData: clientDataField,
  },
  derived: {},
  required: ['name'],
};

const OWN = ['id', ...Object.keys(SITE.fields)];

/**
 * Members shown at each displayLevel. Every level shows all members of a site (R-C12), except that only `VerboseSite`
 * has `formProblems`. The levels must stay in the order of R-C4, because the number of a level is its position in this
 * order.
 */
export const SITE_LEVELS = { Site: OWN, VerboseSite: [...OWN, 'formProblems'], Normal: OWN } as const;

/**
 * Deletes a site; with `hard` also its sources and variables, whose points the background purge removes.
 * @throws {DomainError} conflict while the site has sources and `hard` is null (R-C7).
 */
export async function deleteSite(
  transaction: Transaction,
  accountId: number,
  siteId: number,
  hard: HardDeletion,
): Promise<void> {
  const { rows } = await transaction.query<{ id: number }>('select id from source where site_id = $1 for update', [
    siteId,
  ]);
  if (rows.length > 0 && !hard) {
    throw new DomainError(
      'conflict',
      `Site ${siteId} cannot be deleted while it has sources (${rows.length}); delete its sources first, or set hardDelete=true to delete them too`,
    );
  }
  await deleteSources(
    transaction,
    accountId,
    rows.map(({ id }) => id),
    hard,
  );
  await deleteResources(transaction, SITE, accountId, [siteId]);
}
