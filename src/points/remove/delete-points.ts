/**
 * Deletes points with their history (R-G5), or counts the dates that a deletion would remove. A rollup is deleted when
 * the date of its first point is in the period. Each point of the rollup counts as one date.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { holdGate } from '../columns/hold-gate.ts';
import type { Micros, WrittenRange } from '../point.ts';
import { instantBound } from '../read/sql-literal.ts';
import type { Span } from '../write/chunk-rules.ts';
import { type Chunk, findChunks } from '../write/find-chunks.ts';
import { lockSeries } from '../write/lock-series.ts';

export interface Removal {
  readonly variableIds: readonly number[];
  /** Start of the period, inclusive. If undefined, the period has no start. */
  readonly fromMicros?: Micros;
  /** End of the period; exclusive, unless `isToIncluded` is true. If undefined, the period has no end. */
  readonly toMicros?: Micros;
  readonly isToIncluded?: boolean;
}

const IN_REMOVAL = `variable_id = any($1::int[]) and date >= $2::timestamptz and date < $3::timestamptz`;

const RANGES = `
  select variable_id as "variableId", (extract(epoch from min(date)) * 1000000)::int8 as "fromMicros",
         (extract(epoch from max(date)) * 1000000)::int8 as "toMicros", count(*)::int as count`;

/**
 * @returns the statement that counts, for each variable, the dates of a period in one chunk (R-G5).
 * @param target `Chunk.target` of the chunk.
 */
export const countDates = (target: string) => `${RANGES} from ${target} where ${IN_REMOVAL} group by variable_id`;

/** @returns the statement that deletes superseded versions from one chunk (R-G5). */
export const deleteHistory = (target: string) => `delete from ${target} where ${IN_REMOVAL}`;

/**
 * @returns the statement that deletes current values from one chunk and returns, for each variable, the first and
 * last deleted date and the number of deleted dates (R-G5).
 */
export const deleteCurrent = (target: string) => `
  with removed as (delete from ${target} where ${IN_REMOVAL} returning variable_id, date)
  ${RANGES} from removed group by variable_id`;

const ROLLUPS_IN_REMOVAL = `
  variable_id = any($1::int[]) and first_date >= $2::timestamptz and first_date < $3::timestamptz`;

const ROLLUP_RANGES = `
  select variable_id as "variableId", (extract(epoch from min(first_date)) * 1000000)::int8 as "fromMicros",
         (extract(epoch from max(last_date)) * 1000000)::int8 as "toMicros", sum(point_count)::int as count`;

/**
 * Statement that finds the rollups that begin in the period and returns, for each variable, the first and last date of
 * these rollups and the number of points that they summarize.
 */
export const COUNT_ROLLUPS = `${ROLLUP_RANGES} from point_rollup where ${ROLLUPS_IN_REMOVAL} group by variable_id`;

/**
 * Statement that deletes the rollups that begin in the period and returns, for each variable, the first and last date
 * and the number of points of the deleted rollups.
 */
export const DELETE_ROLLUPS = `
  with removed as (delete from point_rollup where ${ROLLUPS_IN_REMOVAL}
                   returning variable_id, first_date, last_date, point_count)
  ${ROLLUP_RANGES} from removed group by variable_id`;

// Lowers the high-water mark when the period contains the mark. When the period also has no start, resets the columns
// about versions and the history cut, and `raw_from`. Keeps the last VersionTimestamp, because new VersionTimestamps
// must follow it (R-F1).
const SAVE_REMOVAL = `
  update series
  set purge_count = purge_count + 1,
      max_date = case when is_to_end then least(max_date, $2::timestamptz - interval '1 microsecond') else max_date end,
      has_history = has_history and not is_whole,
      last_version_tag_id = case when is_whole then 0 else last_version_tag_id end,
      version_bound = case when is_whole then 0 else version_bound end,
      history_from = case when is_whole then null else history_from end,
      raw_from = case when is_whole then null else raw_from end
  from (select variable_id, max_date < $3::timestamptz as is_to_end,
               max_date < $3::timestamptz and $2::timestamptz = '-infinity' as is_whole
        from series where variable_id = any($1::int[])) removal
  where series.variable_id = removal.variable_id`;

/**
 * Deletes all versions of all dates of a period (R-G5). The caller must announce the returned ranges in the same
 * transaction.
 * @returns the removed range of each variable that had points in the period or rollups that begin in the period, sorted
 * by variable id; `count` is the number of removed dates.
 */
export async function deletePoints(transaction: Transaction, removal: Removal): Promise<readonly WrittenRange[]> {
  await lock(transaction, removal);
  const chunks = await findChunks(transaction, spanOfRemoval(removal));
  for (const chunk of chunks.filter(({ table }) => table === 'point_version')) {
    await transaction.query(deleteHistory(chunk.target), valuesOf(removal, chunk));
  }
  const rolledUp = await collectRollups(transaction, removal, DELETE_ROLLUPS);
  const ranges = await collect(transaction, removal, chunks, deleteCurrent, rolledUp);
  const { fromMicros, toMicros } = spanOfRemoval(removal);
  const bounds = [instantBound(fromMicros), instantBound(toMicros)];
  await transaction.query(SAVE_REMOVAL, [ranges.map(({ variableId }) => variableId), ...bounds]);
  return ranges;
}

/**
 * Returns what `deletePoints` would return (R-G5). The variables stay locked against writers
 * until the transaction ends.
 */
export async function findRemoved(transaction: Transaction, removal: Removal): Promise<readonly WrittenRange[]> {
  await lock(transaction, removal);
  const chunks = await findChunks(transaction, spanOfRemoval(removal));
  const rolledUp = await collectRollups(transaction, removal, COUNT_ROLLUPS);
  return collect(transaction, removal, chunks, countDates, rolledUp);
}

/** Waits for writers of the variables, and blocks new writers until the transaction ends. */
async function lock(transaction: Transaction, { variableIds }: Removal): Promise<void> {
  await holdGate(transaction);
  await lockSeries(
    transaction,
    [...variableIds].sort((a, b) => a - b),
  );
}

/**
 * Runs `COUNT_ROLLUPS` or `DELETE_ROLLUPS` on the rollups that begin in the period.
 * @returns for each variable with such rollups, the first and last date of these rollups and the number of points that
 * they summarize.
 */
async function collectRollups(
  transaction: Transaction,
  removal: Removal,
  statement: string,
): Promise<readonly WrittenRange[]> {
  const { fromMicros, toMicros } = spanOfRemoval(removal);
  const values = [removal.variableIds, instantBound(fromMicros), instantBound(toMicros)];
  return (await transaction.query<WrittenRange>(statement, values)).rows;
}

/**
 * Runs a statement on every chunk of current values. Merges, for each variable, the ranges that the statement returns
 * and the range in `rolledUp`.
 * @param rolledUp ranges of the rollups, at most one for each variable.
 */
async function collect(
  transaction: Transaction,
  removal: Removal,
  chunks: readonly Chunk[],
  statement: (target: string) => string,
  rolledUp: readonly WrittenRange[],
): Promise<readonly WrittenRange[]> {
  const ranges = new Map(rolledUp.map((range) => [range.variableId, range]));
  for (const chunk of chunks.filter(({ table }) => table === 'point')) {
    const { rows } = await transaction.query<WrittenRange>(statement(chunk.target), valuesOf(removal, chunk));
    for (const range of rows) ranges.set(range.variableId, join(ranges.get(range.variableId), range));
  }
  return [...ranges.values()].sort((a, b) => a.variableId - b.variableId);
}

/** @returns the smallest range that contains two ranges of one variable. */
function join(first: WrittenRange | undefined, second: WrittenRange): WrittenRange {
  if (!first) return second;
  return {
    ...second,
    fromMicros: Math.min(first.fromMicros, second.fromMicros),
    toMicros: Math.max(first.toMicros, second.toMicros),
    count: first.count + second.count,
  };
}

function spanOfRemoval({ fromMicros = -Infinity, toMicros = Infinity, isToIncluded = false }: Removal): Span {
  return { fromMicros, toMicros: toMicros + (isToIncluded ? 1 : 0) };
}

/**
 * Returns the parameters of a statement for one chunk. The parameters limit the period to the dates of the chunk,
 * because the statement for a compressed chunk names the hypertable, which contains all chunks.
 */
function valuesOf(removal: Removal, chunk: Chunk): unknown[] {
  const { fromMicros, toMicros } = spanOfRemoval(removal);
  return [
    removal.variableIds,
    instantBound(Math.max(fromMicros, chunk.fromMicros)),
    instantBound(Math.min(toMicros, chunk.toMicros)),
  ];
}
