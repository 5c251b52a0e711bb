/** The words for points by buckets of civil time (R-G1). */
import type { Micros } from '../point.ts';

/** Kinds of bucket; `all` is one bucket of everything. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'all';

export type AggregateFunction = 'sum' | 'min' | 'max' | 'avg' | 'count' | 'variance' | 'stdev';

/** What stands in a gap: nothing, the value before, what lies on a line between the buckets around it, or no value. */
export type Fill = 'none' | 'previous' | 'linear' | 'null';

export interface Buckets {
  readonly bucket: Bucket;
  /** IANA zone whose civil time bounds the buckets. */
  readonly timeZoneId: string;
  readonly functionOf: (variableId: number) => AggregateFunction;
  /** The first instant of a civil date, given as its local midnight; for days and longer. */
  readonly startOfDay: (localMidnight: Micros) => Micros;
  /** A bucket of fewer points counts as a gap; without it, one is enough. */
  readonly minCount?: number;
  /**
   * What stands in the gaps between the bounds of the period, and where it has none, between the first and the last
   * bucket found. Not of `all`, which has no gaps.
   */
  readonly fill: Fill;
}

/** Buckets of one variable, as columns of one length. */
export interface AggregateChunk {
  readonly variableId: number;
  readonly aggregate: AggregateFunction;
  /** Begin of each bucket. */
  readonly dates: Float64Array;
  /** NaN: no value. Of one point, variance and standard deviation are those of a sample: there is none. */
  readonly values: Float64Array;
}
