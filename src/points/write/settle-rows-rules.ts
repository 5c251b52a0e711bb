/**
 * Sorts the rows of one variable by date. For each date, separates the row that goes to `point` from the earlier
 * versions. Rows arrive in any order, and several rows may have the same date. Among rows with the same date and
 * VersionTag, the last row wins (R-F2); without versioning, the last row of the date wins (R-F4). The k-th row kept for
 * a date gets a VersionTimestamp that is k - 1 microseconds after that of the first row (R-F1).
 */
import { patchVersionTimestamp, TUPLE_BYTES, toVersionStamp, versionTagIdOf } from '../copy-codec.ts';
import type { Micros } from '../point.ts';

/** Tuples of one variable, in the order in which they take effect, and the date of each tuple. */
export interface VariableRows {
  readonly tuples: Buffer;
  readonly dates: readonly Micros[];
}

export interface SettledRows {
  /** The last row of every date, in ascending order of dates. */
  readonly current: Buffer;
  /** Rows that are stored as earlier versions, because a later row of the same write supersedes them. */
  readonly earlier: Buffer;
  /** The date of each row in `current`, in the same order, with the VersionTags of all rows kept for the date. */
  readonly dates: readonly DateRows[];
  /** Greatest number of versions kept for one date. */
  readonly maxKept: number;
}

export interface DateRows {
  readonly dateMicros: Micros;
  readonly versionTagId: number;
  readonly earlierTagIds: readonly number[];
}

/**
 * Chooses the rows to store for one variable. If it chooses several rows of a date, it also sets their
 * VersionTimestamps (R-F1, R-F2, R-F4).
 * @param versionTimestamp VersionTimestamp of the first row of every date, in microseconds since 1970.
 */
export function settleRows(
  { tuples, dates }: VariableRows,
  isVersioned: boolean,
  versionTimestamp: Micros,
): SettledRows {
  const current: number[] = [];
  const earlier: number[] = [];
  const settled: DateRows[] = [];
  let maxKept = 1;
  for (const rows of groupByDate(dates)) {
    const kept = isVersioned ? lastOfEachTag(tuples, rows) : rows.slice(-1);
    if (kept.length > 1) stampInOrder(tuples, kept, versionTimestamp);
    const tagIds = kept.map((row) => versionTagIdOf(tuples, row * TUPLE_BYTES));
    current.push(...kept.slice(-1));
    earlier.push(...kept.slice(0, -1));
    settled.push({
      dateMicros: dates[rows[0] ?? 0] ?? 0,
      versionTagId: tagIds.at(-1) ?? 0,
      earlierTagIds: tagIds.slice(0, -1),
    });
    maxKept = Math.max(maxKept, kept.length);
  }
  return { current: pick(tuples, current), earlier: pick(tuples, earlier), dates: settled, maxKept };
}

/** For each date in ascending order, yields the ascending indexes of the rows with this date. */
function* groupByDate(dates: readonly Micros[]): Generator<readonly number[]> {
  const dateOf = (row: number) => dates[row] ?? 0;
  const rows = Uint32Array.from(dates.keys()).sort((a, b) => dateOf(a) - dateOf(b) || a - b);
  let group: number[] = [];
  for (const row of rows) {
    if (group.length > 0 && dateOf(row) !== dateOf(group[0] ?? 0)) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

/** Keeps every row without a VersionTag, and the last row of each VersionTag. */
function lastOfEachTag(tuples: Buffer, rows: readonly number[]): readonly number[] {
  if (rows.length === 1) return rows;
  const tagOf = (row: number) => versionTagIdOf(tuples, row * TUPLE_BYTES);
  const lasts = new Map(rows.map((row) => [tagOf(row), row]));
  return rows.filter((row) => tagOf(row) === 0 || lasts.get(tagOf(row)) === row);
}

function stampInOrder(tuples: Buffer, rows: readonly number[], versionTimestamp: Micros): void {
  for (const [index, row] of rows.entries()) {
    patchVersionTimestamp(tuples, row * TUPLE_BYTES, toVersionStamp(versionTimestamp + index));
  }
}

function pick(tuples: Buffer, rows: readonly number[]): Buffer {
  const picked = Buffer.allocUnsafe(rows.length * TUPLE_BYTES);
  for (const [index, row] of rows.entries()) {
    const offset = row * TUPLE_BYTES;
    tuples.copy(picked, index * TUPLE_BYTES, offset, offset + TUPLE_BYTES);
  }
  return picked;
}
