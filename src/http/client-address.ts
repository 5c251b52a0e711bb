/** Where a request comes from. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * The address of the client. X-Forwarded-For is believed only as far as our own proxies wrote it: the entry that many
 * from its end; what stands before it anybody may have sent.
 */
export function clientAddress(c: Context, proxyHops: number): string {
  const { incoming } = c.env as Partial<HttpBindings>;
  const connected = incoming?.socket.remoteAddress ?? 'unknown';
  if (proxyHops === 0) return connected;
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').flatMap((part) => part.trim() || []);
  return forwarded.at(-proxyHops) ?? forwarded[0] ?? connected;
}
