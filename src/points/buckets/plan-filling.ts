/** What is to be filled of an aggregated read, and how much of it the database has to give for that. */

import type { Micros, PointSelection } from '../point.ts';
import type { AggregateFunction, Buckets } from './bucket.ts';
import { type CivilBuckets, civilBuckets, shortestLength } from './civil-buckets.ts';
import { MAX_FILLED, tooManyGaps } from './fill-buckets.ts';
import type { FillOptions } from './fill-rules.ts';

export interface Filling {
  readonly options: FillOptions;
  /** Of the buckets found: pages are counted when gaps are filled. */
  readonly pageOf: (aggregate: AggregateFunction) => Pick<PointSelection, 'limit'>;
}

/** Of one point they are no value: what a gap leads to may be any number of buckets away. */
const MAY_LACK_VALUES: ReadonlySet<AggregateFunction> = new Set(['variance', 'stdev']);

/** Begin of the latest bucket of a period; of one that holds no instant, before its first. */
function lastBucket(
  steps: CivilBuckets,
  { fromMicros, toMicros, isToIncluded }: { fromMicros: Micros | undefined; toMicros: Micros; isToIncluded: boolean },
): Micros {
  if (isToIncluded) return steps.startOf(toMicros);
  return fromMicros === toMicros ? steps.previous(steps.startOf(fromMicros)) : steps.startOf(toMicros - 1);
}

/**
 * @returns undefined when nothing is filled.
 * @throws DomainError invalid_input when the period has more buckets than may be filled.
 */
export function planFilling(selection: PointSelection, buckets: Buckets): Filling | undefined {
  const { fill, bucket, timeZoneId, startOfDay } = buckets;
  if (fill === 'none' || bucket === 'all') return undefined;
  const { fromMicros, toMicros, isToIncluded = false, limit, offset = 0 } = selection;
  const steps = civilBuckets(bucket, timeZoneId, startOfDay);
  const first = fromMicros === undefined ? undefined : steps.startOf(fromMicros);
  const last = toMicros === undefined ? undefined : lastBucket(steps, { fromMicros, toMicros, isToIncluded });
  if (limit === undefined && first !== undefined && last !== undefined) {
    if ((last - first) / shortestLength(bucket) > MAX_FILLED) throw tooManyGaps(selection.variableIds[0] ?? 0);
  }
  return {
    options: { fill, order: selection.order, steps, first, last },
    // One more than a page can hold shows what a gap at its end leads to.
    pageOf: (aggregate) => {
      if (limit === undefined || (fill !== 'null' && MAY_LACK_VALUES.has(aggregate))) return {};
      return { limit: offset + limit + 1 };
    },
  };
}
