/**
 * Start and end of civil time buckets in a time zone. The buckets are those that `aggregatePoints` makes for inputs,
 * with two exceptions (R-H6):
 * - Days, weeks, months or years that overlap count as one bucket.
 * - Near a clock change, the range of a minute or an hour can include a neighbouring bucket.
 */

import { Temporal } from 'temporal-polyfill';
import type { Bucket } from '../../points/buckets/bucket.ts';
import { civilBuckets, shortestLength } from '../../points/buckets/civil-buckets.ts';
import type { Micros } from '../../points/point.ts';
import { startOfDay } from '../../structure/catalogue/time-zones.ts';

const MICROS_PER_MILLI = 1000;

type CivilBucket = Exclude<Bucket, 'all'>;

/**
 * @returns the first instant of the bucket that contains `micros` (R-H6). When the clock goes back across the boundary
 * between two days, weeks, months or years, the two overlap and count as one bucket.
 */
export function bucketBegin(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf, previous } = bucketsOf(bucket, timeZoneId);
  let begin = startOf(micros);
  if (isOfClock(bucket)) return Math.min(begin, startOf(begin));
  while (isRepeated(begin, startOf, timeZoneId)) begin = previous(begin);
  return begin;
}

/**
 * @returns the first instant after the bucket that contains `micros`. Days, weeks, months or years that overlap count
 * as one bucket (R-H6).
 */
export function bucketEnd(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const { startOf, next } = bucketsOf(bucket, timeZoneId);
  const begin = startOf(micros);
  if (isOfClock(bucket)) {
    const length = shortestLength(bucket);
    return Math.max(begin + length, startOf(begin + length - 1) + length);
  }
  let end = next(begin);
  while (isRepeated(end, startOf, timeZoneId)) end = next(end);
  return end;
}

/**
 * @returns true when `begin` is a midnight after which the clock goes back into the previous day. For example, until
 * 2011 the clock in St John's went back from 00:01 to 23:01.
 */
function isRepeated(begin: Micros, startOf: (micros: Micros) => Micros, timeZoneId: string): boolean {
  const first = Temporal.Instant.fromEpochMilliseconds(begin / MICROS_PER_MILLI).toZonedDateTimeISO(timeZoneId);
  const second = first.toPlainDateTime().toZonedDateTime(timeZoneId, { disambiguation: 'later' });
  const secondMicros = second.epochMilliseconds * MICROS_PER_MILLI;
  return secondMicros > begin && startOf(secondMicros - 1) < begin;
}

function isOfClock(bucket: CivilBucket): bucket is 'minute' | 'hour' {
  return bucket === 'minute' || bucket === 'hour';
}

function bucketsOf(bucket: CivilBucket, timeZoneId: string) {
  return civilBuckets(bucket, timeZoneId, startOfDay(timeZoneId));
}
