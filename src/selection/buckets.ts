/** Resolves the granularity and aggregate of a request into buckets (R-G1, R-C8). */
import type { Buckets } from '../points/buckets/bucket.ts';
import { BUCKETS, FUNCTIONS } from '../structure/catalogue/bucket-names.ts';
import { startOfDay } from '../structure/catalogue/time-zones.ts';
import type { BucketRequest } from './read-request.ts';
import type { ReadVariable } from './selection.ts';

/**
 * Resolves the buckets of a request (R-G1, R-C8).
 * @param variables the variables of the request, each with the aggregate that applies when the request names no
 * aggregate.
 * @returns undefined for raw points.
 */
export function findBuckets(
  { granularity, aggregate, fill, minCount, timeZoneId = 'UTC' }: BucketRequest,
  variables: ReadonlyMap<number, ReadVariable>,
): Buckets | undefined {
  const bucket = BUCKETS[granularity];
  if (bucket === undefined) return undefined;
  return {
    bucket,
    timeZoneId,
    functionOf: (variableId) => FUNCTIONS[aggregate ?? variables.get(variableId)?.aggregate ?? 'AVG'],
    startOfDay: startOfDay(timeZoneId),
    fill,
    ...(minCount !== undefined && { minCount }),
  };
}
