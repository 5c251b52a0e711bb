/** Types of aggregates by civil buckets (R-G1). */
import type { Micros } from '../point.ts';

/** Granularity of buckets; `all` is a single bucket of the whole period. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'all';

export type AggregateFunction = 'sum' | 'min' | 'max' | 'avg' | 'count' | 'variance' | 'stdev';

/** Value of a gap: no row, the value before, linear interpolation between its neighbours, or a row without a value. */
export type Fill = 'none' | 'previous' | 'linear' | 'null';

export interface Buckets {
  readonly bucket: Bucket;
  /** IANA zone whose civil time delimits the buckets. */
  readonly timeZoneId: string;
  readonly functionOf: (variableId: number) => AggregateFunction;
  /** First instant of a civil date, given as its local midnight. Used for days and longer. */
  readonly startOfDay: (localMidnight: Micros) => Micros;
  /** Minimum number of points; a bucket with fewer is a gap. Defaults to 1. */
  readonly minCount?: number;
  /**
   * Fills the gaps of the period. Where the period is open, gaps start at the first bucket found or end at the last. `all`
   * has no gaps.
   */
  readonly fill: Fill;
}

/** Buckets of one variable as columns of equal length. */
export interface AggregateChunk {
  readonly variableId: number;
  readonly aggregate: AggregateFunction;
  /** First instant of each bucket, in microseconds. */
  readonly dates: Float64Array;
  /** NaN: no value, as for the sample variance and standard deviation of a single point. */
  readonly values: Float64Array;
}
