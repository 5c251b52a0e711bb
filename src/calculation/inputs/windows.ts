/**
 * The window of an input is the range of dates that a run of the script reads from this input (R-H6). If the input has
 * `alignTo`, the window is widened to whole civil periods. When the dates [a, b] have changed, the window is:
 * - RelativeDate: (a − period, b + period] in civil units of the source's time zone, widened to whole buckets.
 * - LastNPoints: the last N points up to a, and all points from a to b, widened to whole buckets. If the input has
 *   buckets other than `all`, N is a number of buckets.
 * - AbsoluteDate: from the first to the second declared date, both inclusive.
 *
 * Windows of raw points and of the bucket `all` are not widened to whole buckets.
 */
import { Temporal } from 'temporal-polyfill';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Bucket } from '../../points/buckets/bucket.ts';
import type { Micros } from '../../points/point.ts';
import type { TimePeriod } from '../../structure/catalogue/enumerations.ts';
import { type Alignment, type InputDeclaration, instantMicros } from '../declaration/declaration.ts';
import type { DateRange } from '../declaration/formula-period-rules.ts';
import { bucketBegin, bucketEnd } from './civil-bucket.ts';

/** Window of an input. Both ends are inclusive; an end that is undefined does not limit the dates. */
export interface Window {
  readonly fromMicros: Micros | undefined;
  readonly toMicros: Micros | undefined;
  /**
   * The part of the window that consists of whole `alignTo` periods. Periods outside this part can be incomplete in the
   * window.
   */
  readonly whole?: DateRange;
}

/**
 * Counts the points of the selected versions, or the buckets that hold such points, backwards from `toMicros`
 * (inclusive). Resolves to the date at which the number `count` is reached. When there are fewer points or buckets,
 * resolves to the date of the earliest one. When there are none, resolves to undefined.
 */
export type FindNthBefore = (count: number, toMicros: Micros) => Promise<Micros | undefined>;

const DURATION_UNITS = {
  Millisecond: 'milliseconds',
  Second: 'seconds',
  Minute: 'minutes',
  Hour: 'hours',
  Day: 'days',
  Week: 'weeks',
  Month: 'months',
  Year: 'years',
} as const satisfies Readonly<Record<TimePeriod, string>>;

const ALIGNED_BUCKETS = {
  Day: 'day',
  Week: 'week',
  Month: 'month',
  Year: 'year',
} as const satisfies Readonly<Record<Alignment, Bucket>>;

// Maximum of a period in years. A longer period in years is shortened to this maximum, which spans all storable dates
// and stays within the range of the calendar library. Periods in smaller units always stay within this range.
const MAX_YEARS = 1000;

/**
 * Finds the window of an input: the dates that a run of the script reads from this input (R-H6).
 * @param timeZoneId IANA zone of the input's source.
 * @param bucket kind of bucket in which the input is read; undefined when its raw points are read.
 */
export async function findWindow(
  input: InputDeclaration,
  changed: DateRange,
  timeZoneId: string,
  bucket: Bucket | undefined,
  findNthBefore: FindNthBefore,
): Promise<Window> {
  switch (input.periodType) {
    case 'RelativeDate': {
      const reach = reachOf(input, changed, timeZoneId);
      return { ...toWholeBuckets(reach, timeZoneId, bucket), ...(input.alignTo && { whole: reach }) };
    }
    case 'AbsoluteDate':
      return absoluteWindow(input, timeZoneId);
    case 'LastNPoints': {
      const changedWhole = toWholeBuckets(changed, timeZoneId, bucket);
      const upTo = toWholeBuckets({ ...changed, toMicros: changed.fromMicros }, timeZoneId, bucket).toMicros;
      const first = await findNthBefore(Math.max(1, input.period), upTo);
      const fromMicros = Math.min(first ?? changed.fromMicros, changedWhole.fromMicros);
      const whole = align(input, { fromMicros, toMicros: changed.toMicros }, timeZoneId);
      const window = { fromMicros: Math.min(fromMicros, whole.fromMicros), toMicros: changedWhole.toMicros };
      if (!input.alignTo) return window;
      return { ...window, toMicros: Math.max(window.toMicros, whole.toMicros), whole };
    }
  }
}

/**
 * Finds the window of an AbsoluteDate input. `whole` is omitted, because every run of the script reads the same dates.
 */
function absoluteWindow(input: InputDeclaration, timeZoneId: string): Window {
  const fromMicros = instantMicros(input.fromAbsolutePeriod);
  const toMicros = instantMicros(input.toAbsolutePeriod);
  const alignEnd = (micros: Micros) => align(input, { fromMicros: micros, toMicros: micros }, timeZoneId);
  return {
    fromMicros: fromMicros === undefined ? undefined : alignEnd(fromMicros).fromMicros,
    toMicros: toMicros === undefined ? undefined : alignEnd(toMicros).toMicros,
  };
}

/**
 * @returns the range `changed`; for RelativeDate, extended on both sides by the declared period (R-H6). If the input
 *   has `alignTo`, the range is widened to whole civil periods.
 */
export function reachOf(input: InputDeclaration, changed: DateRange, timeZoneId: string): DateRange {
  if (input.periodType !== 'RelativeDate') return align(input, changed, timeZoneId);
  const reach = {
    // The start of the shifted range is exclusive, so the first date is one microsecond later.
    fromMicros: shift(changed.fromMicros, input, -1, timeZoneId) + 1,
    toMicros: shift(changed.toMicros, input, 1, timeZoneId),
  };
  return align(input, reach, timeZoneId);
}

function align({ alignTo }: InputDeclaration, range: DateRange, timeZoneId: string): DateRange {
  return alignTo ? toWholeBuckets(range, timeZoneId, ALIGNED_BUCKETS[alignTo]) : range;
}

function toWholeBuckets(range: DateRange, timeZoneId: string, bucket: Bucket | undefined): DateRange {
  if (bucket === undefined || bucket === 'all') return range;
  return {
    fromMicros: bucketBegin(range.fromMicros, bucket, timeZoneId),
    toMicros: bucketEnd(range.toMicros, bucket, timeZoneId) - 1,
  };
}

/**
 * Moves an instant back or ahead by the declared period, but not beyond the storable dates. When the period is 0, only
 * moving back changes the instant: it subtracts the one microsecond that `reachOf` adds.
 */
function shift(micros: Micros, { period, periodTimeBase }: InputDeclaration, sign: 1 | -1, timeZoneId: string): Micros {
  if (period === 0) return sign === -1 ? micros - 1 : micros;
  const count = periodTimeBase === 'Year' ? Math.min(period, MAX_YEARS) : period;
  const duration = { [DURATION_UNITS[periodTimeBase]]: count * sign };
  const start = Temporal.Instant.fromEpochMilliseconds(Math.floor(micros / 1000)).toZonedDateTimeISO(timeZoneId);
  const moved = start.add(duration).epochMilliseconds * 1000 + (micros - Math.floor(micros / 1000) * 1000);
  // `reachOf` adds one microsecond to a start.
  return Math.min(Math.max(moved, MIN_DATE_MICROS - 1), MAX_DATE_MICROS);
}
