/**
 * Compresses dates into runs of dates. A run of dates is described by its first date, last date and step. A million
 * quarter-hourly dates, spread over a thousand variables, become about a thousand runs of dates; the database finds the
 * stored rows of each run in one range of an index. Dates without a regular step become runs of one or two dates. All
 * dates of a run are in one chunk, and runs of dates are grouped by chunk.
 */

import type { Micros } from '../point.ts';
import { chunkOf } from './chunk-rules.ts';

/**
 * Maximum step of a run of dates. Dates that are further apart get one run each, so the database looks up each date
 * separately. One run for all of them would be slower: the database would read and skip every stored date between the
 * dates of the run, and many dates may be stored there.
 */
const MAX_STEP_MICROS = 3_600_000_000;

/** Runs of dates, as columns of equal length. The elements at index i describe one run. */
export interface Runs {
  readonly variableIds: number[];
  readonly fromMicros: Micros[];
  /** Last date of each run of dates, inclusive. */
  readonly toMicros: Micros[];
  /** Step of each run of dates: the distance from each date of the run to the next. For a run of one date: 1. */
  readonly stepMicros: Micros[];
  /** For each run of dates: id of the VersionTag that the write stores at the dates of the run; 0 for no VersionTag. */
  readonly versionTagIds: number[];
  /**
   * For each run of dates: maximum number of versions that are kept per date. Versions with a VersionTag and versions
   * without one are counted separately.
   */
  readonly versionLimits: number[];
}

/**
 * Runs of dates in one chunk, grouped by what the write does to stored rows at these dates. A run can be in several
 * groups.
 */
export interface ChunkRuns {
  /** Dates for which the write deletes the stored row in `point`, because the variable is not versioned. */
  readonly overwritten: Runs;
  /**
   * Dates whose rows in history (`point_version`) the write deletes, because the variable is no longer versioned. These
   * dates are in `overwritten` too.
   */
  readonly forgotten: Runs;
  /** Dates at which the write can replace a stored version of a variable whose history is already incomplete (R-F9). */
  readonly exposed: Runs;
  /**
   * Dates at which a write to a versioned variable supersedes the stored row. The write deletes a stored row with the
   * same VersionTag, and moves any other stored row to history.
   */
  readonly superseded: Runs;
  /** Dates at which history may contain a row with the VersionTag of the write. The write deletes these rows. */
  readonly replaced: Runs;
  /** Dates at which the number of versions can exceed the version limit. The write deletes the surplus versions. */
  readonly limited: Runs;
}

export type ChunkRunsByNumber = Map<number, ChunkRuns>;

/**
 * Groups the dates of one variable, given in ascending order, into runs of dates. A run has equal steps and one
 * VersionTag.
 */
export interface RunWriter {
  add(dateMicros: Micros, versionTagId: number): void;
  /**
   * Completes the last run of dates (dates with equal steps) and adds it to the sets that it belongs to. Call `end`
   * after the last date.
   */
  end(): void;
}

export interface RunTarget {
  readonly variableId: number;
  readonly versionLimit: number;
  /** Returns the sets that receive a run of dates with this VersionTag id. */
  setsFor(versionTagId: number): readonly (keyof ChunkRuns)[];
}

/**
 * Opens a `RunWriter` for one variable.
 * @param chunks the map to which the `RunWriter` adds the runs of dates.
 */
export function openRunWriter(chunks: ChunkRunsByNumber, target: RunTarget): RunWriter {
  let chunk: number | undefined;
  let [from, to, step, tag] = [0, 0, 0, 0];
  const end = (): void => {
    if (chunk === undefined) return;
    const runs = getOrAdd(chunks, chunk);
    for (const set of target.setsFor(tag)) addRun(runs[set], target, from, to, step, tag);
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
 * Appends a run of dates to the columns of a set.
 * @param stepMicros step of the run; for a run of one date, pass 0, which is stored as 1.
 */
export function addRun(
  runs: Runs,
  { variableId, versionLimit }: RunTarget,
  fromMicros: Micros,
  toMicros: Micros,
  stepMicros: Micros,
  versionTagId: number,
): void {
  runs.variableIds.push(variableId);
  runs.fromMicros.push(fromMicros);
  runs.toMicros.push(toMicros);
  runs.stepMicros.push(stepMicros || 1);
  runs.versionTagIds.push(versionTagId);
  runs.versionLimits.push(versionLimit);
}

/** @returns the sets of runs of a chunk. When the map does not contain the chunk, adds the chunk with empty sets. */
export function getOrAdd(chunks: ChunkRunsByNumber, chunk: number): ChunkRuns {
  let runs = chunks.get(chunk);
  if (!runs) {
    const empty = (): Runs => ({
      variableIds: [],
      fromMicros: [],
      toMicros: [],
      stepMicros: [],
      versionTagIds: [],
      versionLimits: [],
    });
    runs = {
      ...{ overwritten: empty(), forgotten: empty(), exposed: empty() },
      ...{ superseded: empty(), replaced: empty(), limited: empty() },
    };
    chunks.set(chunk, runs);
  }
  return runs;
}
