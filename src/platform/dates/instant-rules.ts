/**
 * Instants as ISO 8601 text to the microsecond, always with `Z` or an offset (R-A8), and the range of storable dates.
 */

/** Microseconds since the Unix epoch, UTC; exact in a JavaScript number until the year 2255. */
export type Micros = number;

const MICROS_PER_MILLI = 1000;
export const MICROS_PER_MINUTE = 60_000_000;

/** 2000-01-01, the epoch of PostgreSQL, in microseconds since 1970-01-01. */
export const POSTGRES_EPOCH_MICROS: Micros = 946_684_800_000_000;

/** First storable date. A JavaScript number represents every storable date exactly, to the microsecond. */
export const MIN_DATE_MICROS: Micros = Date.UTC(1700, 0, 1) * MICROS_PER_MILLI;
/** End of the range of storable dates, exclusive. */
export const MAX_DATE_MICROS: Micros = Date.UTC(2200, 0, 1) * MICROS_PER_MILLI;

/**
 * Formats an instant as `2026-03-01T00:15:00Z`. A fraction of a second is shown only when it is not zero; trailing
 * zeros of the fraction are left out (R-A8).
 */
export function formatInstant(micros: Micros): string {
  const millis = Math.floor(micros / MICROS_PER_MILLI);
  const text = new Date(millis).toISOString();
  const subMillis = micros - millis * MICROS_PER_MILLI;
  const seconds = text.slice(0, -5);
  const fraction = `${text.slice(-4, -1)}${String(subMillis).padStart(3, '0')}`.replace(/0+$/, '');
  return fraction === '' ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

/**
 * Like `formatInstant`, but on a local clock that is `offsetMicros` ahead of UTC: `2026-03-01T01:15:00+01:00` (R-A8).
 * ISO 8601 has only offsets of whole minutes, so an offset of local mean time is rounded to a minute. The local time in
 * the text is computed with the rounded offset, so the text still denotes the exact instant.
 */
export function formatLocalInstant(micros: Micros, offsetMicros: Micros): string {
  const minutes = Math.round(offsetMicros / MICROS_PER_MINUTE);
  const local = formatInstant(micros + minutes * MICROS_PER_MINUTE).slice(0, -1);
  return local + formatOffset(minutes);
}

/** Formats an offset from UTC as `+01:00`. @param minutes the offset in minutes, negative when behind UTC. */
export function formatOffset(minutes: number): string {
  const hours = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${hours}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`;
}
