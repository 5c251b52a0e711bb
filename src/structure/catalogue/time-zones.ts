/**
 * Converts between local dates of a time zone and instants (R-D4), with the runtime's tz database through Temporal.
 * Offsets are cached for spans without a clock change.
 */
import { Temporal } from 'temporal-polyfill';
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { z } from 'zod';
import { formatInstant } from '../../platform/dates/instant-rules.ts';

const MICROS_PER_MILLI = 1000;
const QUARTER_MICROS = 15 * 60 * 1_000_000;
const DAY_MICROS = 96 * QUARTER_MICROS;
const MAX_REMEMBERED = 100_000;

/** How often a local date occurs: once (`exact`), twice (`ambiguous`, in autumn) or never (`skipped`, in spring). */
export type LocalDateKind = 'exact' | 'ambiguous' | 'skipped';

/** Instant of a local date, in microseconds since 1970-01-01 UTC. */
export interface LocalDateInstant {
  readonly micros: number;
  readonly kind: LocalDateKind;
}

/**
 * Converts a local date of one zone to an instant. `localMicros` is the local date in microseconds, computed as if the
 * zone were UTC. With `isDay`, `localMicros` is the midnight that stands for a date without a time; the result is then
 * the first instant of that day, and its kind is `exact`.
 */
export type LocalClock = (localMicros: number, isDay?: boolean) => LocalDateInstant;

/** An IANA or Windows time zone name, in any letter case (R-C9); the output is the IANA name. */
export const timeZoneSchema = z
  .string()
  .transform((name, context) => {
    const found = findTimeZone(name);
    if (found !== undefined) return found;
    context.addIssue({
      code: 'custom',
      message: `must be an IANA or Windows time zone, got ${JSON.stringify(name)}`,
    });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    description: 'IANA name of a time zone. A Windows name is also accepted, and is stored as the IANA name.',
    examples: ['Europe/Brussels'],
  });

// Matches names spelled as in the tz database, such as America/Port_of_Spain or Etc/GMT+1.
const WELL_SPELLED = /^[A-Z][A-Za-z_+\-\d]*(\/[A-Z][A-Za-z_+\-\d]*)*$/;

// IANA zone of each Windows zone, by the lower-case Windows name. CLDR gives an IANA zone per territory; this map takes
// the zone of CLDR's default territory, 001.
const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map(
  WINDOWS_TO_IANA_MAP.flatMap(({ windowsName, territory, iana: [zone] }) =>
    territory === '001' && zone !== undefined ? [[windowsName.toLowerCase(), zone]] : [],
  ),
);

/**
 * Finds a zone by IANA or Windows name, in any letter case (R-C9).
 * @returns the IANA name to store; undefined for an unknown zone.
 */
export function findTimeZone(name: string): string | undefined {
  // Intl also accepts offsets such as +01:00; R does not accept them.
  if (/^[+-]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    if (timeZone.toLowerCase() === name.toLowerCase()) return timeZone;
    // A well-spelled name is kept, because the runtime's name can be outdated (Asia/Calcutta for Asia/Kolkata).
    const isKept = WELL_SPELLED.test(name) && name !== name.toUpperCase();
    return isKept ? name : timeZone;
  } catch {
    return WINDOWS_ZONES.get(name.toLowerCase());
  }
}

const clocks = new Map<string, LocalClock>();

/**
 * Returns the function that converts local dates of an IANA zone to instants (R-D4). An ambiguous local date becomes
 * the later instant; a skipped local date moves forward by the gap. The function of an unknown zone throws RangeError
 * when it is called.
 */
export function localClock(timeZoneId: string): LocalClock {
  const known = clocks.get(timeZoneId);
  if (known) return known;
  const clock = createClock(timeZoneId);
  clocks.set(timeZoneId, clock);
  return clock;
}

interface Offset {
  readonly offsetMicros: number;
  readonly kind: LocalDateKind;
}

function createClock(timeZoneId: string): LocalClock {
  const offsetAt = rememberSpans(
    (localMicros) => findOffset(timeZoneId, Math.floor(localMicros / MICROS_PER_MILLI)),
    (one, other) => one.offsetMicros === other.offsetMicros && one.kind === other.kind,
  );
  const startOf = startOfDay(timeZoneId);
  return (localMicros, isDay = false) => {
    const { offsetMicros, kind } = offsetAt(localMicros);
    if (isDay && kind !== 'exact') return { micros: startOf(localMicros), kind: 'exact' };
    return { micros: localMicros - offsetMicros, kind };
  };
}

/**
 * Says which instant is used for a local date that occurs twice or never (R-D4).
 * @param localMicros the local date, computed as if the zone were UTC. @param micros the instant that is used.
 */
export function localDateWarning(
  kind: 'ambiguous' | 'skipped',
  localMicros: number,
  micros: number,
  timeZoneId: string,
): string {
  const what =
    kind === 'ambiguous'
      ? 'occurs twice; the later instant is used'
      : 'does not exist because of a clock change; the local date plus the length of the gap is used';
  return `${formatInstant(localMicros).replace('Z', '')} in ${timeZoneId} ${what}: ${formatInstant(micros)}`;
}

/**
 * Caches the value of `lookUp` for a whole day when the day starts and ends with the same value. For any other day,
 * caches the value for each quarter of an hour that starts and ends with the same value. Comparing the start and the
 * end is enough, because no zone changes its clock back and forth within a day.
 */
function rememberSpans<Value>(
  lookUp: (micros: number) => Value,
  isSame: (one: Value, other: Value) => boolean,
): (micros: number) => Value {
  const remember = (length: number, lookUpFiner: (micros: number) => Value) => {
    const known = new Map<number, Value | undefined>();
    return (micros: number): Value => {
      const span = Math.floor(micros / length);
      const value = known.get(span);
      if (value !== undefined) return value;
      if (known.has(span)) return lookUpFiner(micros);
      if (known.size >= MAX_REMEMBERED) known.clear();
      const first = lookUp(span * length);
      const isWhole = isSame(first, lookUp((span + 1) * length - 1));
      known.set(span, isWhole ? first : undefined);
      return isWhole ? first : lookUpFiner(micros);
    };
  };
  return remember(DAY_MICROS, remember(QUARTER_MICROS, lookUp));
}

function findOffset(timeZoneId: string, localMillis: number): Offset {
  const local = Temporal.Instant.fromEpochMilliseconds(localMillis).toZonedDateTimeISO('UTC').toPlainDateTime();
  const later = local.toZonedDateTime(timeZoneId, { disambiguation: 'later' });
  const earlier = local.toZonedDateTime(timeZoneId, {
    disambiguation: 'earlier',
  });
  const offsetMicros = (localMillis - later.epochMilliseconds) * MICROS_PER_MILLI;
  if (later.epochMilliseconds === earlier.epochMilliseconds) return { offsetMicros, kind: 'exact' };
  const isSkipped = !later.toPlainDateTime().equals(local);
  return { offsetMicros, kind: isSkipped ? 'skipped' : 'ambiguous' };
}

/** Returns the offset of a zone from UTC, in microseconds, at an instant in microseconds since 1970-01-01 UTC. */
export type ZoneOffset = (micros: number) => number;

const zoneOffsets = new Map<string, ZoneOffset>();

/**
 * Returns a function that gives and caches the offsets of an IANA zone (R-D4). If the zone is unknown, the returned
 * function throws RangeError.
 */
export function zoneOffset(timeZoneId: string): ZoneOffset {
  const known = zoneOffsets.get(timeZoneId);
  if (known) return known;
  const offsetAt = rememberSpans<number>(
    (micros) => {
      const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(micros / MICROS_PER_MILLI));
      return instant.toZonedDateTimeISO(timeZoneId).offsetNanoseconds / MICROS_PER_MILLI;
    },
    (one, other) => one === other,
  );
  zoneOffsets.set(timeZoneId, offsetAt);
  return offsetAt;
}

/**
 * Looks up one zone, so that the runtime loads its time zone data before the first request. Loading blocks the event
 * loop for 14–61 ms, once per process; later lookups take less than 1 ms (measured 2026-11-21).
 */
export function warmTimeZones(): void {
  const zone = findTimeZone('Europe/Brussels') ?? 'UTC';
  for (const lookUp of [zoneOffset(zone), localClock(zone), startOfDay(zone)]) lookUp(0);
}

/**
 * Finds the first instant of a civil date in a zone: the first of two midnights, or the end of the gap when midnight is
 * skipped (R-D4).
 * @param timeZoneId IANA zone.
 * @returns a function that takes a civil date, as the instant of its midnight in UTC, and returns the first instant of
 * the date in the zone. Both are in microseconds since 1970-01-01 UTC.
 */
export function startOfDay(timeZoneId: string): (localMidnight: number) => number {
  return (localMidnight) => {
    const midnight = Temporal.Instant.fromEpochMilliseconds(localMidnight / MICROS_PER_MILLI);
    const date = midnight.toZonedDateTimeISO('UTC').toPlainDate();
    return date.toZonedDateTime(timeZoneId).epochMilliseconds * MICROS_PER_MILLI;
  };
}
