/** Which headers a manager may add to deliveries (R-I1): none that frame the message or belong to the service. */

const MAX_HEADERS = 32;
const MAX_BYTES = 8192;

/** A token of RFC 9110 §5.6.2. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Visible ASCII, spaces and tabs: what every receiver reads the same way. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Hop-by-hop (RFC 9110 §7.6.1), about the framing, or the sender's own; and a key no object should have. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', '__proto__'],
  ...['host', 'content-length', 'expect', 'user-agent', 'accept-encoding'],
]);
const REFUSED_PREFIXES = ['webhook-', 'proxy-'] as const;

export interface HeaderProblem {
  /** The header; undefined: all of them. */
  readonly name?: string;
  readonly message: string;
}

/** @returns every problem; none: the headers may be sent. */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): readonly HeaderProblem[] {
  const entries = Object.entries(headers);
  const problems: HeaderProblem[] = entries.flatMap(([name, value]) => {
    const message = describeName(name, headers) ?? describeValue(value);
    return message === undefined ? [] : [{ name, message }];
  });
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  if (entries.length > MAX_HEADERS) problems.push({ message: `must have at most ${MAX_HEADERS} entries` });
  if (bytes > MAX_BYTES) problems.push({ message: `must be at most ${MAX_BYTES} bytes, names and values together` });
  return problems;
}

function describeName(name: string, headers: Readonly<Record<string, unknown>>): string | undefined {
  const key = name.toLowerCase();
  if (!NAME.test(name)) return 'must have a name of letters, digits and -, as HTTP has it';
  const isRefused = REFUSED.has(key) || REFUSED_PREFIXES.some((prefix) => key.startsWith(prefix));
  if (isRefused) return 'is set by the service and cannot be given';
  const [first] = Object.keys(headers).filter((other) => other.toLowerCase() === key);
  return first === name ? undefined : `is given twice: as ${first} too`;
}

function describeValue(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text';
  return VALUE.test(value) ? undefined : 'must have printable ASCII characters only';
}
