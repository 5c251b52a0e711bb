/**
 * Ways through the bytes of JSON without making anything of them. What is passed over is not checked: whoever uses it has
 * JSON.parse read it. All return the place after what was passed, -1 where it does not end or is something else.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const BACKSLASH = 0x5c;
const [SPACE, TAB, LINE_FEED, CARRIAGE_RETURN] = [0x20, 0x09, 0x0a, 0x0d];

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

/** @returns the place of the first byte at or after `at` that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let place = at;
  while (isSpace(bytes[place])) place += 1;
  return place;
}

/** @param at of a member's name. @returns the place of its value. */
export function skipColon(bytes: Uint8Array, at: number): number {
  const colon = skipSpace(bytes, at);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

/** @param at of the opening quote. */
export function skipText(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (let place = at + 1; place < bytes.length; place += 1) {
    const byte = bytes[place];
    if (byte === QUOTE) return place + 1;
    if (byte === BACKSLASH) place += 1;
  }
  return -1;
}

/** An object or array, whatever is in it. */
export function skipNested(bytes: Uint8Array, at: number): number {
  let depth = 0;
  let place = at;
  while (place < bytes.length) {
    const byte = bytes[place];
    if (byte === QUOTE) {
      place = skipText(bytes, place);
      if (place < 0) return -1;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    place += 1;
    if (depth <= 0) return depth === 0 && place > at + 1 ? place : -1;
  }
  return -1;
}

export function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipText(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, at);
  let place = at;
  while (place < bytes.length && !endsWord(bytes[place])) place += 1;
  return place > at ? place : -1;
}

function endsWord(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

/**
 * Whether a text in quotes stands there, in any case.
 * @param lower letters of ASCII, in lower case.
 */
export function hasName(bytes: Uint8Array, at: number, lower: Uint8Array): boolean {
  if (bytes[at] !== QUOTE || bytes[at + 1 + lower.length] !== QUOTE) return false;
  for (let index = 0; index < lower.length; index += 1) {
    // Of all bytes only the letter itself and its capital give the letter.
    if (((bytes[at + 1 + index] as number) | 0x20) !== lower[index]) return false;
  }
  return true;
}
