/** The headers that are sent, and what the history shows of them (R-I3, R-I5). What may be added: ../header-rules.ts. */
import { findHeaderProblems } from '../header-rules.ts';

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
