/** Maps the names of granularities and aggregates (R-C8) to the names that `points/buckets` uses. */
import type { AggregateFunction, Bucket } from '../../points/buckets/bucket.ts';
import type { Aggregate, Granularity } from './enumerations.ts';

/** Bucket of each granularity; undefined for raw points. */
export const BUCKETS: Readonly<Record<Granularity, Bucket | undefined>> = {
  Raw: undefined,
  Minute: 'minute',
  Hour: 'hour',
  Day: 'day',
  Week: 'week',
  Month: 'month',
  Year: 'year',
  All: 'all',
};

/** Maps each aggregate to the function in `points/buckets` that computes the aggregate. */
export const FUNCTIONS: Readonly<Record<Aggregate, AggregateFunction>> = {
  SUM: 'sum',
  MIN: 'min',
  MAX: 'max',
  AVG: 'avg',
  COUNT: 'count',
  VAR: 'variance',
  STDEV: 'stdev',
};
