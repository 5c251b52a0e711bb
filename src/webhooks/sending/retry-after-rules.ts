/** The header Retry-After (RFC 9110 §10.2.3): seconds, or an instant. */

const MAX_MS = 24 * 3_600_000;

/** @returns milliseconds to wait, at most a day; undefined for what is neither. */
export function parseRetryAfter(text: string | undefined, nowMillis: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : (parseHttpDate(text) - nowMillis) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds * 1000), 0), MAX_MS);
}

/** All three spellings of HTTP name the day of the week first; anything else Date.parse might take is left alone. */
function parseHttpDate(text: string): number {
  const isHttpDate = /^\s*(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text);
  if (!isHttpDate) return Number.NaN;
  return Date.parse(/GMT\s*$/.test(text) ? text : `${text.trim()} GMT`);
}
