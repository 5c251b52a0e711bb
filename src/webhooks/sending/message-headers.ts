/** The headers that are sent, and what the history shows of them (R-I3, R-I5). What may be added: ../header-rules.ts. */
import { findHeaderProblems } from '../header-rules.ts';

const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

const CREDENTIAL = /auth|token|secret|passw|credential|cookie|signature|session|(^|[-_])key|apikey/i;

/** What the history shows in place of a credential. */
export const MASK = '***';

/** The service's own over those of the webhook, of which what may not be sent is left out; names in lower case. */
export function mergeHeaders(
  own: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const refused = new Set(findHeaderProblems(own).map(({ name }) => name));
  const sent = Object.entries(own).filter(([name]) => !refused.has(name));
  return Object.fromEntries([...sent.map(([name, value]) => [name.toLowerCase(), value]), ...Object.entries(ours)]);
}

/** The type of the body: JSON unless the webhook's headers say otherwise. */
export function contentTypeOf(own: Readonly<Record<string, string>>): string {
  const given = Object.entries(own).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return given ?? 'application/json';
}

/** Headers as the history shows them: those of the webhook's own that look like a credential are masked. */
export function maskCredentials(
  sent: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(sent).map(([name, value]) => {
    return [name, !Object.hasOwn(ours, name) && CREDENTIAL.test(name) ? MASK : value];
  });
  return Object.fromEntries(entries);
}

/** @returns milliseconds to wait, at most a day; undefined for what is neither. */
export function parseRetryAfter(text: string | undefined, nowMillis: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : (parseHttpDate(text) - nowMillis) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds * 1000), 0), MAX_RETRY_AFTER_MS);
}

/** All three spellings of HTTP name the day of the week first; anything else Date.parse might take is left alone. */
function parseHttpDate(text: string): number {
  const isHttpDate = /^\s*(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text);
  if (!isHttpDate) return Number.NaN;
  return Date.parse(/GMT\s*$/.test(text) ? text : `${text.trim()} GMT`);
}
