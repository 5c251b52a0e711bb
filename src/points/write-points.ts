/**
 * The one writer of points: used by push, files and calculations. It runs inside the caller's transaction, so what the
 * caller records of the batch is committed with its points or not at all.
 */
import { once } from 'node:events';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '../platform/database.ts';
import { COPY_HEADER, COPY_TRAILER, clearVersionTags, patchVersionTimestamps } from './copy-codec.ts';
import { planWrite, variablesOf } from './plan-write-rules.ts';
import type { Micros, WrittenRange } from './point.ts';

const STAGE = `create temp table if not exists staged_point (
  like point, ordinal bigint not null generated always as identity
) on commit delete rows`;

// Ids ascend in every writer, so two writers never wait for each other in a circle.
const LOCK_SERIES = `
  select series.variable_id as id, variable.is_versioned as "isVersioned",
         case when max_date = '-infinity' then null else (extract(epoch from max_date) * 1000000)::int8 end as max
  from series join variable on variable.id = series.variable_id
  where series.variable_id = any($1::int[])
  order by series.variable_id for update of series`;

// The database's clock, but never at or before a VersionTimestamp already given to one of these variables (R-F1):
// not after a restart, nor when the clock steps back.
const NEXT_VERSION_TIMESTAMP = `
  select (extract(epoch from greatest(clock_timestamp(), max(last_version_timestamp) + interval '1 microsecond'))
          * 1000000)::int8 as now
  from series where variable_id = any($1::int[]) and last_version_timestamp > '-infinity'`;

const MERGE = `
  select (extract(epoch from merge_staged_points(to_timestamp(0) + $1::int8 * interval '1 microsecond'))
          * 1000000)::int8 as last`;

const ADVANCE_SERIES = `
  update series
  set max_date = greatest(max_date, to_timestamp(0) + written.to_micros * interval '1 microsecond'),
      last_version_timestamp = to_timestamp(0) + $3::int8 * interval '1 microsecond'
  from unnest($1::int[], $2::int8[]) written (variable_id, to_micros)
  where series.variable_id = written.variable_id`;

export interface WriteResult {
  /** What changed, per variable. Rows of variables that no longer exist are not written. */
  readonly ranges: readonly WrittenRange[];
  /** VersionTimestamp of the first entry of every date in this write. */
  readonly versionTimestamp: Micros;
}

/**
 * Writes encoded readings by the rules of §9.2. Rows of one variable take effect in their order; the same VersionTag
 * again at the same date replaces the first.
 *
 * @param batches COPY tuples (`encodeTuples`); their VersionTimestamps are patched in place.
 * @returns the ranges written, to be announced in the caller's transaction.
 */
export async function writePoints(transaction: Transaction, batches: readonly Buffer[]): Promise<WriteResult> {
  const variableIds = variablesOf(batches);
  const { highWaterMarks, unversionedIds } = await lockSeries(transaction, variableIds);
  const versionTimestamp = await nextVersionTimestamp(transaction, variableIds);
  const plan = planWrite(batches, highWaterMarks);
  // The merge sees to this itself: a variable that is not versioned keeps no VersionTag (R-F4).
  if (unversionedIds.size > 0) for (const tuples of plan.append) clearVersionTags(tuples, unversionedIds);
  await append(transaction, plan.append, versionTimestamp);
  const lastVersionTimestamp = await merge(transaction, plan.merge, versionTimestamp);
  await advanceSeries(transaction, plan.ranges, lastVersionTimestamp);
  return { ranges: plan.ranges, versionTimestamp };
}

async function append(transaction: Transaction, batches: readonly Buffer[], versionTimestamp: Micros): Promise<void> {
  if (batches.length === 0) return;
  for (const tuples of batches) patchVersionTimestamps(tuples, versionTimestamp);
  await copyTuples(transaction, 'point', batches);
}

/** @returns the last VersionTimestamp given: the k-th entry of one date is given k - 1 microseconds more. */
async function merge(transaction: Transaction, batches: readonly Buffer[], versionTimestamp: Micros): Promise<Micros> {
  if (batches.length === 0) return versionTimestamp;
  for (const tuples of batches) patchVersionTimestamps(tuples, versionTimestamp);
  await transaction.query(STAGE);
  await copyTuples(transaction, 'staged_point', batches);
  const { rows } = await transaction.query<{ last: number | null }>(MERGE, [versionTimestamp]);
  return rows[0]?.last ?? versionTimestamp;
}

interface SeriesRow {
  readonly id: number;
  readonly isVersioned: boolean;
  readonly max: number | null;
}

interface LockedSeries {
  readonly highWaterMarks: ReadonlyMap<number, Micros>;
  readonly unversionedIds: ReadonlySet<number>;
}

/** Locks the write state of existing variables and returns what the write depends on. */
async function lockSeries(transaction: Transaction, variableIds: readonly number[]): Promise<LockedSeries> {
  let { rows } = await transaction.query<SeriesRow>(LOCK_SERIES, [variableIds]);
  if (rows.length < variableIds.length) {
    await transaction.query(
      `insert into series (variable_id) select id from variable where id = any($1::int[]) order by id
       on conflict do nothing`,
      [variableIds],
    );
    ({ rows } = await transaction.query<SeriesRow>(LOCK_SERIES, [variableIds]));
  }
  return {
    highWaterMarks: new Map(rows.map(({ id, max }) => [id, max ?? Number.NEGATIVE_INFINITY])),
    unversionedIds: new Set(rows.flatMap(({ id, isVersioned }) => (isVersioned ? [] : id))),
  };
}

async function nextVersionTimestamp(transaction: Transaction, variableIds: readonly number[]): Promise<Micros> {
  const { rows } = await transaction.query<{ now: number }>(NEXT_VERSION_TIMESTAMP, [variableIds]);
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('the database gave no VersionTimestamp');
  return now;
}

async function copyTuples(transaction: Transaction, table: string, batches: readonly Buffer[]): Promise<void> {
  const columns = 'date, value, version_timestamp, variable_id, version_tag_id, tag_set_id';
  const stream = transaction.query(copyFrom(`copy ${table} (${columns}) from stdin (format binary)`));
  const finished = once(stream, 'finish');
  // Awaited below; this keeps a failure in between from being reported as unhandled.
  finished.catch(() => {});
  for (const part of [COPY_HEADER, ...batches, COPY_TRAILER]) {
    if (!stream.write(part)) await Promise.race([once(stream, 'drain'), finished]);
  }
  stream.end();
  await finished;
}

async function advanceSeries(
  transaction: Transaction,
  ranges: readonly WrittenRange[],
  lastVersionTimestamp: Micros,
): Promise<void> {
  const variableIds = ranges.map((range) => range.variableId);
  const lastDates = ranges.map((range) => range.toMicros);
  await transaction.query(ADVANCE_SERIES, [variableIds, lastDates, lastVersionTimestamp]);
}
