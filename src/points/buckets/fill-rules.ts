/**
 * Fills gaps between buckets (R-G1), in ascending or descending order. The filler keeps only the last bucket in memory.
 *
 *   previous   value of the nearest earlier bucket; null when no earlier bucket has a value
 *   linear     linear interpolation between the starts of the neighbouring buckets; null when one neighbour is missing
 *   null       no value
 *
 * For `previous` and `linear`, a bucket without a value is also a gap (for example, the variance of one point).
 */

import type { Micros } from '../point.ts';
import type { Fill } from './bucket.ts';

export interface FoundBucket {
  readonly start: Micros;
  /** Value of the bucket; NaN when it has no value. */
  readonly value: number;
}

export interface FilledBucket extends FoundBucket {
  readonly isGap: boolean;
}

/** Functions that turn the start of a bucket into the start of the next bucket or of the previous one. */
export interface BucketSteps {
  readonly next: (start: Micros) => Micros;
  readonly previous: (start: Micros) => Micros;
}

export interface FillOptions {
  readonly fill: Exclude<Fill, 'none'>;
  readonly order: 'ASC' | 'DESC';
  readonly steps: BucketSteps;
  /** Start of the earliest bucket of the period. Default: the earliest bucket given to `Filler.push`. */
  readonly first?: Micros | undefined;
  /** Start of the latest bucket of the period. Default: the latest bucket given to `Filler.push`. */
  readonly last?: Micros | undefined;
}

export interface Filler {
  /**
   * Yields the buckets that fill the gap before `found`, and then `found`. With the fill `previous` or
   * `linear`, a `found` without a value is itself part of the gap. The call then yields nothing, and a later call fills
   * the whole gap.
   */
  push(found: FoundBucket): Generator<FilledBucket>;
  /** Yields the buckets that fill the gap after the last bucket that `push` yielded. */
  finish(): Generator<FilledBucket>;
}

/** @returns a filler for the buckets of one variable (R-G1). */
export function createFiller({ fill, order, steps, first, last }: FillOptions): Filler {
  const isAscending = order === 'ASC';
  const [begin, end] = isAscending ? [first, last] : [last, first];
  const advance = isAscending ? steps.next : steps.previous;
  const isBefore = (start: Micros, other: Micros) => (isAscending ? start < other : start > other);
  let expected = begin;
  let known: FoundBucket | undefined;
  let reached: Micros | undefined;

  function* gaps(isGap: (start: Micros) => boolean, ahead: FoundBucket | undefined): Generator<FilledBucket> {
    const [before, after] = isAscending ? [known, ahead] : [ahead, known];
    while (expected !== undefined && isGap(expected)) {
      const start = expected;
      expected = advance(start);
      yield { start, value: gapValue(fill, start, before, after), isGap: true };
    }
  }

  return {
    *push(found) {
      expected ??= found.start;
      reached = found.start;
      if (Number.isNaN(found.value) && fill !== 'null') return;
      yield* gaps((start) => isBefore(start, found.start), found);
      yield { ...found, isGap: false };
      expected = advance(found.start);
      known = found;
    },
    *finish() {
      const limit = end ?? reached;
      if (limit !== undefined) yield* gaps((start) => !isBefore(limit, start), undefined);
    },
  };
}

function gapValue(
  fill: Exclude<Fill, 'none'>,
  start: Micros,
  before: FoundBucket | undefined,
  after: FoundBucket | undefined,
): number {
  if (fill === 'previous') return before?.value ?? Number.NaN;
  if (fill === 'null' || !before || !after) return Number.NaN;
  const share = (start - before.start) / (after.start - before.start);
  return before.value + (after.value - before.value) * share;
}
