/**
 * Dates that are written again, as runs: a first date, a last date and the step between. A million quarter-hours of a
 * thousand variables are a thousand runs, which the database finds by a thousand index ranges; what follows no step is a
 * run of one date. Runs are kept per chunk.
 */

import type { Micros } from '../point.ts';
import { chunkOf } from './chunk-rules.ts';

/**
 * Longer steps make runs of one date each: between dates far apart may lie many stored ones, and passing over them
 * costs more than looking up each date.
 */
const MAX_STEP_MICROS = 3_600_000_000;

/** Columns of one length: row i is one run. */
export interface Runs {
  readonly variableIds: number[];
  readonly fromMicros: Micros[];
  /** Inclusive. */
  readonly toMicros: Micros[];
  /** Positive; of a run of one date 1. */
  readonly stepMicros: Micros[];
  /** VersionTag written at every date of the run; 0 when none. */
  readonly versionTagIds: number[];
  /** Versions kept per date and kind. */
  readonly versionLimits: number[];
}

/** What a write meets in one chunk. A run is in every set it needs. */
export interface ChunkRuns {
  /** Not versioned: the stored row goes. */
  readonly overwritten: Runs;
  /** Not versioned, but was: stored history goes too. */
  readonly forgotten: Runs;
  /** Versioned: the stored row becomes history. */
  readonly superseded: Runs;
  /** The VersionTag may be in history: that version goes. */
  readonly replaced: Runs;
  /** There may be more versions than the limit allows. */
  readonly limited: Runs;
}

export type ChunkRunsByNumber = Map<number, ChunkRuns>;

/** The dates of one variable, given in ascending order, become runs in the sets named. */
export interface RunWriter {
  add(dateMicros: Micros, versionTagId: number): void;
  /** Closes the last run. */
  end(): void;
}

export interface RunTarget {
  readonly variableId: number;
  readonly versionLimit: number;
  /** Sets for a run with this VersionTag. */
  setsFor(versionTagId: number): readonly (keyof ChunkRuns)[];
}

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
    runs = { overwritten: empty(), forgotten: empty(), superseded: empty(), replaced: empty(), limited: empty() };
    chunks.set(chunk, runs);
  }
  return runs;
}
