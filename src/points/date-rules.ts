/**
 * Dates of readings (R-D4): ISO 8601 with `Z`, `+hh:mm`, `+hhmm` or no zone, to the microsecond. A date without a zone
 * is local to its source and becomes an instant when the target is known.
 */
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from './instant-rules.ts';

export interface ParsedDate {
  /** Microseconds since 1970-01-01: UTC, or of the local clock when `isLocal`. */
  readonly micros: number;
  readonly isLocal: boolean;
}

const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MICROS_PER_MINUTE = 60_000_000;

/** What a date must look like, for messages. */
export const DATE_RULE = 'must be an ISO 8601 date and time such as 2026-03-01T00:15:00Z, from 1700 to 2199';

/** @returns undefined for text that is no date: wrong form, 30 February, hour 25, beyond microseconds, out of range. */
export function parseDate(text: string): ParsedDate | undefined {
  const match = ISO_DATE.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '', utc, sign, zoneHour, zoneMinute = '0'] = match;
  const fractionMicros = parseFraction(fraction);
  const isCivil =
    isDay(Number(year), Number(month), Number(day)) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    fractionMicros !== undefined;
  if (!isCivil) return undefined;
  const civilMicros =
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) * 1000 +
    fractionMicros;
  const isLocal = utc === undefined && sign === undefined;
  const zoneMinutes = zoneHour === undefined ? 0 : Number(zoneHour) * 60 + Number(zoneMinute);
  if (zoneMinutes > 18 * 60 || Number(zoneMinute) > 59) return undefined;
  const micros = civilMicros - (sign === '-' ? -1 : 1) * zoneMinutes * MICROS_PER_MINUTE;
  return micros >= MIN_DATE_MICROS && micros < MAX_DATE_MICROS ? { micros, isLocal } : undefined;
}

function isDay(year: number, month: number, day: number): boolean {
  if (day < 1 || day > (DAYS_IN_MONTH[month - 1] ?? 0)) return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

/** Digits after the point as microseconds. Finer ones must be zeros: nothing is rounded silently. */
function parseFraction(digits: string): number | undefined {
  if (/[1-9]/.test(digits.slice(6))) return undefined;
  return Number(digits.slice(0, 6).padEnd(6, '0'));
}
