/**
 * How many requests a minute (R-B15), as the generic cell rate algorithm: a whole minute's worth may come at once, then
 * one more each time its share of the minute has passed. One instant per key is all that is kept.
 */
const MINUTE_MS = 60_000;
const IPV6_GROUPS = 8;

export interface RateDecision {
  /** To keep for the key: when all that was used is earned back; unchanged by a refusal. */
  readonly fullAtMs: number;
  /** 0: let it pass; else wait so many milliseconds. */
  readonly waitMs: number;
}

/** @param fullAtMs what was kept for the key; absent at first. */
export function planRequest(fullAtMs: number | undefined, nowMs: number, perMinute: number): RateDecision {
  const before = Math.max(fullAtMs ?? nowMs, nowMs);
  const after = before + MINUTE_MS / perMinute;
  const waitMs = after - nowMs - MINUTE_MS;
  // A share may be no whole number: rounding must not cost the last request of a minute.
  return waitMs > 1e-6 ? { fullAtMs: before, waitMs } : { fullAtMs: after, waitMs: 0 };
}

const IPV4_PORT = /^((?:\d{1,3}\.){3}\d{1,3}):\d+$/;
const BRACKETS = /^\[([^\]]*)\](?::\d+)?$/;
const MAPPED = /^::ffff:((?:\d{1,3}\.){3}\d{1,3})$/i;

/**
 * Whom an address is counted as: itself, without the port some proxies add; of IPv6 its network of 64 bits, as that is
 * what one client gets, and may take any address of.
 */
export function networkOf(address: string): string {
  const bare = BRACKETS.exec(address)?.[1] ?? IPV4_PORT.exec(address)?.[1] ?? address;
  const ipv4 = MAPPED.exec(bare)?.[1];
  if (ipv4 !== undefined || !bare.includes(':')) return ipv4 ?? bare;
  const halves = bare.toLowerCase().replace(/%.*$/, '').split('::');
  const [first = [], second = []] = halves.map((half) => half.split(':').filter(Boolean));
  const missing = Math.max(0, IPV6_GROUPS - first.length - second.length);
  const groups = [...first, ...Array.from({ length: missing }, () => '0'), ...second];
  const network = groups.slice(0, IPV6_GROUPS / 2).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
