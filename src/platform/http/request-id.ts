/** Request ids (R-A10): taken from `X-Request-Id` or generated; logs, jobs and error bodies contain them. */
import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

export interface RequestIdEnv {
  Variables: { requestId: string };
}

const ACCEPTED = /^[\w.:-]{1,128}$/;

/**
 * Returns true when a request id from a client is accepted. An accepted id has 1 to 128 characters, each one of
 * `A-Z a-z 0-9 _ . : -`, so that it cannot break a log line (R-A10).
 */
export function isRequestId(given: string): boolean {
  return ACCEPTED.test(given);
}

/**
 * Creates middleware that sets `c.var.requestId` and the response header (R-A10). Generates a request id when the
 * client sends no id, or sends an id that `isRequestId` does not accept.
 */
export function requestId(): MiddlewareHandler<RequestIdEnv> {
  return async (c, next) => {
    const given = c.req.header('x-request-id') ?? '';
    c.set('requestId', isRequestId(given) ? given : randomUUID());
    c.header('X-Request-Id', c.var.requestId);
    await next();
  };
}
