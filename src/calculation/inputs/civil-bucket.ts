/** Where buckets of civil time begin and end, as `aggregatePoints` draws them: in the zone of the source (R-H1). */
import { Temporal } from 'temporal-polyfill';
import type { Micros } from '../../points/point.ts';
import type { Bucket } from '../../points/read/bucket.ts';

type CivilBucket = Exclude<Bucket, 'all'>;

const LENGTHS: Readonly<Record<CivilBucket, Temporal.DurationLike>> = {
  minute: { minutes: 1 },
  hour: { hours: 1 },
  day: { days: 1 },
  week: { weeks: 1 },
  month: { months: 1 },
  year: { years: 1 },
};

/** First instant of the bucket that holds an instant. */
export function bucketBegin(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  return toMicros(beginOf(toZoned(micros, timeZoneId), bucket));
}

/** First instant after the bucket that holds an instant. */
export function bucketEnd(micros: Micros, bucket: CivilBucket, timeZoneId: string): Micros {
  const begin = beginOf(toZoned(micros, timeZoneId), bucket);
  const next = begin.add(LENGTHS[bucket]);
  return toMicros(bucket === 'minute' || bucket === 'hour' ? next : next.startOfDay());
}

function beginOf(date: Temporal.ZonedDateTime, bucket: CivilBucket): Temporal.ZonedDateTime {
  switch (bucket) {
    case 'minute':
    case 'hour':
      return date.round({ smallestUnit: bucket, roundingMode: 'floor' });
    case 'day':
      return date.startOfDay();
    case 'week':
      return date.subtract({ days: date.dayOfWeek - 1 }).startOfDay();
    case 'month':
      return date.with({ day: 1 }).startOfDay();
    case 'year':
      return date.with({ month: 1, day: 1 }).startOfDay();
  }
}

function toZoned(micros: Micros, timeZoneId: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(micros / 1000)).toZonedDateTimeISO(timeZoneId);
}

function toMicros(date: Temporal.ZonedDateTime): Micros {
  return date.epochMilliseconds * 1000;
}
