/** Instants as clients write them, in the one form the database reads: it refuses some that JavaScript accepts. */

const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:(Z)|([+-]\d{2}):?(\d{2}))$/i;
/** Of the digits of a second: what Date keeps, and what the database does. */
const [MILLI_DIGITS, MICRO_DIGITS] = [3, 6];
/** Of the years 1 to 9999. */
const WRITABLE = /^(?!0000)\d{4}-/;

/** What an instant must look like, for messages. */
export const INSTANT_RULE = 'must be an instant such as 2026-03-01T12:00:00Z';

/** @returns the instant in UTC, cut to microseconds; undefined for what is none: no zone, 30 February, the year 0. */
export function parseInstant(text: string): string | undefined {
  const [, day, minute, second = '00', fraction = '', utc, hours, minutes] = INSTANT.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  const zone = utc === undefined ? `${hours}:${minutes}` : 'Z';
  const date = new Date(`${day}T${minute}:${second}.${fraction.slice(0, MILLI_DIGITS) || '0'}${zone}`);
  if (Number.isNaN(date.getTime()) || !WRITABLE.test(date.toISOString())) return undefined;
  return date.toISOString().replace('Z', `${fraction.slice(MILLI_DIGITS, MICRO_DIGITS)}Z`);
}

function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
