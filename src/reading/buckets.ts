/** Granularity and aggregation as asked for (R-G1, R-C8) → buckets to aggregate by. */
import type { AggregateFunction, Bucket, Buckets } from '../points/read/bucket.ts';
import type { Aggregate, Granularity } from '../structure/enumerations.ts';
import { startOfDay } from '../structure/time-zones.ts';
import type { BucketRequest } from './read-request.ts';
import type { ReadVariable } from './selection.ts';

const BUCKETS: Readonly<Record<Exclude<Granularity, 'Raw'>, Bucket>> = {
  Minute: 'minute',
  Hour: 'hour',
  Day: 'day',
  Week: 'week',
  Month: 'month',
  Year: 'year',
  All: 'all',
};

const FUNCTIONS: Readonly<Record<Aggregate, AggregateFunction>> = {
  SUM: 'sum',
  MIN: 'min',
  MAX: 'max',
  AVG: 'avg',
  COUNT: 'count',
  VAR: 'variance',
  STDEV: 'stdev',
};

/** @returns undefined for raw points. */
export function findBuckets(
  { granularity, aggregate, fill, minCount, timeZoneId = 'UTC' }: BucketRequest,
  variables: ReadonlyMap<number, ReadVariable>,
): Buckets | undefined {
  if (granularity === 'Raw') return undefined;
  return {
    bucket: BUCKETS[granularity],
    timeZoneId,
    functionOf: (variableId) => FUNCTIONS[aggregate ?? variables.get(variableId)?.aggregate ?? 'AVG'],
    startOfDay: startOfDay(timeZoneId),
    fill,
    ...(minCount !== undefined && { minCount }),
  };
}
