/**
 * Numbers as ASCII bytes, the same texts as `String(value)`. What has up to six decimals and 15 digits, as nearly all that is
 * measured, is written digit by digit: a text for each of 5 million values is garbage that makes the heap grow.
 */

const MAX_DECIMALS = 6;
const BEYOND_DIGITS = 1e15;
const LOW_DIGITS = 9;
const BEYOND_LOW = 1e9;
const [ZERO, MINUS, DOT] = [0x30, 0x2d, 0x2e];

/** The longest is such as -0.0000010067770038988751: up to six zeros come before an exponent is written. */
export const NUMBER_BYTES = 25;

/** @param value finite. @returns the place after it. */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const size = Math.abs(value);
  const decimals = findDecimals(size);
  if (decimals === undefined) return writeAscii(bytes, at, `${value}`);
  let start = at;
  if (value < 0) bytes[start++] = MINUS;
  return writeDecimal(bytes, start, Math.round(size * 10 ** decimals), decimals);
}

/** Writes a short text of ASCII characters. @returns the place after it. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/**
 * Decimals of a number that has few. Two texts of at most 15 digits never mean the same number, so the one that means this
 * is its shortest.
 */
function findDecimals(size: number): number | undefined {
  let power = 1;
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++, power *= 10) {
    const scaled = Math.round(size * power);
    if (scaled >= BEYOND_DIGITS) return undefined;
    if (scaled / power === size) return decimals;
  }
  return undefined;
}

/** Writes `digits` with a point before the last `decimals` of them, from the right to the left. */
function writeDecimal(bytes: Uint8Array, at: number, digits: number, decimals: number): number {
  const count = Math.max(countDigits(digits), decimals + 1);
  const end = at + count + (decimals > 0 ? 1 : 0);
  // Two halves, each a small integer.
  let rest = digits % BEYOND_LOW;
  const high = (digits - rest) / BEYOND_LOW;
  let place = end;
  for (let index = 0; index < count; index++) {
    if (index === LOW_DIGITS) rest = high;
    if (index === decimals && decimals > 0) bytes[--place] = DOT;
    const tenth = (rest / 10) | 0;
    bytes[--place] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

function countDigits(digits: number): number {
  let count = 1;
  for (let limit = 10; digits >= limit; limit *= 10) count++;
  return count;
}
