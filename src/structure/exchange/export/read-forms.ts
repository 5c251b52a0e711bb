/** Reads the form definitions of an account as rows of a document. */
import type { Queryable } from '../../../platform/database/database.ts';
import type { EntityType, FormGroup } from '../../forms/form-definition.ts';
import { type OwnNames, toDocumentId } from '../document/catalogue-members.ts';
import type { FormRow } from '../document/form-rows.ts';

/**
 * SQL condition on a row of `form`: an entity of the form's type has values for this form. The entity is one of the
 * sites $2, or a source or variable of these sites.
 */
export const IS_FILLED_IN_SITES = `case entity_type
  when 'Site' then exists (select from site where id = any($2::int[]) and client_data ? form.name)
  when 'Source' then exists (select from source where site_id = any($2::int[]) and client_data ? form.name)
  else exists (select from variable join source on source.id = variable.source_id
               where source.site_id = any($2::int[]) and variable.client_data ? form.name) end`;

const FORMS = `
  select entity_type as "entityType", name, groups from form
  where account_id = $1 and (cardinality($2::int[]) = 0 or ${IS_FILLED_IN_SITES}) order by id`;

interface StoredForm {
  readonly entityType: EntityType;
  readonly name: string;
  readonly groups: readonly FormGroup[];
}

/**
 * @param siteIds reads only forms that have values for these sites, their sources or their variables. When the list is
 *   empty, reads all forms.
 * @param names names of the catalogue entries that the account added, by entry id.
 */
export async function readFormRows(
  queryable: Queryable,
  accountId: number,
  siteIds: readonly number[],
  names: OwnNames,
): Promise<readonly FormRow[]> {
  const { rows } = await queryable.query<StoredForm>(FORMS, [accountId, siteIds]);
  return rows.map(({ groups, ...form }) => ({
    ...form,
    groups: groups.map((group) => ({
      ...group,
      fields: group.fields.map((field) =>
        field.unitId === undefined ? field : { ...field, unitId: toDocumentId(field.unitId, names) },
      ),
    })),
  }));
}
