/**
 * Converts the serial numbers of date cells (days since an epoch), and recognises date formats (ECMA-376
 * part 1, 18.17.4 and 18.8.30).
 */

/**
 * In the 1900 date system, day 1 is 1900-01-01, and day 60 is the nonexistent 29 February 1900. In the 1904 date
 * system, day 0 is 1904-01-01.
 */
export type DateSystem = 1900 | 1904;

const MILLIS_PER_DAY = 86_400_000;
const MICROS_PER_MILLI = 1000;
const EPOCHS: Readonly<Record<DateSystem, number>> = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) };
const PHANTOM_DAY = 60;
const END = Date.UTC(2200, 0, 1);

/**
 * Converts a serial number (days) to a local date. Rounds to the millisecond, because further digits are rounding
 * errors.
 * @returns microseconds of the local clock since 1970-01-01; undefined for NaN, a negative number, 29 February 1900,
 *   and dates in 2200 and later.
 */
export function serialToMicros(serial: number, system: DateSystem): number | undefined {
  if (!(serial >= 0)) return undefined;
  const isPhantom = system === 1900 && Math.floor(serial) === PHANTOM_DAY;
  const shift = system === 1900 && serial < PHANTOM_DAY ? MILLIS_PER_DAY : 0;
  const millis = EPOCHS[system] + shift + Math.round(serial * MILLIS_PER_DAY);
  return isPhantom || millis >= END ? undefined : millis * MICROS_PER_MILLI;
}

// Ids of the built-in date formats, as ranges from a first to a last id. A workbook may use these formats without
// defining them. The formats 27–36 and 50–58 are for East Asian dates.
const BUILT_IN_DATES: readonly (readonly [number, number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];

/**
 * @returns true when a number format shows a date or a time. @param code format code; undefined for a built-in format.
 */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return BUILT_IN_DATES.some(([first, last]) => id >= first && id <= last);
  // A letter does not stand for a date when it is in a quoted text, directly after an escape or padding character, or
  // in brackets (colours, conditions). But [h], [m] and [s] stand for an elapsed time.
  const pattern = code
    .replace(/"[^"]*"?/g, '')
    .replace(/[\\_*]./g, '')
    .replace(/\[(?!(h+|m+|s+)\])[^\]]*\]/gi, '')
    .replace(/general/gi, '');
  return /[ymdhs]/i.test(pattern);
}
