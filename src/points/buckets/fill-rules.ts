/**
 * What stands in the gaps between buckets (R-G1). Buckets are pushed as they are found, ascending or descending; out
 * come all of them, gaps filled, in the same order. Nothing is kept but the last bucket found.
 *
 *   previous   the value of the nearest bucket before; null before the first
 *   linear     on a line between the begins of the buckets around; null where there is none on one side
 *   null       no value
 *
 * For `previous` and `linear` a bucket without a value, such as the variance of one point, is a gap too.
 */

import type { Micros } from '../point.ts';
import type { Fill } from './bucket.ts';

export interface FoundBucket {
  readonly start: Micros;
  /** NaN: no value. */
  readonly value: number;
}

export interface FilledBucket extends FoundBucket {
  readonly isGap: boolean;
}

/** How buckets follow one another in time. */
export interface BucketSteps {
  readonly next: (start: Micros) => Micros;
  readonly previous: (start: Micros) => Micros;
}

export interface FillOptions {
  readonly fill: Exclude<Fill, 'none'>;
  readonly order: 'ASC' | 'DESC';
  readonly steps: BucketSteps;
  /** Begin of the earliest bucket wanted; without it, the first found. */
  readonly first?: Micros | undefined;
  /** Begin of the latest bucket wanted; without it, the last found. */
  readonly last?: Micros | undefined;
}

export interface Filler {
  /** The gap before the bucket, and the bucket. */
  push(found: FoundBucket): Generator<FilledBucket>;
  /** The gap behind the last bucket found. */
  finish(): Generator<FilledBucket>;
}

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
