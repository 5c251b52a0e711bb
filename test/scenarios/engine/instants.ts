/**
 * Parses, formats and subtracts the ISO 8601 instants and durations of scenario files. Instants are exact to the
 * microsecond. An instant without an offset is in UTC.
 */
import { Temporal } from 'temporal-polyfill';

const MICROS_PER_MILLI = 1000;
const NANOS_PER_MICRO = 1000n;
const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?)?)?(Z|[+-]\d{2}:\d{2})?$/;

/** @returns microseconds since 1970-01-01; undefined when `text` is not an instant. */
export function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (!match) return undefined;
  const [, date, hour = '00', minute = '00', second = '00', zone = 'Z'] = match;
  try {
    return toMicros(Temporal.Instant.from(`${date}T${hour}:${minute}:${second}${zone}`));
  } catch {
    return undefined;
  }
}

/** Formats an instant as `2026-03-01T00:15Z`. Seconds are shown only when they or their fraction are not zero. */
export function formatInstant(micros: number): string {
  const text = toInstant(micros).toString();
  return text.replace(/:00Z$/, 'Z');
}

/** @returns undefined for text that is not an ISO 8601 duration, and for negative durations. */
export function parseDuration(text: string): Temporal.Duration | undefined {
  try {
    const duration = Temporal.Duration.from(text);
    return duration.sign < 0 ? undefined : duration;
  } catch {
    return undefined;
  }
}

export function toInstant(micros: number): Temporal.Instant {
  return Temporal.Instant.fromEpochNanoseconds(BigInt(micros) * NANOS_PER_MICRO);
}

export function toMicros(instant: Temporal.Instant): number {
  const millis = instant.epochMilliseconds;
  const rest = instant.epochNanoseconds - BigInt(millis) * 1_000_000n;
  return millis * MICROS_PER_MILLI + Number(rest / NANOS_PER_MICRO);
}

/**
 * Subtracts a duration from an instant. First subtracts years, months, weeks and days from the local time of the zone,
 * then subtracts the smaller units as elapsed time. If the local time after the first step occurs twice, the later of
 * its two instants is used. If that local time is skipped, it is moved forward by the length of the gap (R-D4).
 */
export function before(micros: number, duration: Temporal.Duration, timeZoneId: string): number {
  const { years, months, weeks, days, hours, minutes, seconds, milliseconds, microseconds } = duration;
  const clock = Temporal.Duration.from({ hours, minutes, seconds, milliseconds, microseconds });
  const instant = toInstant(micros);
  if (years + months + weeks + days === 0) return toMicros(instant.subtract(clock));
  const local = instant.toZonedDateTimeISO(timeZoneId).toPlainDateTime().subtract({ years, months, weeks, days });
  return toMicros(local.toZonedDateTime(timeZoneId, { disambiguation: 'later' }).toInstant().subtract(clock));
}
