/** Rate limits (R-B15): per user on the API, per client network where secrets are tried without a bearer token. */
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import { networkOf } from '../platform/address-ranges.ts';
import { DomainError } from '../platform/errors.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface RateLimits {
  readonly limiter: RateLimiter;
  /** Requests per minute of one user to the API; 0 means no limit. */
  readonly apiPerMinute: number;
  /** Requests per minute from one client network to the token issuer; 0 means no limit. */
  readonly tokenPerMinute: number;
  /** Number of own proxies that append to X-Forwarded-For; 0 ignores the header. */
  readonly proxyHops: number;
}

/**
 * Middleware that limits the caller's requests (R-B15). It runs after `authenticate`.
 * @throws {DomainError} rate_limited, with `Retry-After` set.
 */
export function limitCaller({ limiter, apiPerMinute }: RateLimits): MiddlewareHandler<CallerEnv> {
  return async (c, next) => {
    if (apiPerMinute > 0) assertAllowed(c, await limiter.count(`user:${c.var.caller.userId}`, apiPerMinute));
    await next();
  };
}

/**
 * Middleware that limits POST requests of a client network (R-B15). Reads (keys, discovery, pages) are not counted.
 * @param applies whether requests to a path are counted.
 * @throws {DomainError} rate_limited, with `Retry-After` set.
 */
export function limitAddress(limits: RateLimits, applies: (path: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'POST' && applies(c.req.path)) await countAddress(limits, c);
    await next();
  };
}

/**
 * Counts one attempt to use a secret against the limit of the client's network (R-B15).
 * @throws {DomainError} rate_limited, with `Retry-After` set.
 */
export async function countAddress({ limiter, tokenPerMinute, proxyHops }: RateLimits, c: Context): Promise<void> {
  if (tokenPerMinute === 0) return;
  assertAllowed(c, await limiter.count(`address:${networkOf(clientAddress(c, proxyHops))}`, tokenPerMinute));
}

function assertAllowed(c: Context, waitMs: number): void {
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  c.header('Retry-After', String(seconds));
  throw new DomainError('rate_limited', `too many requests; retry after ${seconds} s`);
}

/** The client's address: the entry `proxyHops` from the end of X-Forwarded-For. Clients can forge all entries before it. */
function clientAddress(c: Context, proxyHops: number): string {
  const { incoming } = c.env as Partial<HttpBindings>;
  const connected = incoming?.socket.remoteAddress ?? 'unknown';
  if (proxyHops === 0) return connected;
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').flatMap((part) => part.trim() || []);
  return forwarded.at(-proxyHops) ?? forwarded[0] ?? connected;
}
