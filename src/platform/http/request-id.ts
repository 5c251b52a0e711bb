/** Every request has an id, taken from `X-Request-Id` or made here; it reaches logs, jobs and error bodies (R-A10). */
import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

export interface RequestIdEnv {
  Variables: { requestId: string };
}

const ACCEPTED = /^[\w.:-]{1,128}$/;

/** Whether an id that was given can be used: one that could break a log line cannot. */
export function isRequestId(given: string): boolean {
  return ACCEPTED.test(given);
}

/** Sets `c.var.requestId` and echoes it. An id that could break a log line is replaced. */
export function requestId(): MiddlewareHandler<RequestIdEnv> {
  return async (c, next) => {
    const given = c.req.header('x-request-id') ?? '';
    c.set('requestId', isRequestId(given) ? given : randomUUID());
    c.header('X-Request-Id', c.var.requestId);
    await next();
  };
}
