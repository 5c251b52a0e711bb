/** Logs one line per request (R-K4), without query, body and headers. Health checks and scrapes are not logged. */
import type { MiddlewareHandler } from 'hono';
import type { Caller } from '../identity/caller/caller.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';

type Env = RequestIdEnv & { Variables: { caller?: Caller } };

/** Middleware; it runs after `requestId`. The caller is logged where a later middleware has set it. */
export function requestLog(log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startMs = performance.now();
    await next();
    if (c.req.path.startsWith('/health/') || c.req.path === '/metrics') return;
    const { requestId, caller } = c.var;
    const durationMs = Math.round((performance.now() - startMs) * 10) / 10;
    // A user who acts as another one is logged as actorUserId (R-B14).
    const account = caller && { accountId: caller.accountId, userId: caller.userId, actorUserId: caller.actor?.userId };
    log.info(
      { requestId, ...account, method: c.req.method, path: c.req.path, status: c.res.status, durationMs },
      'request',
    );
  };
}
