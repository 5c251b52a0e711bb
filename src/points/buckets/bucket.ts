/** TypeScript types for aggregating points in buckets of civil time (R-G1). */
import type { Micros } from '../point.ts';

/** Granularity of buckets; `all` is a single bucket of the whole period. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'all';

export type AggregateFunction = 'sum' | 'min' | 'max' | 'avg' | 'count' | 'variance' | 'stdev';

/**
 * How a read returns a gap: no row, a row with the previous value, a row with the linear interpolation between the
 * values before and after the gap, or a row without a value.
 */
export type Fill = 'none' | 'previous' | 'linear' | 'null';

export interface Buckets {
  readonly bucket: Bucket;
  /** IANA zone whose civil time delimits the buckets. */
  readonly timeZoneId: string;
  readonly functionOf: (variableId: number) => AggregateFunction;
  /**
   * Returns the first instant of a civil date, for buckets of a day or longer.
   * @param localMidnight midnight of the civil date, as local time.
   */
  readonly startOfDay: (localMidnight: Micros) => Micros;
  /** Minimum number of points; a bucket with fewer points is a gap. Default: 1. */
  readonly minCount?: number;
  /**
   * How the gaps of the period are filled. Gaps before the first bucket with enough points are filled only when the
   * period has a start. Gaps after the last bucket with enough points are filled only when the period has an end. With
   * the granularity `all`, no gap is filled.
   */
  readonly fill: Fill;
}

/** Buckets of one variable as columns of equal length. */
export interface AggregateChunk {
  readonly variableId: number;
  readonly aggregate: AggregateFunction;
  /**
   * Start of each bucket, in microseconds. With the granularity `all` and no period start: the date of the first point.
   */
  readonly dates: Float64Array;
  /** Value of each bucket; NaN for a bucket without a value, for example the sample variance of a single point. */
  readonly values: Float64Array;
}
