/** Request ids (R-A10): taken from `X-Request-Id` or generated; logs, jobs and error bodies contain them. */
import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

export interface RequestIdEnv {
  Variables: { requestId: string };
}

const ACCEPTED = /^[\w.:-]{1,128}$/;

/** Returns true if a client's request id is short enough and cannot break a log line (R-A10). */
export function isRequestId(given: string): boolean {
  return ACCEPTED.test(given);
}

/**
 * Creates middleware that sets `c.var.requestId` and the response header (R-A10). Generates a request id if the client
 * sends none or an invalid one.
 */
export function requestId(): MiddlewareHandler<RequestIdEnv> {
  return async (c, next) => {
    const given = c.req.header('x-request-id') ?? '';
    c.set('requestId', isRequestId(given) ? given : randomUUID());
    c.header('X-Request-Id', c.var.requestId);
    await next();
  };
}
