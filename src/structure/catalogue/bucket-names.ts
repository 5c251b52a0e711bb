/** Granularity and aggregation (R-C8), as reads and the inputs of calculations ask for them, in the words of the store. */
import type { AggregateFunction, Bucket } from '../../points/buckets/bucket.ts';
import type { Aggregate, Granularity } from './enumerations.ts';

/** Undefined: raw points. */
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

export const FUNCTIONS: Readonly<Record<Aggregate, AggregateFunction>> = {
  SUM: 'sum',
  MIN: 'min',
  MAX: 'max',
  AVG: 'avg',
  COUNT: 'count',
  VAR: 'variance',
  STDEV: 'stdev',
};
