/**
 * Compresses dates into date ranges. A date range is described by its first date, last date and step. A million
 * quarter-hourly dates, spread over a thousand variables, become about a thousand date ranges; the database finds the
 * stored rows of each date range in one range of an index. Dates without a regular step become date ranges of one or two dates. All
 * dates of a range are in one chunk, and date ranges are grouped by chunk.
 */

import type { Micros } from '../point.ts';
import { chunkOf } from './chunk-rules.ts';

/**
 * Maximum step of a date range. Dates that are further apart get one range each, so the database looks up each date
 * separately. One range for all of them would be slower: the database would read and skip every stored date between the
 * dates of the range, and many dates may be stored there.
 */
const MAX_STEP_MICROS = 3_600_000_000;

/** Date ranges, as columns of equal length. The elements at index i describe one range. */
export interface DateRanges {
  readonly variableIds: number[];
  readonly fromMicros: Micros[];
  /** Last date of each date range, inclusive. */
  readonly toMicros: Micros[];
  /** Step of each date range: the distance from each date of the range to the next. For a range of one date: 1. */
  readonly stepMicros: Micros[];
  /** For each date range: id of the VersionTag that the write stores at these dates; 0 for no VersionTag. */
  readonly versionTagIds: number[];
  /**
   * For each date range: maximum number of versions that are kept per date. Versions with a VersionTag and versions
   * without one are counted separately.
   */
  readonly versionLimits: number[];
}

/**
 * Date ranges in one chunk, grouped by what the write does to stored rows at these dates. A range can be in several
 * groups.
 */
export interface ChunkRanges {
  /** Dates for which the write deletes the stored row in `point`, because the variable is not versioned. */
  readonly overwritten: DateRanges;
  /**
   * Dates whose rows in history (`point_version`) the write deletes, because the variable is no longer versioned. These
   * dates are in `overwritten` too.
   */
  readonly forgotten: DateRanges;
  /** Dates at which the write can replace a stored version of a variable whose history is already incomplete (R-F9). */
  readonly exposed: DateRanges;
  /**
   * Dates at which a write to a versioned variable supersedes the stored row. The write deletes a stored row with the
   * same VersionTag, and moves any other stored row to history.
   */
  readonly superseded: DateRanges;
  /** Dates at which history may contain a row with the VersionTag of the write. The write deletes these rows. */
  readonly replaced: DateRanges;
  /** Dates at which the number of versions can exceed the version limit. The write deletes the surplus versions. */
  readonly limited: DateRanges;
}

export type ChunkRangesByNumber = Map<number, ChunkRanges>;

/**
 * Groups the dates of one variable, given in ascending order, into date ranges. A range has equal steps and one
 * VersionTag.
 */
export interface RangeWriter {
  add(dateMicros: Micros, versionTagId: number): void;
  /**
   * Completes the last date range (dates with equal steps) and adds it to the sets that it belongs to. Call `end`
   * after the last date.
   */
  end(): void;
}

export interface RangeTarget {
  readonly variableId: number;
  readonly versionLimit: number;
  /** Returns the sets to which a date range with this VersionTag id is added. */
  setsFor(versionTagId: number): readonly (keyof ChunkRanges)[];
}

/**
 * Opens a `RangeWriter` for one variable.
 * @param chunks the map to which the `RangeWriter` adds the date ranges.
 */
export function openRangeWriter(chunks: ChunkRangesByNumber, target: RangeTarget): RangeWriter {
  let chunk: number | undefined;
  let [from, to, step, tag] = [0, 0, 0, 0];
  const end = (): void => {
    if (chunk === undefined) return;
    const ranges = getOrAdd(chunks, chunk);
    for (const set of target.setsFor(tag)) addRange(ranges[set], target, from, to, step, tag);
    chunk = undefined;
  };
  const add = (dateMicros: Micros, versionTagId: number): void => {
    const gap = dateMicros - to;
    const dateChunk = chunkOf(dateMicros);
    if (chunk === dateChunk && versionTagId === tag && (step === 0 ? gap <= MAX_STEP_MICROS : gap === step)) {
      step = gap;
      to = dateMicros;
      return;
    }
    end();
    [chunk, from, to, step, tag] = [dateChunk, dateMicros, dateMicros, 0, versionTagId];
  };
  return { add, end };
}

/**
 * Appends a date range to the columns of a set.
 * @param stepMicros step of the range; for a range of one date, pass 0, which is stored as 1.
 */
export function addRange(
  ranges: DateRanges,
  { variableId, versionLimit }: RangeTarget,
  fromMicros: Micros,
  toMicros: Micros,
  stepMicros: Micros,
  versionTagId: number,
): void {
  ranges.variableIds.push(variableId);
  ranges.fromMicros.push(fromMicros);
  ranges.toMicros.push(toMicros);
  ranges.stepMicros.push(stepMicros || 1);
  ranges.versionTagIds.push(versionTagId);
  ranges.versionLimits.push(versionLimit);
}

/** @returns the sets of ranges of a chunk. When the map does not contain the chunk, adds the chunk with empty sets. */
export function getOrAdd(chunks: ChunkRangesByNumber, chunk: number): ChunkRanges {
  let ranges = chunks.get(chunk);
  if (!ranges) {
    const empty = (): DateRanges => ({
      variableIds: [],
      fromMicros: [],
      toMicros: [],
      stepMicros: [],
      versionTagIds: [],
      versionLimits: [],
    });
    ranges = {
      ...{ overwritten: empty(), forgotten: empty(), exposed: empty() },
      ...{ superseded: empty(), replaced: empty(), limited: empty() },
    };
    chunks.set(chunk, ranges);
  }
  return ranges;
}
