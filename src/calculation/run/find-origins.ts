/**
 * Finds the runs that computed versions. The VersionTimestamp of a version lies between the first and the last
 * VersionTimestamp of the run. Runs of older releases have no record of these two; for such runs, the start and end of
 * the run are used. If several runs match, the newest is taken.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { Micros } from '../../points/point.ts';

/** The run that stored a version of a calculated variable. */
export interface RunOrigin {
  readonly kind: 'Run';
  readonly runId: number;
  readonly startedDate: string;
}

interface RunRow extends Omit<RunOrigin, 'kind'> {
  readonly atMicros: Micros;
}

export const FIND_RUNS_AT = `
  select (extract(epoch from at) * 1000000)::int8 as "atMicros", run.id as "runId", started_date as "startedDate"
  from calculation_run run
  join (select timestamptz 'epoch' + micros * interval '1 microsecond' as at from unnest($3::int8[]) micros) asked
    on at >= coalesce(first_version_timestamp, started_date) and at <= coalesce(last_version_timestamp, finished_date)
  where variable_id = $2 and account_id = $1 and state = 'Succeeded'
    and (first_version_timestamp is not null or coalesce((counts ->> 'stored')::int8, 1) > 0)
  order by run.id`;

/**
 * Finds the runs that stored versions of a variable. The caller must check access to the variable.
 * @param versionTimestamps VersionTimestamps of the versions, in microseconds.
 * @returns the run of each VersionTimestamp. A VersionTimestamp without a recorded run is left out.
 */
export async function findRunOrigins(
  queryable: Queryable,
  accountId: number,
  variableId: number,
  versionTimestamps: readonly Micros[],
): Promise<ReadonlyMap<Micros, RunOrigin>> {
  if (versionTimestamps.length === 0) return new Map();
  const { rows } = await queryable.query<RunRow>(FIND_RUNS_AT, [accountId, variableId, versionTimestamps]);
  return new Map(rows.map(({ atMicros, ...run }) => [atMicros, { kind: 'Run', ...run }]));
}
