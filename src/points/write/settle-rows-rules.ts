/**
 * Resolves the rows of one variable that arrive out of order or several times per date: at most one row per date for
 * `point`, sorted by date, and the earlier versions. Of equal VersionTags at a date the last row wins (R-F2); without
 * versioning the last row of the date wins (R-F4). The k-th kept row of a date gets k - 1 additional microseconds (R-F1).
 */
import { patchVersionTimestamp, TUPLE_BYTES, toVersionStamp, versionTagIdOf } from '../copy-codec.ts';
import type { Micros } from '../point.ts';

/** Tuples of one variable in the order they take effect, and their dates. */
export interface VariableRows {
  readonly tuples: Buffer;
  readonly dates: readonly Micros[];
}

export interface SettledRows {
  /** The last row of every date, by ascending dates. */
  readonly current: Buffer;
  /** Rows superseded by later rows of the same write. */
  readonly earlier: Buffer;
  /** As `current`. */
  readonly dates: readonly DateRows[];
  /** Greatest number of rows kept for one date. */
  readonly maxKept: number;
}

export interface DateRows {
  readonly dateMicros: Micros;
  readonly versionTagId: number;
  readonly earlierTagIds: readonly number[];
}

/** @param versionTimestamp of the first row of every date, microseconds. */
export function settleRows(
  { tuples, dates }: VariableRows,
  isVersioned: boolean,
  versionTimestamp: Micros,
): SettledRows {
  const current: number[] = [];
  const earlier: number[] = [];
  const settled: DateRows[] = [];
  let maxKept = 1;
  for (const places of groupByDate(dates)) {
    const kept = isVersioned ? lastOfEachTag(tuples, places) : places.slice(-1);
    if (kept.length > 1) stampInOrder(tuples, kept, versionTimestamp);
    const tagIds = kept.map((place) => versionTagIdOf(tuples, place * TUPLE_BYTES));
    current.push(...kept.slice(-1));
    earlier.push(...kept.slice(0, -1));
    settled.push({
      dateMicros: dates[places[0] ?? 0] ?? 0,
      versionTagId: tagIds.at(-1) ?? 0,
      earlierTagIds: tagIds.slice(0, -1),
    });
    maxKept = Math.max(maxKept, kept.length);
  }
  return { current: pick(tuples, current), earlier: pick(tuples, earlier), dates: settled, maxKept };
}

/** Yields the row indexes of each date in row order; dates ascend. */
function* groupByDate(dates: readonly Micros[]): Generator<readonly number[]> {
  const dateOf = (place: number) => dates[place] ?? 0;
  const places = Uint32Array.from(dates.keys()).sort((a, b) => dateOf(a) - dateOf(b) || a - b);
  let group: number[] = [];
  for (const place of places) {
    if (group.length > 0 && dateOf(place) !== dateOf(group[0] ?? 0)) {
      yield group;
      group = [];
    }
    group.push(place);
  }
  if (group.length > 0) yield group;
}

/** Keeps every row without a VersionTag, and the last row of each VersionTag. */
function lastOfEachTag(tuples: Buffer, places: readonly number[]): readonly number[] {
  if (places.length === 1) return places;
  const tagOf = (place: number) => versionTagIdOf(tuples, place * TUPLE_BYTES);
  const lasts = new Map(places.map((place) => [tagOf(place), place]));
  return places.filter((place) => tagOf(place) === 0 || lasts.get(tagOf(place)) === place);
}

function stampInOrder(tuples: Buffer, places: readonly number[], versionTimestamp: Micros): void {
  for (const [index, place] of places.entries()) {
    patchVersionTimestamp(tuples, place * TUPLE_BYTES, toVersionStamp(versionTimestamp + index));
  }
}

function pick(tuples: Buffer, places: readonly number[]): Buffer {
  const picked = Buffer.allocUnsafe(places.length * TUPLE_BYTES);
  for (const [index, place] of places.entries()) {
    const offset = place * TUPLE_BYTES;
    tuples.copy(picked, index * TUPLE_BYTES, offset, offset + TUPLE_BYTES);
  }
  return picked;
}
