/**
 * Skips JSON tokens in bytes without decoding or validating them; callers pass the skipped bytes to JSON.parse. Each `skip…`
 * returns the position after the token, or -1 if the token is of another kind or does not end.
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

/** @returns the position of the first byte at or after `at` that is not white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let place = at;
  while (isSpace(bytes[place])) place += 1;
  return place;
}

/** @param at position after a member's name. @returns the position of its value. */
export function skipColon(bytes: Uint8Array, at: number): number {
  const colon = skipSpace(bytes, at);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

/** @param at position of the opening quote. */
export function skipText(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return -1;
  for (let place = at + 1; place < bytes.length; place += 1) {
    const byte = bytes[place];
    if (byte === QUOTE) return place + 1;
    if (byte === BACKSLASH) place += 1;
  }
  return -1;
}

/** Skips an object or array with its contents. */
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
 * Whether the quoted string at `at` equals `lower`, ignoring case.
 * @param lower ASCII letters in lower case.
 */
export function hasName(bytes: Uint8Array, at: number, lower: Uint8Array): boolean {
  if (bytes[at] !== QUOTE || bytes[at + 1 + lower.length] !== QUOTE) return false;
  for (let index = 0; index < lower.length; index += 1) {
    // Only a letter and its capital become that letter when bit 0x20 is set.
    if (((bytes[at + 1 + index] as number) | 0x20) !== lower[index]) return false;
  }
  return true;
}
