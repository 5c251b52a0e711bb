/**
 * Reduces the stored versions of each variable to its current limit (R-F7). A write applies the limit to the dates that
 * it writes; this purge applies a lowered limit to all other dates, on request. The purge of one variable runs in the
 * request; the purge of an account runs in the background. When a variable is no longer versioned, the versions of each
 * date stay until the next write at that date (R-C6).
 */
import type { Database, Transaction } from '../../platform/database/database.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { holdGate } from '../columns/hold-gate.ts';
import type { Micros } from '../point.ts';
import { findChunks } from '../write/find-chunks.ts';
import { lockSeries } from '../write/lock-series.ts';
import { withNestedLoops } from '../write/supersede-stored.ts';
import type { Series } from '../write/survey-rows-rules.ts';
import { attemptPurge, type PurgeTurn } from './attempt-purge.ts';

// Tagged and untagged versions are counted separately, from the newest. The current version, which is in `point`,
// counts as the newest of its kind (tagged or untagged).
/**
 * @returns the statement that deletes the surplus versions of a variable from one chunk of history. The statement
 *   returns the number of deleted versions, and the instant from which no state contains a deleted version (R-F9).
 * @param target `Chunk.target` of the chunk.
 */
export const cutVersions = (target: string) => `
  with surplus as materialized (
    select date, version_timestamp, newer_timestamp
    from (
      select date, version_timestamp, version_tag_id <> 0 as is_tagged,
             lag(version_timestamp) over newer as newer_timestamp,
             count(*) filter (where version_tag_id <> 0) over newer as tagged_count,
             count(*) filter (where version_tag_id = 0) over newer as untagged_count
      from ${target} stored where variable_id = $1 and date >= $3::timestamptz and date < $4::timestamptz
      window newer as (partition by date order by version_timestamp desc rows unbounded preceding)
    ) version
    where greatest(tagged_count, untagged_count) >= $2::int
      and $2::int < case when is_tagged then tagged_count else untagged_count end
        + (select (is_tagged = (current.version_tag_id <> 0))::int from point current
           where current.variable_id = $1 and current.date = version.date
             and current.date >= $3::timestamptz and current.date < $4::timestamptz)
  ), removed as (
    delete from ${target} history using surplus
    where history.variable_id = $1 and history.date = surplus.date
      and history.version_timestamp = surplus.version_timestamp
      and history.date >= $3::timestamptz and history.date < $4::timestamptz
  )
  select count(*)::int as removed,
         (extract(epoch from max(coalesce(newer_timestamp, (
           select current.version_timestamp from point current
           where current.variable_id = $1 and current.date = surplus.date
             and current.date >= $3::timestamptz and current.date < $4::timestamptz
         )))) * 1000000)::int8 as "historyFromMicros"
  from surplus`;

const SAVE_PURGE = `
  update series
  set version_bound = least(version_bound, $2), purge_count = purge_count + $3::int,
      history_from = greatest(history_from, timestamptz 'epoch' + $4::int8 * interval '1 microsecond')
  where variable_id = $1`;

/**
 * Deletes the surplus versions of variables (R-F7).
 * @returns the number of removed versions by variable id; a variable that does not exist has no entry.
 */
export async function purgeVersions(
  transaction: Transaction,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  await holdGate(transaction);
  const locked = await lockSeries(
    transaction,
    [...variableIds].sort((a, b) => a - b),
  );
  const removed = new Map<number, number>();
  for (const series of locked.values()) removed.set(series.variableId, await purgeSeries(transaction, series));
  return removed;
}

interface CutOfChunk {
  readonly removed: number;
  /** From this instant on, no state contains a deleted version; null when no version was deleted. */
  readonly historyFromMicros: Micros | null;
}

async function purgeSeries(transaction: Transaction, series: Series): Promise<number> {
  const { variableId, versionLimit, isVersioned, hasHistory, versionBound } = series;
  if (!isVersioned || !hasHistory || versionBound <= versionLimit) return 0;
  const chunks = (await findChunks(transaction)).filter(({ table }) => table === 'point_version');
  let removed = 0;
  let historyFromMicros: Micros | null = null;
  await withNestedLoops(transaction, async () => {
    for (const { target, fromMicros, toMicros } of chunks) {
      const bounds = [formatInstant(fromMicros), formatInstant(toMicros)];
      const { rows } = await transaction.query<CutOfChunk>(cutVersions(target), [variableId, versionLimit, ...bounds]);
      const [cut] = rows;
      if (!cut || cut.historyFromMicros === null) continue;
      removed += cut.removed;
      historyFromMicros = Math.max(historyFromMicros ?? -Infinity, cut.historyFromMicros);
    }
  });
  await transaction.query(SAVE_PURGE, [variableId, versionLimit, removed > 0 ? 1 : 0, historyFromMicros]);
  return removed;
}

/**
 * Queues variables of an account for a background purge of their versions (R-F7). A queued variable is not added
 * again.
 */
export async function requestVersionPurge(
  transaction: Transaction,
  accountId: number,
  variableIds: readonly number[],
): Promise<void> {
  await transaction.query(
    `insert into version_purge (account_id, variable_id)
     select $1, id from unnest($2::int[]) id order by id on conflict do nothing`,
    [accountId, variableIds],
  );
}

/**
 * Deletes the surplus versions of the next queued variable in one transaction (R-F7).
 * @param last result of the previous call; undefined to start from the first account.
 * @returns the value of `last` for the next call; undefined when no variable is due.
 * @throws {PurgeFailure} when the purge fails; a later call retries it.
 */
export function purgeRequestedVersions(database: Database, last?: PurgeTurn): Promise<PurgeTurn | undefined> {
  return attemptPurge(database, 'version_purge', last, async (transaction, variableId) => {
    await purgeVersions(transaction, [variableId]);
    return true;
  });
}
