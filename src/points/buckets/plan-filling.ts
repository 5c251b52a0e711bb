/**
 * Plans gap filling of an aggregated read: which buckets are filled, and how many buckets the
 * database must return for a page.
 */

import type { Micros, PointSelection } from '../point.ts';
import type { AggregateFunction, Buckets } from './bucket.ts';
import { type CivilBuckets, civilBuckets, shortestLength } from './civil-buckets.ts';
import { MAX_FILLED, tooManyGaps } from './fill-buckets.ts';
import type { FillOptions } from './fill-rules.ts';

export interface Filling {
  readonly options: FillOptions;
  /**
   * Returns the limit of the SQL statement, in rows per variable. `fillBuckets` applies the offset and the limit of the
   * page to the filled buckets.
   */
  readonly pageOf: (aggregate: AggregateFunction) => Pick<PointSelection, 'limit'>;
}

/** Aggregates that have no value for a bucket with a single point. */
const MAY_LACK_VALUES: ReadonlySet<AggregateFunction> = new Set(['variance', 'stdev']);

/**
 * Returns the start of the latest bucket of a period. When `toMicros` is exclusive and equals `fromMicros`, the period
 * has no bucket; the function then returns the start of the bucket before the one that contains `fromMicros`.
 */
function lastBucket(
  steps: CivilBuckets,
  { fromMicros, toMicros, isToIncluded }: { fromMicros: Micros | undefined; toMicros: Micros; isToIncluded: boolean },
): Micros {
  if (isToIncluded) return steps.startOf(toMicros);
  return fromMicros === toMicros ? steps.previous(steps.startOf(fromMicros)) : steps.startOf(toMicros - 1);
}

/**
 * @returns the plan; undefined when no gaps are to be filled.
 * @throws {DomainError} invalid_input when the period has more than `MAX_FILLED` buckets and the selection has no
 * limit.
 */
export function planFilling(selection: PointSelection, buckets: Buckets): Filling | undefined {
  const { fill, bucket, timeZoneId, startOfDay } = buckets;
  if (fill === 'none' || bucket === 'all') return undefined;
  const { fromMicros, toMicros, isToIncluded = false, limit, offset = 0 } = selection;
  const steps = civilBuckets(bucket, timeZoneId, startOfDay);
  const first = fromMicros === undefined ? undefined : steps.startOf(fromMicros);
  const last = toMicros === undefined ? undefined : lastBucket(steps, { fromMicros, toMicros, isToIncluded });
  if (limit === undefined && first !== undefined && last !== undefined) {
    if ((last - first) / shortestLength(bucket) >= MAX_FILLED) throw tooManyGaps();
  }
  return {
    options: { fill, order: selection.order, steps, first, last },
    pageOf: (aggregate) => {
      // If the aggregate may lack values, the next value can lie many buckets after the page, so all buckets are read.
      if (limit === undefined || (fill !== 'null' && MAY_LACK_VALUES.has(aggregate))) return {};
      // One bucket more, because filling a gap at the end of the page may need the bucket after the gap.
      return { limit: offset + limit + 1 };
    },
  };
}
