/**
 * Writes numbers as ASCII bytes. The text of a number is `String(value)`, except that the text of -0 is `-0.0`. Numbers
 * with at most six decimals and 15 digits, like most measurements, are written digit by digit, because a string for
 * each of 5 million values would grow the heap.
 */

const MAX_DECIMALS = 6;
const BEYOND_DIGITS = 1e15;
const NEGATIVE_ZERO = '-0.0';
const LOW_DIGITS = 9;
const BEYOND_LOW = 1e9;
const [ZERO, MINUS, DOT] = [0x30, 0x2d, 0x2e];

/** Maximum length of a number as text; -0.0000010067770038988751 has this length. */
export const NUMBER_BYTES = 25;

/**
 * @returns a function that writes a finite number as ASCII text at an offset and returns the offset after the text. The
 * function first tries as many decimals as it wrote for the previous number, because the values of a series usually
 * have the same number of decimals.
 */
export function numberWriter(): (bytes: Uint8Array, at: number, value: number) => number {
  let last = 0;
  return (bytes, at, value) => {
    // Negative zero is written as -0.0, because some JSON parsers read -0 as the integer 0 and lose the sign.
    if (value === 0) return writeAscii(bytes, at, Object.is(value, -0) ? NEGATIVE_ZERO : '0');
    const size = Math.abs(value);
    const decimals = hasDecimals(size, last) ? last : findDecimals(size);
    if (decimals === undefined) return writeAscii(bytes, at, `${value}`);
    last = decimals;
    let start = at;
    if (value < 0) bytes[start++] = MINUS;
    return writeDecimal(bytes, start, Math.round(size * powerOf(decimals)), decimals);
  };
}

/**
 * Writes a short ASCII text at the byte offset `at`.
 * @returns the offset after the text.
 */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/**
 * @returns the number of decimal places of `size`; undefined for more than six decimal places or more than 15 digits.
 *   The result is unambiguous, because two different decimal numbers of up to 15 digits never parse to the same double.
 */
function findDecimals(size: number): number | undefined {
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++) {
    const power = powerOf(decimals);
    const scaled = Math.round(size * power);
    if (scaled >= BEYOND_DIGITS) return undefined;
    if (scaled / power === size) return decimals;
  }
  return undefined;
}

/** Returns true when `size` has exactly `decimals` decimal places and at most 15 digits. */
function hasDecimals(size: number, decimals: number): boolean {
  const power = powerOf(decimals);
  const scaled = Math.round(size * power);
  return scaled / power === size && scaled < BEYOND_DIGITS && (decimals === 0 || scaled % 10 !== 0);
}

const POWERS = Array.from({ length: MAX_DECIMALS + 1 }, (_, decimals) => 10 ** decimals);

function powerOf(decimals: number): number {
  return POWERS[decimals] as number;
}

/** Writes the integer `digits` from right to left, with a dot before its last `decimals` digits. */
function writeDecimal(bytes: Uint8Array, at: number, digits: number, decimals: number): number {
  const count = Math.max(countDigits(digits), decimals + 1);
  const end = at + count + (decimals > 0 ? 1 : 0);
  // Splits the digits into two 32-bit integers, because the division of 32-bit integers is faster.
  let rest = digits % BEYOND_LOW;
  const high = (digits - rest) / BEYOND_LOW;
  let offset = end;
  for (let index = 0; index < count; index++) {
    if (index === LOW_DIGITS) rest = high;
    if (index === decimals && decimals > 0) bytes[--offset] = DOT;
    const tenth = (rest / 10) | 0;
    bytes[--offset] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

function countDigits(digits: number): number {
  let count = 1;
  for (let limit = 10; digits >= limit; limit *= 10) count++;
  return count;
}
