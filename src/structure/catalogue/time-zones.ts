/**
 * Civil time of a zone (R-D4): which instant a local date means. Offsets come from the tz database of the runtime
 * through Temporal; they are looked up once per zone and day, on days of a change once per quarter of an hour, and in a
 * quarter of a change for every date: Newfoundland changed its clock at 0:01 until 2011, Liberia in 1972 by 44:30 minutes.
 */
import { Temporal } from 'temporal-polyfill';
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { z } from 'zod';

const MICROS_PER_MILLI = 1000;
const QUARTER_MICROS = 15 * 60 * 1_000_000;
const DAY_MICROS = 96 * QUARTER_MICROS;
const MAX_REMEMBERED = 100_000;

/** How a local date met the clock: once, twice (autumn) or never (spring). */
export type LocalDateKind = 'exact' | 'ambiguous' | 'skipped';

export interface LocalDateInstant {
  readonly micros: number;
  readonly kind: LocalDateKind;
}

/** Turns local dates of one zone into instants. */
export type LocalClock = (localMicros: number) => LocalDateInstant;

/** An IANA or Windows time zone name, in any case (R-C9); the output is the IANA name. */
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
  .meta({ type: 'string', description: 'IANA name; Windows names are read too.', examples: ['Europe/Brussels'] });

// As the tz database spells names, such as America/Port_of_Spain or Etc/GMT+1.
const WELL_SPELLED = /^[A-Z][A-Za-z_+\-\d]*(\/[A-Z][A-Za-z_+\-\d]*)*$/;

// Of a Windows zone, the IANA zone CLDR gives for the default territory.
const WINDOWS_ZONES: ReadonlyMap<string, string> = new Map(
  WINDOWS_TO_IANA_MAP.flatMap(({ windowsName, territory, iana: [zone] }) =>
    territory === '001' && zone !== undefined ? [[windowsName.toLowerCase(), zone]] : [],
  ),
);

/**
 * The IANA name to store, undefined when there is no such zone. A well-spelled name is kept: the runtime would
 * turn Asia/Kolkata into its old name, which newer tz databases leave out. Others get the runtime's spelling.
 */
export function findTimeZone(name: string): string | undefined {
  // Intl also knows bare offsets; R does not.
  if (/^[+-]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    const isKept = WELL_SPELLED.test(name) && name !== name.toUpperCase();
    return isKept ? name : timeZone;
  } catch {
    return WINDOWS_ZONES.get(name.toLowerCase());
  }
}

const clocks = new Map<string, LocalClock>();

/**
 * The clock of an IANA zone. An ambiguous local date is the later instant; a skipped one is moved forward by the gap.
 * @throws RangeError for an unknown zone.
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
  return (localMicros) => {
    const { offsetMicros, kind } = offsetAt(localMicros);
    return { micros: localMicros - offsetMicros, kind };
  };
}

/**
 * What is looked up by time and seldom changes, remembered for days and quarters of an hour at whose both ends it is the
 * same. No zone changes its clock there and back within one.
 */
function rememberSpans<Value>(
  lookUp: (micros: number) => Value,
  isSame: (one: Value, other: Value) => boolean,
): (micros: number) => Value {
  const remember = (length: number, otherwise: (micros: number) => Value) => {
    const known = new Map<number, Value | undefined>();
    return (micros: number): Value => {
      const span = Math.floor(micros / length);
      const value = known.get(span);
      if (value !== undefined) return value;
      if (known.has(span)) return otherwise(micros);
      if (known.size >= MAX_REMEMBERED) known.clear();
      const first = lookUp(span * length);
      const isWhole = isSame(first, lookUp((span + 1) * length - 1));
      known.set(span, isWhole ? first : undefined);
      return isWhole ? first : otherwise(micros);
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

/** The offset of a zone from UTC at an instant, in microseconds. */
export type ZoneOffset = (micros: number) => number;

const zoneOffsets = new Map<string, ZoneOffset>();

/** @throws RangeError for an unknown zone. */
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
 * Looks a zone up as reads and pushes do. The first time a process does so the runtime loads its time zone data, whichever
 * zone it is: measured 14–61 ms in which nobody else is served, then below 1 ms (2026-11-21).
 */
export function warmTimeZones(): void {
  const zone = findTimeZone('Europe/Brussels') ?? 'UTC';
  for (const lookUp of [zoneOffset(zone), localClock(zone), startOfDay(zone)]) lookUp(0);
}

/**
 * The first instant of a civil date of a zone: of two midnights the first, where there is none the end of the gap.
 * @param localMidnight the date's midnight as if the zone were UTC.
 */
export function startOfDay(timeZoneId: string): (localMidnight: number) => number {
  return (localMidnight) => {
    const midnight = Temporal.Instant.fromEpochMilliseconds(localMidnight / MICROS_PER_MILLI);
    const date = midnight.toZonedDateTimeISO('UTC').toPlainDate();
    return date.toZonedDateTime(timeZoneId).epochMilliseconds * MICROS_PER_MILLI;
  };
}
