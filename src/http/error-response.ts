/** Errors as bodies (R-A5): `{code, message, details?, requestId}`. A bug shows nothing of itself but its request id. */
import type { Context, ErrorHandler, NotFoundHandler } from 'hono';
import { isDependencyError, isReferenceViolation } from '../platform/dependency-error.ts';
import { DomainError, ERROR_MAPPINGS } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { RequestIdEnv } from '../platform/request-id.ts';

const RETRY_AFTER_SEC = '2';

export function errorHandler(log: Log): ErrorHandler<RequestIdEnv> {
  return (error, c) => respond(c, toDomainError(error, c, log));
}

export const notFoundHandler: NotFoundHandler<RequestIdEnv> = (c) =>
  respond(c, new DomainError('not_found', `there is nothing at ${c.req.method} ${c.req.path}`));

function toDomainError(error: unknown, c: Context<RequestIdEnv>, log: Log): DomainError {
  if (error instanceof DomainError) return error;
  const { requestId } = c.var;
  if (isDependencyError(error)) {
    log.warn({ err: error, requestId }, 'a dependency is down');
    return new DomainError('dependency_unavailable', 'a part of the service is down; please try again');
  }
  if (isReferenceViolation(error)) {
    return new DomainError('conflict', 'something this refers to was changed at the same time; please try again');
  }
  log.error({ err: error, requestId }, 'request failed');
  return new DomainError('internal_error', 'something went wrong on our side');
}

function respond(c: Context<RequestIdEnv>, { code, message, details }: DomainError): Response {
  const status = ERROR_MAPPINGS[code].http;
  if (status === 503) c.header('Retry-After', RETRY_AFTER_SEC);
  return c.json({ code, message, ...(details && { details }), requestId: c.var.requestId }, status);
}
