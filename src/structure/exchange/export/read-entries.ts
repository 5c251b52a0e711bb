/** Reads the entries that an account added to its catalogues, as rows of a document. */
import type { Queryable } from '../../../platform/database/database.ts';
import { AGGREGATE, nameOf } from '../../catalogue/enumerations.ts';
import { CATALOGUE_NAMES, type EntryRow } from '../document/entry-rows.ts';
import { IS_FILLED_IN_SITES } from './read-forms.ts';

/**
 * Ids of the catalogue entries that are used by the sites $2 of the account $1; by the sources, variables and
 * declarations of these sites; and by the forms that have values in these sites, sources or variables.
 */
const USED = `
  select type_id as id from site where account_id = $1 and id = any($2::int[])
  union select unnest(array[source_type_id, energy_type_id, energy_usage_id]) from source
    where account_id = $1 and site_id = any($2)
  union select unnest(array[variable.variable_type_id, variable.unit_id]) from variable
    join source on source.id = variable.source_id where variable.account_id = $1 and source.site_id = any($2)
  union select reference.unit_id from declaration_reference reference join variable on variable.id = reference.variable_id
    join source on source.id = variable.source_id where variable.account_id = $1 and source.site_id = any($2)
  union select (unit_id #>> '{}')::int from form
    cross join jsonb_path_query(groups, '$[*].fields[*].unitId ? (@ != null)') unit_id
    where account_id = $1 and ${IS_FILLED_IN_SITES}`;

const ENTRIES = `
  with used as (${USED}), wanted as (
    select id from used union select unit_family_id from unit where id in (select id from used))
  select * from (
    select 'UnitFamily' as catalogue, id, name, null as symbol, null as "unitFamily", null::float8 as divisor,
           null::float8 as "offset", null::int as aggregate from unit_family where account_id = $1
    union all
    select 'Unit', unit.id, unit.name, symbol, family.name, divisor, zero_offset, null
    from unit join unit_family family on family.id = unit_family_id where unit.account_id = $1
    union all
    select catalogue, id, name, null, null, null, null, aggregate from catalogue_entry where account_id = $1
  ) entry
  where cardinality($2::int[]) = 0 or id in (select id from wanted)
  order by array_position($3::text[], catalogue), id`;

interface StoredEntry {
  readonly catalogue: EntryRow['catalogue'];
  readonly name: string;
  readonly symbol: string;
  readonly unitFamily: string;
  readonly divisor: number;
  readonly offset: number;
  readonly aggregate: number | null;
}

/**
 * @param siteIds ids of sites. The result has the entries that are used by these sites (see `USED`), and the families
 *   of the used units. When `siteIds` is empty, the result has all entries that the account added.
 */
export async function readEntryRows(
  queryable: Queryable,
  accountId: number,
  siteIds: readonly number[],
): Promise<readonly EntryRow[]> {
  const { rows } = await queryable.query<StoredEntry>(ENTRIES, [accountId, siteIds, CATALOGUE_NAMES]);
  return rows.map(({ catalogue, name, symbol, unitFamily, divisor, offset, aggregate }) => {
    const conversion = { symbol, unitFamily, divisor, offset };
    const usual = nameOf(AGGREGATE, aggregate);
    return {
      ...{ catalogue, name },
      ...(catalogue === 'Unit' && conversion),
      ...(usual !== null && { aggregate: usual }),
    };
  });
}
