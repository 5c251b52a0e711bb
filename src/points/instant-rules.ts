/** Instants as text: ISO 8601 in UTC, to the microsecond, always with `Z` (R-A8). */
import type { Micros } from './point.ts';

const MICROS_PER_MILLI = 1000;
const MICROS_PER_MINUTE = 60_000_000;

/** PostgreSQL counts microseconds from 2000-01-01; this is that day in ours. */
export const POSTGRES_EPOCH_MICROS: Micros = 946_684_800_000_000;

/** Dates outside these are refused: inside, every microsecond is exact in a JavaScript number. */
export const MIN_DATE_MICROS: Micros = Date.UTC(1700, 0, 1) * MICROS_PER_MILLI;
export const MAX_DATE_MICROS: Micros = Date.UTC(2200, 0, 1) * MICROS_PER_MILLI;

/** `2026-03-01T00:15:00Z`; a fraction appears only when there is one, without trailing zeros. */
export function formatInstant(micros: Micros): string {
  const millis = Math.floor(micros / MICROS_PER_MILLI);
  const text = new Date(millis).toISOString();
  const subMillis = micros - millis * MICROS_PER_MILLI;
  const seconds = text.slice(0, -5);
  const fraction = `${text.slice(-4, -1)}${String(subMillis).padStart(3, '0')}`.replace(/0+$/, '');
  return fraction === '' ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

/** As `formatInstant`, on the local clock `offsetMicros` ahead of UTC: `2026-03-01T01:15:00+01:00`. */
export function formatLocalInstant(micros: Micros, offsetMicros: Micros): string {
  const local = formatInstant(micros + offsetMicros).slice(0, -1);
  const minutes = Math.round(Math.abs(offsetMicros) / MICROS_PER_MINUTE);
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0');
  return `${local}${offsetMicros < 0 ? '-' : '+'}${hours}:${String(minutes % 60).padStart(2, '0')}`;
}
