/**
 * Cuts the stored versions of variables to the limit that holds now (R-F7). A write does so at the dates it writes; a
 * lowered limit reaches all other dates by this, which an operator asks for and the background does. A variable that is
 * not versioned any more keeps what it has until the next write at each date (R-C6).
 */
import { type Database, type Transaction, withTransaction } from '../platform/database.ts';
import { lockSeries } from './lock-series.ts';
import { byKeys } from './make-way.ts';
import type { Series } from './survey-rows-rules.ts';

const PURGE_TIMEOUT_MS = 600_000;

// Chunk by chunk: looking for one version in all chunks would look into all of them.
const FIND_CHUNKS = `
  select range_start as start, range_end as end from timescaledb_information.chunks
  where hypertable_name = 'point_version' order by range_start`;

// Counted from the newest of each kind; the current version is the newest of its kind.
export const CUT_VERSIONS = `
  delete from point_version history using (
    select version.date, version.version_timestamp
    from (
      select date, version_timestamp, version_tag_id <> 0 as is_tagged,
             count(*) filter (where version_tag_id <> 0) over newer as tagged_count,
             count(*) filter (where version_tag_id = 0) over newer as untagged_count
      from point_version where variable_id = $1 and date >= $3::timestamptz and date < $4::timestamptz
      window newer as (partition by date order by version_timestamp desc rows unbounded preceding)
    ) version
    join point current on current.variable_id = $1 and current.date = version.date
     and current.date >= $3::timestamptz and current.date < $4::timestamptz
    where greatest(tagged_count, untagged_count) >= $2::int
      and $2::int < case when is_tagged then tagged_count + (current.version_tag_id <> 0)::int
                         else untagged_count + (current.version_tag_id = 0)::int end
  ) surplus
  where history.variable_id = $1 and history.date = surplus.date
    and history.version_timestamp = surplus.version_timestamp
    and history.date >= $3::timestamptz and history.date < $4::timestamptz`;

const SAVE_PURGE = `
  update series
  set version_bound = least(version_bound, $2), purge_count = purge_count + $3::int
  where variable_id = $1`;

/** @returns how many versions were removed, per variable that exists. */
export async function purgeVersions(
  transaction: Transaction,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const locked = await lockSeries(
    transaction,
    [...variableIds].sort((a, b) => a - b),
  );
  const removed = new Map<number, number>();
  for (const series of locked.values()) removed.set(series.variableId, await cutVersions(transaction, series));
  return removed;
}

async function cutVersions(transaction: Transaction, series: Series): Promise<number> {
  const { variableId, versionLimit, isVersioned, hasHistory, versionBound } = series;
  if (!isVersioned || !hasHistory || versionBound <= versionLimit) return 0;
  const { rows: chunks } = await transaction.query<{ start: string; end: string }>(FIND_CHUNKS);
  let removed = 0;
  await byKeys(transaction, async () => {
    for (const { start, end } of chunks) {
      const { rowCount } = await transaction.query(CUT_VERSIONS, [variableId, versionLimit, start, end]);
      removed += rowCount ?? 0;
    }
  });
  await transaction.query(SAVE_PURGE, [variableId, versionLimit, removed > 0 ? 1 : 0]);
  return removed;
}

/** Has the versions of variables purged in the background. One that waits already is not added again. */
export async function requestVersionPurge(transaction: Transaction, variableIds: readonly number[]): Promise<void> {
  await transaction.query(
    `insert into version_purge (variable_id) select id from unnest($1::int[]) id order by id on conflict do nothing`,
    [variableIds],
  );
}

/** Does the oldest request, one variable in one transaction. @returns whether there was one. */
export async function purgeRequestedVersions(database: Database): Promise<boolean> {
  return withTransaction(
    database,
    async (transaction) => {
      const { rows } = await transaction.query<{ variableId: number }>(
        `delete from version_purge where variable_id = (
           select variable_id from version_purge order by requested_date limit 1 for update skip locked)
         returning variable_id as "variableId"`,
      );
      const [purge] = rows;
      if (purge) await purgeVersions(transaction, [purge.variableId]);
      return purge !== undefined;
    },
    { statementTimeoutMs: PURGE_TIMEOUT_MS },
  );
}
