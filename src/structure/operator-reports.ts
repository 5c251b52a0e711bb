/**
 * Makes two lists for the operator:
 * - variables that share a mappingConfig with another variable of the source; older releases allowed this.
 * - variables with a divider other than 1.
 */
import type { Queryable } from '../platform/database/database.ts';

interface RepeatedMapping {
  readonly accountId: number;
  readonly sourceId: number;
  readonly mappingConfig: string;
  readonly variableIds: readonly number[];
}

// The migration that makes mappingConfig unique fails while two variables of a source share a mappingConfig. The
// operator needs this query before the migration, so the query must also work on the older schema.
const FIND = `
  select account_id as "accountId", source_id as "sourceId", trimmed as "mappingConfig",
         array_agg(id order by id) as "variableIds"
  from (select *, regexp_replace(mapping_config, '^\\s+|\\s+$', '', 'g') as trimmed from variable) variable
  where trimmed <> ''
  group by account_id, source_id, trimmed having count(*) > 1
  order by account_id, source_id, trimmed`;

/**
 * White space around a mappingConfig is ignored.
 * @returns one line for each mappingConfig that several variables of a source share, and a last line with advice. When
 * there is no such mappingConfig, one line that states this.
 */
export async function describeRepeatedMappings(queryable: Queryable): Promise<readonly string[]> {
  const { rows } = await queryable.query<RepeatedMapping>(FIND);
  if (rows.length === 0) return ['found no mappingConfig that several variables of a source share'];
  return [
    ...rows.map(({ accountId, sourceId, mappingConfig, variableIds }) => {
      const variables = `variables ${variableIds.join(', ')}`;
      return `account ${accountId}, source ${sourceId}: ${JSON.stringify(mappingConfig)} is used by ${variables}`;
    }),
    'keep each mappingConfig for one variable, and change or clear the mappingConfig of the other variables;',
    'to do so, use SQL, or use PUT /sources/{sourceId}/variables/{id} in the release that ran before the upgrade',
  ];
}

interface Divided {
  readonly accountId: number;
  readonly sourceId: number;
  readonly id: number;
  readonly divider: number;
}

/**
 * @returns one line for each variable with a divider other than 1. When there is no such variable, returns one line
 * that states this.
 */
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
