/**
 * Limits the API requests of each user. Requests that use a secret and have no bearer token are limited per client
 * network (R-B15).
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import { assertRate } from '../platform/errors.ts';
import { clientNetwork } from '../platform/http/client-network.ts';
import { incomingOf } from '../platform/http/http-body.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { UserBudget } from './user-budget.ts';

export interface RateLimits {
  readonly limiter: RateLimiter;
  readonly users: UserBudget;
  /** Maximum number of attempts to use a secret, per minute and client network; 0 means no limit. */
  readonly tokenPerMinute: number;
  /** How many proxies of the operator append to X-Forwarded-For. When it is 0, the header is ignored. */
  readonly proxyHops: number;
}

// The cost of an API request that is not a push is 1; such a request takes about 2 ms of processor time. A push costs
// less, because it takes about 0.2 ms, or less than 0.1 ms on the fast path (push/MEASUREMENTS.md).
const PUSH_COST = 0.1;
export const FAST_PUSH_COST = 0.01;

/**
 * Creates middleware that limits the requests of each user (R-B15). Mount this middleware after `authenticate`. When
 * the budget of the user is used up, the middleware throws rate_limited. If the user ignores many refusals, the
 * middleware also closes the connection.
 * @param costOf function that returns the cost of a request; the cost of an ordinary request is 1.
 */
export function limitCaller(
  { users }: RateLimits,
  costOf: (c: Context) => number = () => 1,
): MiddlewareHandler<CallerEnv> {
  return async (c, next) => {
    const { userId } = c.var.caller;
    const waitMs = await users.count(userId, costOf(c));
    if (waitMs > 0 && users.isFlooding(userId)) c.header('Connection', 'close');
    assertRate(waitMs, users.rule);
    await next();
  };
}

/** Cost of a request below `/api`; a push, in any format, costs less than other requests. */
export function costOfPush({ req }: Context): number {
  return req.method === 'POST' && /^\/api\/(data|generic\/[^/]+)$/i.test(req.path) ? PUSH_COST : 1;
}

/**
 * Creates middleware that limits the POST requests of a client network (R-B15), and throws rate_limited above the
 * limit. Reads (keys, discovery, pages) are not counted.
 * @param applies function that returns true for a path whose POST requests are counted.
 */
export function limitAddress(limits: RateLimits, applies: (path: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'POST' && applies(c.req.path)) await countAddress(limits, c);
    await next();
  };
}

/**
 * Counts one attempt to use a secret. Each client network (an IPv4 address or an IPv6 /64) has its own count (R-B15).
 * @throws {DomainError} rate_limited when the network of this client exceeds the limit.
 */
export async function countAddress({ limiter, tokenPerMinute, proxyHops }: RateLimits, c: Context): Promise<void> {
  if (tokenPerMinute === 0) return;
  const waitMs = await limiter.count(`address:${clientNetwork(incomingOf(c.env), proxyHops)}`, tokenPerMinute);
  const rule = `one network (an IPv4 address or an IPv6 /64) may send secrets, such as passwords, at most ${tokenPerMinute} times per minute`;
  assertRate(waitMs, rule);
}
