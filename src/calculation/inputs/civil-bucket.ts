/** Where buckets of civil time begin and end, as `aggregatePoints` draws them: in the zone of the source (R-H1). */

import type { Bucket } from '../../points/buckets/bucket.ts';
import { civilBuckets, shortestLength } from '../../points/buckets/civil-buckets.ts';
import type { Micros } from '../../points/point.ts';
import { startOfDay } from '../../structure/catalogue/time-zones.ts';

type CivilBucket = Exclude<Bucket, 'all'>;

/**
 * First instant of the bucket that holds an instant. One that begins within another, as hours do where the clock is set
 * back by half of one, takes that in.
 */
export function bucketBegin(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf } = bucketsOf(bucket, timeZoneId);
  const begin = startOf(micros);
  return Math.min(begin, startOf(begin));
}

/** First instant after the bucket that holds an instant, and after what begins within it. */
export function bucketEnd(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf, next } = bucketsOf(bucket, timeZoneId);
  const begin = startOf(micros);
  if (bucket === 'minute' || bucket === 'hour') {
    const length = shortestLength(bucket);
    return Math.max(begin + length, startOf(begin + length - 1) + length);
  }
  let end = next(begin);
  // A clock set back past midnight comes to the old date once more.
  while (end <= micros) end = next(end);
  return end;
}

function bucketsOf(bucket: CivilBucket, timeZoneId: string) {
  return civilBuckets(bucket, timeZoneId, startOfDay(timeZoneId));
}
