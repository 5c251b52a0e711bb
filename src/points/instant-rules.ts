/** Instants as text: ISO 8601 in UTC, to the microsecond, always with `Z` (R-A8). */
import type { Micros } from './point.ts';

const MICROS_PER_MILLI = 1000;

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
