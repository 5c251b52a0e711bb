/**
 * Builds the headers of a request, as sent and as shown in the history (R-I3, R-I5), and parses `Retry-After` of the
 * response. ../header-rules.ts decides which headers a webhook may add.
 */
import { MAX_RETRY_AFTER_MS } from '../delivery/retry-rules.ts';
import { findHeaderProblems } from '../header-rules.ts';

const CREDENTIAL = /auth|token|secret|passw|credential|cookie|signature|session|(^|[-_])key|apikey/i;

/** Text that replaces credentials in the history. */
export const MASK = '***';

/**
 * Merges the allowed headers of the webhook with the headers of the service (R-I3). When both contain a name, the value
 * of the service is used.
 * @param own the headers of the webhook, including those that are not allowed.
 * @param ours the headers of the service, with names in lower case.
 * @returns the merged headers, with names in lower case.
 */
export function mergeHeaders(
  own: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const refused = new Set(findHeaderProblems(own).map(({ name }) => name));
  const sent = Object.entries(own).filter(([name]) => !refused.has(name));
  return Object.fromEntries([...sent.map(([name, value]) => [name.toLowerCase(), value]), ...Object.entries(ours)]);
}

/** @returns the `Content-Type` among the headers of the webhook; application/json by default. */
export function contentTypeOf(own: Readonly<Record<string, string>>): string {
  const given = Object.entries(own).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return given ?? 'application/json';
}

/**
 * @returns the headers to show in the history (R-I5). Masks the values of the webhook's own headers whose names suggest
 * a credential.
 */
export function maskCredentials(
  sent: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(sent).map(([name, value]) => {
    return [name, !Object.hasOwn(ours, name) && CREDENTIAL.test(name) ? MASK : value];
  });
  return Object.fromEntries(entries);
}

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3): seconds or an HTTP date.
 * @returns the milliseconds to wait, at least 0 and at most one day; undefined when the header is absent or malformed.
 */
export function parseRetryAfter(text: string | undefined, nowMillis: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : (parseHttpDate(text) - nowMillis) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds * 1000), 0), MAX_RETRY_AFTER_MS);
}

/** All three HTTP date formats start with a day of the week. Date.parse accepts much more, so the day is required. */
function parseHttpDate(text: string): number {
  const isHttpDate = /^\s*(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text);
  if (!isHttpDate) return Number.NaN;
  return Date.parse(/GMT\s*$/.test(text) ? text : `${text.trim()} GMT`);
}
