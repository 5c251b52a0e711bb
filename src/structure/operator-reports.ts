/**
 * Makes two lists for the operator: variables of a source that share a mappingConfig, which older releases allowed; and
 * variables with a divider other than 1.
 */
import type { Queryable } from '../platform/database/database.ts';

interface RepeatedMapping {
  readonly accountId: number;
  readonly sourceId: number;
  readonly mappingConfig: string;
  readonly variableIds: readonly number[];
}

// This query must also run on the schema before the migration that makes mappingConfig unique, because that migration
// fails while two variables of a source share a mappingConfig.
const FIND = `
  select account_id as "accountId", source_id as "sourceId", trimmed as "mappingConfig",
         array_agg(id order by id) as "variableIds"
  from (select *, regexp_replace(mapping_config, '^\\s+|\\s+$', '', 'g') as trimmed from variable) variable
  where trimmed <> ''
  group by account_id, source_id, trimmed having count(*) > 1
  order by account_id, source_id, trimmed`;

/**
 * White space around a mappingConfig is ignored.
 * @returns one line for each mappingConfig that several variables of a source have, then advice; without such a
 * mappingConfig, one line that says so.
 */
export async function describeRepeatedMappings(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query<RepeatedMapping>(FIND);
  if (rows.length === 0) return ['every mappingConfig is unique within its source'];
  return [
    ...rows.map(({ accountId, sourceId, mappingConfig, variableIds }) => {
      const variables = `variables ${variableIds.join(', ')}`;
      return `account ${accountId}, source ${sourceId}: ${JSON.stringify(mappingConfig)} is used by ${variables}`;
    }),
    'keep each mappingConfig for one variable; change or clear it for the others, by PUT /sources/{sourceId}/variables/{id}',
    'in the release that ran before the upgrade, or by SQL',
  ];
}

interface Divided {
  readonly accountId: number;
  readonly sourceId: number;
  readonly id: number;
  readonly divider: number;
}

/** @returns one line for each variable with a divider other than 1; without such a variable, one line that says so. */
export async function describeDividers(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query<Divided>(
    `select account_id as "accountId", source_id as "sourceId", id, divider from variable where divider <> 1
     order by account_id, source_id, id`,
  );
  if (rows.length === 0) return ['no variable has a divider other than 1'];
  return rows.map(
    ({ accountId, sourceId, id, divider }) =>
      `account ${accountId}, source ${sourceId}, variable ${id}: readings that arrive are divided by ${divider}`,
  );
}
