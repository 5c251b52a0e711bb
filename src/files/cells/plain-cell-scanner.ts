/**
 * Reads plain cells (dates and numbers in their usual form) from bytes, because creating strings costs more. Returns
 * NaN for any other cell. `PlainDates` and `plainNumber` return the same values as `cell-parser.ts`.
 */
import { daysInMonth } from '../../platform/dates/date-rules.ts';

const [SPACE, ZERO, DASH, DOT, COLON, UPPER_T, UPPER_Z] = [0x20, 0x30, 0x2d, 0x2e, 0x3a, 0x54, 0x5a];
const LOCAL_BYTES = 19;
const MICROS_PER_SECOND = 1_000_000;
// A number of at most 15 digits is an integer divided by a power of ten. Doubles hold integers below 2^53 and powers of
// ten up to 10^22 exactly, so one division gives the double nearest to the number in the cell.
const MAX_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** Returns true when a plain date is local, that is, has no Z. */
export function isPlainLocal(start: number, end: number): boolean {
  return end - start === LOCAL_BYTES;
}

/**
 * Reads `yyyy-MM-ddTHH:mm:ss`, with T or a space, with or without Z. Caches the day, because neighbouring
 * rows usually have the same day.
 */
export class PlainDates {
  #day = -1;
  #dayMicros = 0;

  /**
   * @returns microseconds since 1970-01-01T00:00. They are in UTC when the cell ends in Z; otherwise they are those of
   *   the local date and time as written, not converted to UTC. Returns NaN when the cell is not a plain date of the
   *   years 1700 to 2199.
   */
  read(bytes: Uint8Array, start: number, end: number): number {
    const isPlain =
      (end - start === LOCAL_BYTES || (end - start === LOCAL_BYTES + 1 && bytes[end - 1] === UPPER_Z)) &&
      bytes[start + 4] === DASH &&
      bytes[start + 7] === DASH &&
      (bytes[start + 10] === UPPER_T || bytes[start + 10] === SPACE) &&
      bytes[start + 13] === COLON &&
      bytes[start + 16] === COLON;
    if (!isPlain) return Number.NaN;
    const day =
      (twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)) * 10_000 +
      twoDigits(bytes, start + 5) * 100 +
      twoDigits(bytes, start + 8);
    const hour = twoDigits(bytes, start + 11);
    const minute = twoDigits(bytes, start + 14);
    const second = twoDigits(bytes, start + 17);
    if (!(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
    if (day !== this.#day) {
      const dayMicros = toDayMicros(day);
      if (Number.isNaN(dayMicros)) return dayMicros;
      this.#dayMicros = dayMicros;
      this.#day = day;
    }
    return this.#dayMicros + (hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND;
  }
}

/**
 * @param day date as the number yyyyMMdd.
 * @returns microseconds from 1970-01-01 to the start of the day; NaN when `day` is not a date from 1700 to 2199.
 */
function toDayMicros(day: number): number {
  const year = Math.floor(day / 10_000);
  const month = Math.floor(day / 100) % 100;
  const date = day % 100;
  // When a character is not a digit, `day` is NaN. Every comparison with NaN is false, so `isDay` is false too.
  const isDay = year >= 1700 && year < 2200 && date >= 1 && date <= daysInMonth(year, month);
  return isDay ? Date.UTC(year, month - 1, date) * 1000 : Number.NaN;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - ZERO;
  const ones = (bytes[at + 1] as number) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/**
 * Reads a number that consists of digits, with an optional minus sign and an optional decimal point.
 * @returns NaN for any other cell, such as a number with an exponent or with more than 15 digits.
 */
export function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === DASH;
  const first = isNegative ? start + 1 : start;
  let mantissa = 0;
  let point = end;
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] as number;
    const digit = byte - ZERO;
    if (digit >= 0 && digit <= 9) mantissa = mantissa * 10 + digit;
    else if (byte === DOT && point === end) point = at;
    else return Number.NaN;
  }
  const fractionDigits = point === end ? 0 : end - point - 1;
  const digits = end - first - (point === end ? 0 : 1);
  // `digits` is -1 when an empty cell is followed by `-`, which was taken for its sign.
  if (digits <= 0 || digits > MAX_DIGITS) return Number.NaN;
  const value = mantissa / (POWERS_OF_TEN[fractionDigits] as number);
  return isNegative ? -value : value;
}

/**
 * Reads a date cell that holds a serial number. Reads whole days and fraction separately, so the error is far less than
 * a millisecond.
 * @returns days since the epoch of the workbook; NaN for a negative number with a fraction, and for a cell in another
 *   form, such as `1e3`, `.5` or `5.`.
 */
export function plainSerial(bytes: Uint8Array, start: number, end: number): number {
  let point = start;
  while (point < end && bytes[point] !== DOT) point += 1;
  if (point === end) return plainNumber(bytes, start, end);
  const days = plainNumber(bytes, start, point);
  const readEnd = Math.min(end, point + 1 + MAX_DIGITS);
  // Ignores further digits, which amount to less than a nanosecond. Any other character, such as the E of an exponent,
  // gives NaN.
  for (let at = readEnd; at < end; at += 1) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
  }
  const fraction = plainNumber(bytes, point, readEnd);
  return bytes[start] !== DASH && days >= 0 ? days + fraction : Number.NaN;
}
