/**
 * Start and end of civil time buckets in the zone of the source: the same buckets as `aggregatePoints` makes (R-H1).
 */

import type { Bucket } from '../../points/buckets/bucket.ts';
import { civilBuckets, shortestLength } from '../../points/buckets/civil-buckets.ts';
import type { Micros } from '../../points/point.ts';
import { startOfDay } from '../../structure/catalogue/time-zones.ts';

type CivilBucket = Exclude<Bucket, 'all'>;

/**
 * @returns the first instant of the bucket that contains `micros` (R-H1). Overlapping buckets, such as hours where the
 * clock goes back by half an hour, count as one bucket.
 */
export function bucketBegin(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf } = bucketsOf(bucket, timeZoneId);
  const begin = startOf(micros);
  return Math.min(begin, startOf(begin));
}

/**
 * @returns the first instant after the bucket that contains `micros`, and after buckets that overlap that bucket
 * (R-H1).
 */
export function bucketEnd(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf, next } = bucketsOf(bucket, timeZoneId);
  const begin = startOf(micros);
  if (bucket === 'minute' || bucket === 'hour') {
    const length = shortestLength(bucket);
    return Math.max(begin + length, startOf(begin + length - 1) + length);
  }
  let end = next(begin);
  // A clock that goes back past midnight repeats the end of the old date.
  while (end <= micros) end = next(end);
  return end;
}

function bucketsOf(bucket: CivilBucket, timeZoneId: string) {
  return civilBuckets(bucket, timeZoneId, startOfDay(timeZoneId));
}
