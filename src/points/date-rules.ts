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

// What nearly every client sends, `2026-03-01T00:15:00`, with a Z, or with `.000Z`, is read by its character codes.
const PLAIN_CHARACTERS = 19;
const MILLIS_CHARACTERS = 4;
const [ZERO, DASH, DOT, COLON, UPPER_T, UPPER_Z] = [0x30, 0x2d, 0x2e, 0x3a, 0x54, 0x5a];

/** @returns undefined for text that is no date: wrong form, 30 February, hour 25, beyond microseconds, out of range. */
export function parseDate(text: string): ParsedDate | undefined {
  return parsePlain(text) ?? parseIso(text);
}

/** @returns undefined for what is not of the plain form, or no date: the general way decides then. */
function parsePlain(text: string): ParsedDate | undefined {
  const isUtc = text.charCodeAt(text.length - 1) === UPPER_Z;
  const fractionCharacters = text.length - PLAIN_CHARACTERS - (isUtc ? 1 : 0);
  if (fractionCharacters !== 0 && fractionCharacters !== MILLIS_CHARACTERS) return undefined;
  const isMarked =
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    text.charCodeAt(10) === UPPER_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON;
  if (!isMarked) return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  // What is no digit is NaN, which no comparison holds for.
  if (!(year >= 1700 && year < 2200 && isDay(year, month, day) && hour < 24 && minute < 60 && second < 60)) {
    return undefined;
  }
  const millis = fractionCharacters === 0 ? 0 : parseMillis(text);
  if (!(millis >= 0)) return undefined;
  return { micros: Date.UTC(year, month - 1, day, hour, minute, second, millis) * 1000, isLocal: !isUtc };
}

function parseMillis(text: string): number {
  if (text.charCodeAt(PLAIN_CHARACTERS) !== DOT) return Number.NaN;
  const hundreds = text.charCodeAt(PLAIN_CHARACTERS + 1) - ZERO;
  return hundreds >= 0 && hundreds <= 9 ? hundreds * 100 + twoDigits(text, PLAIN_CHARACTERS + 2) : Number.NaN;
}

function twoDigits(text: string, place: number): number {
  const tens = text.charCodeAt(place) - ZERO;
  const ones = text.charCodeAt(place + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function parseIso(text: string): ParsedDate | undefined {
  const match = ISO_DATE.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '', utc, sign, zoneHour, zoneMinute = '0'] = match;
  const fractionMicros = parseFraction(fraction);
  const isCivil =
    isYear(Number(year)) &&
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

/** With a zone, the year before or after may be meant. Date.UTC would take one below 100 for one of the last century. */
function isYear(year: number): boolean {
  return year >= 1699 && year <= 2200;
}

function isDay(year: number, month: number, day: number): boolean {
  if (!(day >= 1 && day <= (DAYS_IN_MONTH[month - 1] ?? 0))) return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

/** Digits after the point as microseconds. Finer ones must be zeros: nothing is rounded silently. */
function parseFraction(digits: string): number | undefined {
  if (/[1-9]/.test(digits.slice(6))) return undefined;
  return Number(digits.slice(0, 6).padEnd(6, '0'));
}
