/**
 * Bounds of civil buckets in a zone. Minutes and hours follow the zone's clock. Days, weeks (from Monday), months and
 * years begin with the first instant of their first date.
 */
import { Temporal } from 'temporal-polyfill';
import type { Micros } from '../point.ts';
import type { Bucket } from './bucket.ts';
import type { BucketSteps } from './fill-rules.ts';

export interface CivilBuckets extends BucketSteps {
  /** Returns the start of the bucket that contains `instant`. */
  readonly startOf: (instant: Micros) => Micros;
}

const MINUTE = 60_000_000;
const DAY = 86_400_000_000;
const LENGTHS = { minute: MINUTE, hour: 60 * MINUTE } as const;
// 1970-01-01 was a Thursday.
const DAYS_AFTER_MONDAY = 3;

/**
 * Creates functions for the bucket starts of a zone (R-G1).
 * @param timeZoneId IANA zone.
 * @param startOfDay takes a civil date, as the instant of its midnight in UTC, and returns the first instant of this
 *   date in the zone.
 * @returns functions that find bucket starts, in microseconds since 1970-01-01 UTC.
 */
export function civilBuckets(
  bucket: Exclude<Bucket, 'all'>,
  timeZoneId: string,
  startOfDay: (localMidnight: Micros) => Micros,
): CivilBuckets {
  const offsetAt = findOffsets(timeZoneId);
  if (bucket === 'minute' || bucket === 'hour') return clockBuckets(LENGTHS[bucket], offsetAt);
  const dateOf = (instant: Micros) => firstDate(bucket, instant + offsetAt(instant));
  const walk = (start: Micros, sign: 1 | -1): Micros => {
    // A date that the zone skipped begins at the same instant as the next date.
    for (let date = dateOf(start); ; ) {
      date = addBuckets(bucket, date, sign);
      const found = startOfDay(date);
      if ((found - start) * sign > 0) return found;
    }
  };
  return {
    startOf: (instant) => startOfDay(dateOf(instant)),
    next: (start) => walk(start, 1),
    previous: (start) => walk(start, -1),
  };
}

function clockBuckets(length: Micros, offsetAt: (instant: Micros) => Micros): CivilBuckets {
  const startOf = (instant: Micros): Micros => {
    const offset = offsetAt(instant);
    return Math.floor((instant + offset) / length) * length - offset;
  };
  return {
    startOf,
    // When a zone sets its clock back by less than `length`, a bucket can have two starts: one by the UTC offset before
    // the change, and one by the offset after the change. Example: on 2026-04-04 at 15:00Z, the clock of
    // Australia/Lord_Howe goes back from 02:00 to 01:30. The hour 01:00 then starts at 14:00Z and at 14:30Z. `next` of
    // 14:00Z returns 14:30Z.
    next: (start) => startOf(start + length),
    previous: (start) => startOf(start - 1),
  };
}

/** Returns the local midnight of the first date of the bucket that contains `local`. */
function firstDate(bucket: 'day' | 'week' | 'month' | 'year', local: Micros): Micros {
  const day = Math.floor(local / DAY);
  if (bucket === 'day') return day * DAY;
  if (bucket === 'week') return (day - ((((day + DAYS_AFTER_MONDAY) % 7) + 7) % 7)) * DAY;
  const date = new Date((day * DAY) / 1000);
  return Date.UTC(date.getUTCFullYear(), bucket === 'year' ? 0 : date.getUTCMonth(), 1) * 1000;
}

function addBuckets(bucket: 'day' | 'week' | 'month' | 'year', date: Micros, count: number): Micros {
  if (bucket === 'day') return date + count * DAY;
  if (bucket === 'week') return date + count * 7 * DAY;
  const moved = new Date(date / 1000);
  moved.setUTCMonth(moved.getUTCMonth() + count * (bucket === 'year' ? 12 : 1));
  return moved.getTime() * 1000;
}

/**
 * Returns a lower bound, in microseconds, for the time between consecutive bucket starts. The bound may not hold when a
 * clock change lies between the starts.
 */
export function shortestLength(bucket: Exclude<Bucket, 'all'>): Micros {
  return bucket === 'minute' || bucket === 'hour' ? LENGTHS[bucket] : DAY;
}

/**
 * Returns a function that finds the zone's UTC offset at an instant. The function caches the offset of its last call,
 * and the span of time around that instant in which the offset is constant.
 */
function findOffsets(timeZoneId: string): (instant: Micros) => Micros {
  let span = { from: 0, to: 0, offset: 0 };
  return (instant) => {
    if (instant < span.from || instant >= span.to) span = findSpan(timeZoneId, instant);
    return span.offset;
  };
}

function findSpan(timeZoneId: string, instant: Micros): { from: Micros; to: Micros; offset: Micros } {
  const date = Temporal.Instant.fromEpochMilliseconds(Math.floor(instant / 1000)).toZonedDateTimeISO(timeZoneId);
  const [from, to] = [
    date.add({ milliseconds: 1 }).getTimeZoneTransition('previous'),
    date.getTimeZoneTransition('next'),
  ];
  return {
    from: from ? from.epochMilliseconds * 1000 : Number.NEGATIVE_INFINITY,
    to: to ? to.epochMilliseconds * 1000 : Number.POSITIVE_INFINITY,
    offset: date.offsetNanoseconds / 1000,
  };
}
