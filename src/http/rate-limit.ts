/** Rate limits at the doors (R-B15): per user on the API, per address where no bearer is asked for. */
import type { Context, MiddlewareHandler } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import { networkOf } from '../platform/address-rules.ts';
import { DomainError } from '../platform/errors.ts';
import { clientAddress } from './client-address.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface RateLimits {
  readonly limiter: RateLimiter;
  /** Requests of a user to the API in a minute; 0: any number. */
  readonly apiPerMinute: number;
  /** Requests of an address to the token issuer in a minute; 0: any number. */
  readonly tokenPerMinute: number;
  /** Proxies whose X-Forwarded-For is believed. */
  readonly proxyHops: number;
}

/** Comes after `authenticate`. */
export function limitCaller({ limiter, apiPerMinute }: RateLimits): MiddlewareHandler<CallerEnv> {
  return async (c, next) => {
    if (apiPerMinute > 0) assertInTime(c, await limiter.count(`user:${c.var.caller.userId}`, apiPerMinute));
    await next();
  };
}

/** What is only read there (keys, discovery, a page) is not counted. @param applies whether a path is such a door. */
export function limitAddress(limits: RateLimits, applies: (path: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'POST' && applies(c.req.path)) await countAddress(limits, c);
    await next();
  };
}

/** Counts one try of a secret from the address of the request. @throws DomainError rate_limited. */
export async function countAddress({ limiter, tokenPerMinute, proxyHops }: RateLimits, c: Context): Promise<void> {
  if (tokenPerMinute === 0) return;
  assertInTime(c, await limiter.count(`address:${networkOf(clientAddress(c, proxyHops))}`, tokenPerMinute));
}

function assertInTime(c: Context, waitMs: number): void {
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  c.header('Retry-After', String(seconds));
  throw new DomainError('rate_limited', `too many requests, please wait ${seconds} s`);
}
