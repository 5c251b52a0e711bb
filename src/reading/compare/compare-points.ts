/**
 * Merges two versions of one variable by date (R-G6), in one snapshot and with bounded memory: memory holds a page of
 * the left version while the right version's points with these dates are streamed. The two versions cannot stream at
 * the same time, because a connection runs one statement at a time.
 */
import { type SnapshotSource, streamInSnapshot, type Transaction } from '../../platform/database/database.ts';
import type { Micros, PointSelection } from '../../points/point.ts';
import { awaitWritersOf } from '../../points/read/await-writers.ts';
import { findHistoryCuts, type NoteCuts } from '../../points/read/history-cuts.ts';
import { readPoints } from '../../points/read/read-points.ts';
import { findRolledUp } from '../../points/rollups/find-rolled-up.ts';

/**
 * Dates at which at least one version has a value, and the values of both versions, as arrays of equal length. NaN
 * stands for a version without a value at the date.
 */
export interface ComparedChunk {
  readonly dates: Float64Array;
  readonly left: Float64Array;
  readonly right: Float64Array;
}

type Period = Pick<PointSelection, 'fromMicros' | 'toMicros' | 'isToIncluded'>;

interface Column {
  readonly dates: number[];
  readonly values: number[];
}

/**
 * Maximum number of points in a page of the version on the left side of the comparison. Ten years of quarter-hours take
 * four pages.
 */
const PAGE_POINTS = 100_000;
const CHUNK_ROWS = 10_000;

/**
 * Streams two versions of a variable, merged by date (R-G6).
 * @param left must select one variable and have no limit or offset. `right` must have the same variable, period and
 * order.
 * @param pagePoints maximum number of points of the left version in memory.
 * @throws {DomainError} invalid_input when a converted value exceeds the range of a double (R-C8).
 */
export async function* comparePoints(
  transaction: Transaction,
  left: PointSelection,
  right: PointSelection,
  pagePoints = PAGE_POINTS,
): AsyncGenerator<ComparedChunk> {
  const { fromMicros, toMicros, isToIncluded = false, order } = left;
  let rest: Period = {
    ...(fromMicros !== undefined && { fromMicros }),
    ...(toMicros !== undefined && { toMicros }),
    isToIncluded,
  };
  for (;;) {
    const page = await readPage(transaction, { ...left, ...rest, limit: pagePoints });
    const last = page.dates.length < pagePoints ? undefined : page.dates.at(-1);
    const period = last === undefined ? rest : upTo(rest, last, order);
    yield* merge(page, readPoints(transaction, { ...right, ...period }), order);
    if (last === undefined) return;
    rest = beyond(rest, last, order);
  }
}

/**
 * Runs `comparePoints` in a new snapshot. First waits for the end of every open write whose points may belong to `left`
 * or `right` (R-F5).
 * @param signal ends the read and its statement.
 * @param noteCuts receives the history cuts and rollups that concern `left` or `right` (R-F9).
 * @throws the errors of `comparePoints`.
 * @throws {DomainError} dependency_unavailable when one of these open writes does not end in time.
 * @throws the reason of `signal` when it is aborted.
 */
export async function* streamCompared(
  source: SnapshotSource,
  left: PointSelection,
  right: PointSelection,
  signal: AbortSignal,
  noteCuts?: NoteCuts,
): AsyncGenerator<ComparedChunk> {
  for (const side of [left, right]) await awaitWritersOf(source, side, signal);
  const read = async function* (transaction: Transaction): AsyncGenerator<ComparedChunk> {
    if (noteCuts) {
      // A variable has at most one history cut (`history_from`). A cut found for the left side is also the right side's.
      const cuts = await findHistoryCuts(transaction, left);
      const rolledUp = await findRolledUp(transaction, left);
      noteCuts(cuts.length > 0 ? cuts : await findHistoryCuts(transaction, right), rolledUp);
    }
    yield* comparePoints(transaction, left, right);
  };
  yield* streamInSnapshot(source, read, signal);
}

/**
 * Returns the part of `period` up to and including `date`, in the given order: earlier dates for ASC, later dates for
 * DESC.
 */
function upTo(period: Period, date: Micros, order: PointSelection['order']): Period {
  return order === 'ASC' ? { ...period, toMicros: date, isToIncluded: true } : { ...period, fromMicros: date };
}

/**
 * Returns the part of `period` that comes after `date` in the given order: later dates for ASC, earlier dates for DESC.
 */
function beyond(period: Period, date: Micros, order: PointSelection['order']): Period {
  return order === 'ASC' ? { ...period, fromMicros: date + 1 } : { ...period, toMicros: date, isToIncluded: false };
}

async function readPage(transaction: Transaction, selection: PointSelection): Promise<Column> {
  const page: Column = { dates: [], values: [] };
  for await (const { dates, values } of readPoints(transaction, selection)) {
    for (const date of dates) page.dates.push(date);
    for (const value of values) page.values.push(value);
  }
  return page;
}

async function* merge(
  { dates, values }: Column,
  chunks: AsyncIterable<{ readonly dates: Float64Array; readonly values: Float64Array }>,
  order: PointSelection['order'],
): AsyncGenerator<ComparedChunk> {
  const rows = new Rows();
  let next = 0;
  const isBefore = (date: number, other: number) => (order === 'ASC' ? date < other : date > other);
  for await (const chunk of chunks) {
    for (const [index, date] of chunk.dates.entries()) {
      for (; next < dates.length && isBefore(dates[next] ?? 0, date); next++) {
        rows.push(dates[next], values[next], undefined);
        if (rows.isFull) yield rows.take();
      }
      const isCommon = dates[next] === date;
      rows.push(date, isCommon ? values[next] : undefined, chunk.values[index]);
      if (isCommon) next++;
      if (rows.isFull) yield rows.take();
    }
  }
  for (; next < dates.length; next++) {
    rows.push(dates[next], values[next], undefined);
    if (rows.isFull) yield rows.take();
  }
  if (!rows.isEmpty) yield rows.take();
}

/** Collects the rows of the next chunk. */
class Rows {
  #dates = new Float64Array(CHUNK_ROWS);
  #left = new Float64Array(CHUNK_ROWS);
  #right = new Float64Array(CHUNK_ROWS);
  #count = 0;

  get isFull(): boolean {
    return this.#count === CHUNK_ROWS;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  push(date: number | undefined, left: number | undefined, right: number | undefined): void {
    this.#dates[this.#count] = date ?? Number.NaN;
    this.#left[this.#count] = left ?? Number.NaN;
    this.#right[this.#count] = right ?? Number.NaN;
    this.#count++;
  }

  /** Returns the buffered rows as new arrays and empties the buffer. */
  take(): ComparedChunk {
    const count = this.#count;
    this.#count = 0;
    return {
      dates: this.#dates.slice(0, count),
      left: this.#left.slice(0, count),
      right: this.#right.slice(0, count),
    };
  }
}
