/**
 * Which part of an input a run reads (R-H6). With [a, b] the changed dates: RelativeDate gives (a − period, b + period],
 * civil periods in the zone of the input's source; LastNPoints every changed date and the N − 1 points before it;
 * AbsoluteDate what is declared, both ends included.
 */
import { Temporal } from 'temporal-polyfill';
import type { Queryable } from '../platform/database.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../points/instant-rules.ts';
import type { Micros } from '../points/point.ts';
import type { TimePeriod } from '../structure/enumerations.ts';
import { type InputDeclaration, instantMicros } from './declaration.ts';

/** Both ends inclusive; undefined is open. */
export interface Window {
  readonly fromMicros: Micros | undefined;
  readonly toMicros: Micros | undefined;
}

/** The changed dates of a run, both inclusive. */
export interface ChangedDates {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

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

// More than all dates there are, and few enough for the calendar.
const MAX_YEARS = 1000;

/** @param timeZoneId IANA zone of the input's source. */
export async function findWindow(
  queryable: Queryable,
  input: InputDeclaration,
  changed: ChangedDates,
  timeZoneId: string,
): Promise<Window> {
  switch (input.periodType) {
    case 'RelativeDate':
      return {
        // The begin is exclusive; microseconds are the finest there is.
        fromMicros: shift(changed.fromMicros, input, -1, timeZoneId) + 1,
        toMicros: shift(changed.toMicros, input, 1, timeZoneId),
      };
    case 'AbsoluteDate':
      return { fromMicros: instantMicros(input.fromAbsolutePeriod), toMicros: instantMicros(input.toAbsolutePeriod) };
    case 'LastNPoints':
      return { fromMicros: await findNthBefore(queryable, input, changed.fromMicros), toMicros: changed.toMicros };
  }
}

/**
 * Moves an instant by the declared period, at most to where dates end. A window of no period still holds the changed
 * dates themselves.
 */
function shift(micros: Micros, { period, periodTimeBase }: InputDeclaration, sign: 1 | -1, timeZoneId: string): Micros {
  if (period === 0) return sign === -1 ? micros - 1 : micros;
  const count = periodTimeBase === 'Year' ? Math.min(period, MAX_YEARS) : period;
  const duration = { [DURATION_UNITS[periodTimeBase]]: count * sign };
  const start = Temporal.Instant.fromEpochMilliseconds(Math.floor(micros / 1000)).toZonedDateTimeISO(timeZoneId);
  const moved = start.add(duration).epochMilliseconds * 1000 + (micros - Math.floor(micros / 1000) * 1000);
  return Math.min(Math.max(moved, MIN_DATE_MICROS), MAX_DATE_MICROS);
}

/** Date of the (N − 1)-th point before `fromMicros`; the date itself when there is none. */
async function findNthBefore(queryable: Queryable, input: InputDeclaration, fromMicros: Micros): Promise<Micros> {
  const { rows } = await queryable.query<{ date: number | null }>(
    `select (extract(epoch from min(date)) * 1000000)::int8 as date from (
       select date from point
       where variable_id = $1 and date < to_timestamp(0) + $2::int8 * interval '1 microsecond'
       order by date desc limit $3
     ) before`,
    [input.variableId, fromMicros, Math.max(0, input.period - 1)],
  );
  return rows[0]?.date ?? fromMicros;
}
