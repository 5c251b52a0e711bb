/**
 * Compresses dates into runs. A run is described by its first date, last date and step. A million quarter-hourly dates
 * of a thousand variables become about a thousand runs; the database finds each run by one range of an index. Dates
 * without a regular step become runs of one or two dates. Each run lies in one chunk, and runs are grouped by chunk.
 */

import type { Micros } from '../point.ts';
import { chunkOf } from './chunk-rules.ts';

/**
 * Maximum step of a run. Dates further apart become runs of one date, because skipping many stored dates between them
 * costs more than one lookup per date.
 */
const MAX_STEP_MICROS = 3_600_000_000;

/** Columns of equal length; row i is one run. */
export interface Runs {
  readonly variableIds: number[];
  readonly fromMicros: Micros[];
  /** Last date of the run, inclusive. */
  readonly toMicros: Micros[];
  /** Distance between consecutive dates of the run, positive; 1 for a run of one date. */
  readonly stepMicros: Micros[];
  /** VersionTag id that the write gives to the version at every date of the run; 0 for no VersionTag. */
  readonly versionTagIds: number[];
  /** Maximum versions kept per date, for tagged and untagged versions separately. */
  readonly versionLimits: number[];
}

/** The runs of one chunk, by set. The set decides what happens to the stored rows; a run can be in several sets. */
export interface ChunkRuns {
  /** Runs of a variable that is not versioned: at each date, the stored row is deleted. */
  readonly overwritten: Runs;
  /** Runs of a variable that is no longer versioned: the stored history of the dates is deleted too. */
  readonly forgotten: Runs;
  /**
   * Runs of a versioned variable that has lost versions (R-F9). When a write replaces a version whose VersionTimestamp
   * is at or before `history_from`, states of the variable at instants before the write may lack versions.
   */
  readonly exposed: Runs;
  /** Runs of a versioned variable: the stored row becomes history, unless it has the VersionTag of the run. */
  readonly superseded: Runs;
  /** Runs whose VersionTag may be in history: at each date, the history row with this VersionTag is deleted. */
  readonly replaced: Runs;
  /** Runs at whose dates the versions may exceed the version limit: the surplus versions are deleted. */
  readonly limited: Runs;
}

export type ChunkRunsByNumber = Map<number, ChunkRuns>;

/** Groups the dates of one variable, which ascend, into runs of equal steps with one VersionTag. */
export interface RunWriter {
  add(dateMicros: Micros, versionTagId: number): void;
  /** Closes the open run. Call it after the last date. */
  end(): void;
}

export interface RunTarget {
  readonly variableId: number;
  readonly versionLimit: number;
  /** Returns the sets that a run with this VersionTag id belongs to. */
  setsFor(versionTagId: number): readonly (keyof ChunkRuns)[];
}

/** Opens a writer of runs for one variable. @param chunks receives the runs. */
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

/** Appends a run to the columns of a set. @param stepMicros 0 for a run of one date, stored as 1. */
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

/** @returns the runs of a chunk; adds an empty entry for a new chunk. */
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
