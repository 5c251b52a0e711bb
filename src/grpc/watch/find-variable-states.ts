/** Of watched variables: where they belong, which decides who may see them, and up to when they were written. */
import type { Queryable } from '../../platform/database/database.ts';
import type { Micros } from '../../points/point.ts';

export interface VariableState {
  readonly variableId: number;
  readonly accountId: number;
  readonly sourceId: number;
  readonly siteId: number;
  /** Null: nothing was ever written. */
  readonly lastVersionTimestamp: Micros | null;
}

const FIND = `
  select variable.id as "variableId", variable.account_id as "accountId", variable.source_id as "sourceId",
         source.site_id as "siteId",
         case when last_version_timestamp > '-infinity'
              then (extract(epoch from last_version_timestamp) * 1000000)::int8 end as "lastVersionTimestamp"
  from variable join source on source.id = variable.source_id left join series on series.variable_id = variable.id
  where variable.id = any($1::int[])`;

/** Without those that do not exist any more. */
export async function findVariableStates(
  queryable: Queryable,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, VariableState>> {
  const { rows } = await queryable.query<VariableState>(FIND, [variableIds]);
  return new Map(rows.map((row) => [row.variableId, row]));
}
