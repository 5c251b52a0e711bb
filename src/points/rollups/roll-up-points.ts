/**
 * Aggregates the points of a variable by civil hours or days into `point_rollup`, and deletes the points and their
 * history. A step runs in the caller's transaction, so a killed process loses nothing. An aggregate over whole rollups
 * equals, up to rounding, the aggregate over the deleted points (`select-rollups`). As-of reads before the newest
 * VersionTimestamp of the deleted points become incomplete (R-F9).
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { bucketStart } from '../buckets/bucket-start.ts';
import { offsetSpans } from '../buckets/zone-offsets.ts';
import { holdGate } from '../columns/hold-gate.ts';
import type { Micros } from '../point.ts';
import { instantBound, instantLiteral, integerLiteral } from '../read/sql-literal.ts';
import { chunkOf, type Span, spanOf } from '../write/chunk-rules.ts';
import { findChunks, type PointTable } from '../write/find-chunks.ts';
import { lockSeries } from '../write/lock-series.ts';

export interface Rollup {
  readonly variableId: number;
  /** Points before this instant are rolled up. */
  readonly untilMicros: Micros;
  readonly bucket: Extract<Bucket, 'hour' | 'day'>;
  /** IANA time zone of the civil hours or days that the rollups cover. */
  readonly timeZoneId: string;
  /**
   * A step is postponed when one of its points was written less than this many seconds ago: a client may be sending old
   * points in several parts, and the next part may still arrive. Default: 0.
   */
  readonly settleSec?: number;
}

export interface RolledUp {
  /** Number of points that the step replaced. */
  readonly points: number;
  /** Number of superseded versions that the step deleted. */
  readonly versions: number;
  /** Number of rollups that the step inserted. */
  readonly rollups: number;
  /** True when no further points can be rolled up now. */
  readonly isDone: boolean;
}

/** Maximum number of points that one step rolls up. This limits how long writers of the variable wait. */
const MAX_POINTS = 100_000;

const FIND_FIRST = `
  select (extract(epoch from date) * 1000000)::int8 as micros
  from point join series using (variable_id)
  where variable_id = $1 and date >= coalesce(rollup_next, '-infinity') and date < $2::timestamptz
  order by date limit 1`;

const FIND_END = `
  select (extract(epoch from date) * 1000000)::int8 as micros
  from point where variable_id = $1 and date >= $2::timestamptz and date < $3::timestamptz
  order by date limit 1 offset ${MAX_POINTS}`;

const SAVE_STEP = `
  update series
  set raw_from = greatest(raw_from, $2::timestamptz), rollup_next = $2::timestamptz,
      history_from = greatest(history_from, $3::timestamptz), purge_count = purge_count + 1
  where variable_id = $1`;

const SAVE_END = `
  update series
  set rollup_next = $2::timestamptz, raw_from = case when raw_from is not null then greatest(raw_from, $2::timestamptz) end
  where variable_id = $1`;

/**
 * Rolls up the next points of a variable. Repeat the call until `isDone` is true: no points are left, or a point was
 * written too recently (`settleSec`).
 * @throws {Error} when the numbers of rolled-up and deleted points differ; the caller must then roll the transaction
 * back.
 */
export async function rollUpPoints(transaction: Transaction, rollup: Rollup): Promise<RolledUp> {
  const { variableId, untilMicros } = rollup;
  await holdGate(transaction);
  const series = await lockSeries(transaction, [variableId]);
  const nothing = { points: 0, versions: 0, rollups: 0, isDone: true };
  if (!series.has(variableId)) return nothing;
  const span = await findSpan(transaction, variableId, untilMicros);
  if (!span) {
    await transaction.query(SAVE_END, [variableId, instantBound(untilMicros)]);
    return nothing;
  }
  if (await isUnsettled(transaction, rollup, span)) return nothing;
  const { rows } = await transaction.query<Inserted>(insertRollups(rollup, span));
  const [inserted] = rows;
  const versions = await deleteRows(transaction, 'point_version', variableId, span);
  const points = await deleteRows(transaction, 'point', variableId, span);
  if (!inserted || inserted.points !== points) {
    throw new Error(
      `the number of rolled-up points of variable ${variableId} must equal the number of deleted points, got ${inserted?.points ?? 0} rolled up and ${points} deleted`,
    );
  }
  await transaction.query(SAVE_STEP, [variableId, instantBound(span.toMicros), inserted.versionTimestamp]);
  return { points, versions, rollups: inserted.rollups, isDone: span.toMicros >= untilMicros };
}

async function isUnsettled(
  transaction: Transaction,
  { variableId, settleSec = 0 }: Rollup,
  span: Span,
): Promise<boolean> {
  if (settleSec === 0) return false;
  const { rows } = await transaction.query<{ isUnsettled: boolean }>(
    `select exists (select from point where ${whereRolledUp(variableId, span)}
                      and version_timestamp > clock_timestamp() - $1 * interval '1 second') as "isUnsettled"`,
    [settleSec],
  );
  return rows[0]?.isUnsettled === true;
}

/** @returns the range of dates that the next step rolls up; undefined when no point before `untilMicros` remains. */
async function findSpan(transaction: Transaction, variableId: number, untilMicros: Micros): Promise<Span | undefined> {
  const first = await findDate(transaction, FIND_FIRST, [variableId, instantBound(untilMicros)]);
  if (first === undefined) return undefined;
  const toMicros = Math.min(spanOf(chunkOf(first)).toMicros, untilMicros);
  const bounds = [instantBound(first), instantBound(toMicros)];
  const end = await findDate(transaction, FIND_END, [variableId, ...bounds]);
  return { fromMicros: first, toMicros: end ?? toMicros };
}

async function findDate(
  transaction: Transaction,
  statement: string,
  values: readonly unknown[],
): Promise<Micros | undefined> {
  const { rows } = await transaction.query<{ micros: Micros }>(statement, [...values]);
  return rows[0]?.micros;
}

interface Inserted {
  readonly rollups: number;
  readonly points: number;
  readonly versionTimestamp: string;
}

/**
 * @returns the SQL condition for the points of a variable in a span. The condition contains constants, not parameters,
 * so that TimescaleDB can skip chunks without such points and, in compressed chunks, batches without such points.
 */
function whereRolledUp(variableId: number, { fromMicros, toMicros }: Span): string {
  const id = integerLiteral(variableId);
  return `variable_id = ${id} and date >= ${instantLiteral(fromMicros)} and date < ${instantLiteral(toMicros)}`;
}

/**
 * @returns the statement that inserts the rollups of a step. The statement returns the number of rollups, the number of
 * points that they aggregate, and the newest VersionTimestamp of these points.
 */
export function insertRollups({ variableId, bucket, timeZoneId }: Rollup, span: Span): string {
  const start = bucketStart(bucket, offsetSpans(timeZoneId, span.fromMicros, span.toMicros), 'date');
  return `
    with inserted as (
      insert into point_rollup (first_date, last_date, version_timestamp, sum_value, squares, min_value, max_value,
                                first_value, last_value, variable_id, point_count)
      select min(date), max(date), max(version_timestamp), sum(value), regr_sxx(value, value), min(value), max(value),
             first(value, date), last(value, date), ${integerLiteral(variableId)}, count(*)
      from point where ${whereRolledUp(variableId, span)} group by ${start}
      returning version_timestamp, point_count)
    select count(*)::int as rollups, sum(point_count)::int as points,
           max(version_timestamp)::text as "versionTimestamp" from inserted`;
}

async function deleteRows(
  transaction: Transaction,
  table: PointTable,
  variableId: number,
  span: Span,
): Promise<number> {
  const chunks = (await findChunks(transaction, span)).filter((chunk) => chunk.table === table);
  let count = 0;
  for (const chunk of chunks) {
    const fromMicros = Math.max(span.fromMicros, chunk.fromMicros);
    const toMicros = Math.min(span.toMicros, chunk.toMicros);
    const { rowCount } = await transaction.query(
      `delete from ${chunk.target} where ${whereRolledUp(variableId, { fromMicros, toMicros })}`,
    );
    count += rowCount ?? 0;
  }
  return count;
}
