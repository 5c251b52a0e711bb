/**
 * Scans dates and values of readings from bytes. Each scan returns the position after the token, or -1 for a token that is
 * not of the common form; such a token may still be valid.
 */
import { parseDate } from '../../platform/dates/date-rules.ts';
import { BACKSLASH, QUOTE } from './json-scanner.ts';
import type { PushReader } from './parse-push.ts';

const [ZERO, PLUS, MINUS, DOT, COLON, UPPER_T, UPPER_Z] = [0x30, 0x2b, 0x2d, 0x2e, 0x3a, 0x54, 0x5a];
const [UPPER_E, LOWER_E, SPACE, DELETE] = [0x45, 0x65, 0x20, 0x7f];
// Greater than every number in a date. NaN would work too, but turn all of them into 64-bit floats.
const NO_DIGIT = 10_000;
const MAX_DATE_CHARACTERS = 40;
const MAX_NUMBER_CHARACTERS = 400;
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
// With at most this many digits, the integer and the power of ten are exact, so their quotient is the nearest double.
const EXACT_DIGITS = 15;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, power) => 10 ** power);

/** Writes a number into `reader.values`. @param at position of its first byte. */
export function scanValue(bytes: Uint8Array, at: number, reader: PushReader): number {
  let place = bytes[at] === MINUS ? at + 1 : at;
  const first = place;
  let digits = 0;
  let dotAt = -1;
  for (; ; place += 1) {
    const digit = (bytes[place] as number) - ZERO;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (digit === DOT - ZERO && dotAt < 0) dotAt = place;
    else break;
  }
  const isScientific = bytes[place] === UPPER_E || bytes[place] === LOWER_E;
  const whole = (dotAt < 0 ? place : dotAt) - first;
  const decimals = dotAt < 0 ? 0 : place - dotAt - 1;
  if (isScientific || whole + decimals > EXACT_DIGITS) return scanLongValue(bytes, at, reader);
  if (whole === 0 || dotAt + 1 === place || (whole > 1 && bytes[first] === ZERO)) return -1;
  const value = decimals === 0 ? digits : digits / (POWERS_OF_TEN[decimals] as number);
  reader.values[reader.row] = first === at ? value : -value;
  return place;
}

/** Scans a number of more than 15 digits or with an exponent. */
function scanLongValue(bytes: Uint8Array, at: number, reader: PushReader): number {
  let place = at;
  while (isOfNumber(bytes[place] as number)) place += 1;
  if (place - at > MAX_NUMBER_CHARACTERS) return -1;
  const text = asciiText(bytes, at, place);
  const value = JSON_NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return -1;
  reader.values[reader.row] = value;
  return place;
}

function isOfNumber(byte: number): boolean {
  if (byte >= ZERO && byte <= ZERO + 9) return true;
  return byte === DOT || byte === MINUS || byte === PLUS || byte === UPPER_E || byte === LOWER_E;
}

/** Scans dates; caches the last day, which most dates of a push share. */
export class DateScanner {
  #lastDay = -1;
  #dayMillis = 0;

  /** Writes a date into `reader.dates`. @param at position of the opening quote. */
  scan(bytes: Uint8Array, at: number, reader: PushReader): number {
    if (bytes[at] !== QUOTE) return -1;
    const first = at + 1;
    const isUtc = bytes[first + 19] === UPPER_Z;
    if (isUtc || bytes[first + 19] === QUOTE) {
      const end = first + (isUtc ? 20 : 19);
      return bytes[end] === QUOTE && this.#scanPlain(bytes, first, 0, isUtc, reader)
        ? end + 1
        : scanOther(bytes, at, reader);
    }
    if (bytes[first + 19] !== DOT || bytes[first + 23] !== UPPER_Z || bytes[first + 24] !== QUOTE) {
      return scanOther(bytes, at, reader);
    }
    const millis = digit(bytes, first + 20) * 100 + twoDigits(bytes, first + 21);
    return this.#scanPlain(bytes, first, millis, true, reader) ? first + 25 : scanOther(bytes, at, reader);
  }

  /** Scans `2026-03-01T00:15:00`. */
  #scanPlain(bytes: Uint8Array, at: number, millis: number, isUtc: boolean, reader: PushReader): boolean {
    const hour = twoDigits(bytes, at + 11);
    const minute = twoDigits(bytes, at + 14);
    const second = twoDigits(bytes, at + 17);
    const isMarked = bytes[at + 10] === UPPER_T && bytes[at + 13] === COLON && bytes[at + 16] === COLON;
    if (!(isMarked && hour < 24 && minute < 60 && second < 60 && millis < 1000)) return false;
    if (!this.#scanDay(bytes, at)) return false;
    reader.setDate((this.#dayMillis + ((hour * 60 + minute) * 60 + second) * 1000 + millis) * 1000, !isUtc);
    return true;
  }

  #scanDay(bytes: Uint8Array, at: number): boolean {
    const year = twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2);
    const month = twoDigits(bytes, at + 5);
    const dayOfMonth = twoDigits(bytes, at + 8);
    if (bytes[at + 4] !== MINUS || bytes[at + 7] !== MINUS) return false;
    if (year >= NO_DIGIT || month >= NO_DIGIT || dayOfMonth >= NO_DIGIT) return false;
    const day = (year * 100 + month) * 100 + dayOfMonth;
    if (day === this.#lastDay) return true;
    const date = parseDate(`${asciiText(bytes, at, at + 10)}T00:00:00Z`);
    if (date === undefined) return false;
    this.#lastDay = day;
    this.#dayMillis = date.micros / 1000;
    return true;
  }
}

/** Scans a date of another form, such as one with an offset. */
function scanOther(bytes: Uint8Array, at: number, reader: PushReader): number {
  let end = at + 1;
  while (isPlainCharacter(bytes[end] as number)) end += 1;
  if (bytes[end] !== QUOTE || end - at > MAX_DATE_CHARACTERS) return -1;
  const date = parseDate(asciiText(bytes, at + 1, end));
  if (date === undefined) return -1;
  reader.setDate(date.micros, date.isLocal);
  return end + 1;
}

function isPlainCharacter(byte: number): boolean {
  return byte >= SPACE && byte < DELETE && byte !== QUOTE && byte !== BACKSLASH;
}

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

function digit(bytes: Uint8Array, at: number): number {
  const value = (bytes[at] as number) - ZERO;
  return value >= 0 && value <= 9 ? value : NO_DIGIT;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return digit(bytes, at) * 10 + digit(bytes, at + 1);
}
