/**
 * Parse the JSON of clients, scripts and the database with this file, not with `JSON.parse`. V8 can replace an escaped
 * key, such as `\n`, by a key of an earlier object, even of another account (nodejs/node issue 63785, found in Node.js
 * 24 and 26).
 */

/**
 * Matches the end of a key that contains an escape: the last escape of the key, the characters after this escape, the
 * closing quote, and the colon.
 */
const ESCAPED_KEY = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*"\s*:/;
/**
 * First character of each replacement key. Original keys that contain this character are replaced too, so only
 * replacement keys begin with it.
 */
const MARK = '\ue000';
const [QUOTE, BACKSLASH, COLON, SPACE] = [0x22, 0x5c, 0x3a, 0x20];

export type JsonReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * Parses a JSON text, as `JSON.parse` does. Keys that contain escapes are replaced before the parsing and restored
 * afterwards.
 * @param reviver must not depend on keys, because it gets a replacement for each key that has an escape.
 * @throws {SyntaxError} in the same cases as `JSON.parse`.
 */
export function parseJsonText(text: string, reviver?: JsonReviver): unknown {
  if (!text.includes('\\') || !ESCAPED_KEY.test(text)) return JSON.parse(text, reviver as never);
  // Refuses invalid JSON before the text is rewritten, so that an error names positions in the original text.
  JSON.parse(text);
  const { rewritten, keys } = replaceKeys(text);
  return restoreKeys(JSON.parse(rewritten, reviver as never), keys);
}

/**
 * Replaces each key that contains an escape or `MARK`. The new key is `MARK`, followed by the index of the old key in
 * `keys`.
 * @param text must be valid JSON.
 */
function replaceKeys(text: string): { readonly rewritten: string; readonly keys: readonly string[] } {
  const indexes = new Map<string, number>();
  let rewritten = '';
  let copied = 0;
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const end = endOfString(text, quote);
    const raw = text.slice(quote, end);
    if ((raw.includes('\\') || raw.includes(MARK)) && isColonNext(text, end)) {
      const index = indexes.get(raw) ?? indexes.size;
      indexes.set(raw, index);
      rewritten += `${text.slice(copied, quote)}"${MARK}${index}"`;
      copied = end;
    }
    quote = text.indexOf('"', end);
  }
  const keys = [...indexes.keys()].map((raw) => JSON.parse(raw) as string);
  return { rewritten: rewritten + text.slice(copied), keys };
}

/** @returns the index after the string that starts at `quote`; the length of the text when the string has no end. */
export function endOfString(text: string, quote: number): number {
  for (let index = quote + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index + 1;
    if (code === BACKSLASH) index += 1;
  }
  return text.length;
}

/** @returns true when the first character other than white space, at or after `index`, is a colon. */
function isColonNext(text: string, index: number): boolean {
  let at = index;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Restores the keys of all objects, without recursion, because a document may be nested deeply. */
function restoreKeys(parsed: unknown, keys: readonly string[]): unknown {
  const root = { parsed };
  const open: Record<string, unknown>[] = [root];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const name of Object.keys(holder)) {
      const member = holder[name];
      if (typeof member !== 'object' || member === null) continue;
      const restored = withRestoredKeys(member as Record<string, unknown>, keys);
      holder[name] = restored;
      open.push(restored);
    }
  }
  return root.parsed;
}

/**
 * @returns a copy of the object with the original keys in the same order; the object itself if it has no replacement
 *   key.
 */
function withRestoredKeys(object: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  if (Array.isArray(object) || !Object.keys(object).some((name) => name.startsWith(MARK))) return object;
  const original = (name: string) => (name.startsWith(MARK) ? (keys[Number(name.slice(MARK.length))] ?? name) : name);
  // `fromEntries` turns the key `__proto__` into an ordinary member; an assignment to this key would set the prototype.
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [original(name), member]));
}
