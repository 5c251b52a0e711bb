/**
 * Decides which headers a webhook may add to deliveries (R-I1). Refuses headers that control the connection or the
 * framing, and headers that the service sets, except Content-Type.
 */

const MAX_HEADERS = 32;
const MAX_CHARACTERS = 8192;

/** The name of a header: a token of RFC 9110 §5.6.2. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** The value of a header: visible ASCII, spaces and tabs. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Refused names: hop-by-hop (RFC 9110 §7.6.1) and framing headers, headers that the service sets, `__proto__`. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', '__proto__'],
  ...['host', 'content-length', 'expect', 'user-agent', 'accept-encoding'],
]);
const REFUSED_PREFIXES = ['webhook-', 'proxy-'] as const;

export interface HeaderProblem {
  /** Name of the header at fault; undefined when the problem concerns all headers together. */
  readonly name?: string;
  readonly message: string;
}

/**
 * Validates the headers of a webhook (R-I1).
 * @param headers as given by a client.
 * @returns the problems; empty when the headers may be sent. The problems of single headers come first, at most one per
 *   header. The problems of the headers as a whole follow: too many headers, or too many characters in total.
 */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): readonly HeaderProblem[] {
  const entries = Object.entries(headers);
  const problems: HeaderProblem[] = entries.flatMap(([name, value]) => {
    const message = describeName(name, headers) ?? describeValue(value);
    return message === undefined ? [] : [{ name, message }];
  });
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  if (entries.length > MAX_HEADERS)
    problems.push({ message: `must have at most ${MAX_HEADERS} entries, got ${entries.length}` });
  if (characters > MAX_CHARACTERS)
    problems.push({
      message: `must have at most ${MAX_CHARACTERS} characters in all names and values together, got ${characters}`,
    });
  return problems;
}

function describeName(name: string, headers: Readonly<Record<string, unknown>>): string | undefined {
  const key = name.toLowerCase();
  if (!NAME.test(name)) return 'must be a valid HTTP header name, such as X-Api-Key';
  const isRefused = REFUSED.has(key) || REFUSED_PREFIXES.some((prefix) => key.startsWith(prefix));
  if (isRefused) return 'must not be given: this header name is reserved';
  const [first] = Object.keys(headers).filter((other) => other.toLowerCase() === key);
  return first === name ? undefined : `must not be given twice: this name differs from ${first} only in letter case`;
}

function describeValue(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  return VALUE.test(value) ? undefined : 'must contain only printable ASCII characters and tabs';
}
