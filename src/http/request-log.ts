/** One line per request (R-K4): no query, no body, no header. Health checks and scrapes are left out. */
import type { MiddlewareHandler } from 'hono';
import type { Caller } from '../identity/caller/caller.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';

type Env = RequestIdEnv & { Variables: { caller?: Caller } };

export function requestLog(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startMs = performance.now();
    await next();
    if (c.req.path.startsWith('/health/') || c.req.path === '/metrics') return;
    const { requestId, caller } = c.var;
    const durationMs = Math.round((performance.now() - startMs) * 10) / 10;
    // Who really acts stands beside whom they act as (R-B14).
    const account = caller && { accountId: caller.accountId, userId: caller.userId, actorUserId: caller.actor?.userId };
    log.info(
      { requestId, ...account, method: c.req.method, path: c.req.path, status: c.res.status, durationMs },
      'request',
    );
  };
}
