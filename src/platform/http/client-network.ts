/** Finds the network that a request comes from (R-B11, R-B15). */
import type { IncomingMessage } from 'node:http';
import { networkOf } from '../address-ranges.ts';

/**
 * @param incoming undefined when the app runs without a Node server.
 * @param proxyHops value of PROXY_HOPS. If it is 0, the address of the connection is used. Otherwise the entry at this
 * position from the end of X-Forwarded-For is used, because clients can forge earlier entries. If the header has fewer
 * entries, its first entry is used; if it has none, the address of the connection is used.
 * @returns an IPv4 address or an IPv6 /64; other text when no address is known.
 */
export function clientNetwork(
  incoming: Pick<IncomingMessage, 'headers' | 'socket'> | undefined,
  proxyHops: number,
): string {
  const connected = incoming?.socket.remoteAddress ?? 'unknown';
  if (proxyHops === 0) return networkOf(connected);
  const header = incoming?.headers['x-forwarded-for'] ?? '';
  const forwarded = String(header)
    .split(',')
    .flatMap((part) => part.trim() || []);
  return networkOf(forwarded.at(-proxyHops) ?? forwarded[0] ?? connected);
}
