/** Errors as bodies (R-A5): `{code, message, details?, requestId}`. A bug shows nothing of itself but its request id. */
import type { Context, ErrorHandler, NotFoundHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { renderProblem } from '../identity/pages/problem-page.ts';
import { isDependencyError, isReferenceViolation } from '../platform/database/dependency-error.ts';
import { DomainError, ERROR_MAPPINGS } from '../platform/errors.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';

const RETRY_AFTER_SEC = '2';

interface Paths {
  /** Whether people look at what is at a path: who asks for HTML there gets a page. */
  readonly isPage: (path: string) => boolean;
  /** Whether it is the token issuer's, whose clients read `error`. */
  readonly isIssuers: (path: string) => boolean;
}

const NO_SUCH_PATHS: Paths = { isPage: () => false, isIssuers: () => false };

export function errorHandler(log: Log, { isPage, isIssuers }: Paths = NO_SUCH_PATHS): ErrorHandler<RequestIdEnv> {
  return (error, c) => {
    const refusal = toDomainError(error, c, log);
    const isShown = isPage(c.req.path) && wantsHtml(c);
    return (isShown && respondWithPage(c, refusal)) || respond(c, refusal, isIssuers(c.req.path));
  };
}

/** What clients of an issuer look at first (RFC 6749 §5.2, §4.1.2.1), beside the body all errors have. */
function oauthError({ code, message }: DomainError): object {
  const { http } = ERROR_MAPPINGS[code];
  const isLater = http === 429 || http === 503;
  const error = isLater ? 'temporarily_unavailable' : http === 500 ? 'server_error' : 'invalid_request';
  return { error, error_description: message };
}

/** A browser names it; programs that take anything get JSON. */
function wantsHtml(c: Context): boolean {
  const supports = ['application/json', 'text/html'];
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

function respondWithPage(c: Context<RequestIdEnv>, { code }: DomainError): Response | undefined {
  const status = ERROR_MAPPINGS[code].http;
  const waitSec = Number(c.res.headers.get('retry-after') ?? Number.NaN) || undefined;
  const languages = c.req.header('accept-language');
  const page = renderProblem({ status, waitSec, requestId: c.var.requestId, languages });
  if (!page) return undefined;
  if (status === 503) c.header('Retry-After', RETRY_AFTER_SEC);
  return c.body(page.html, status, page.headers);
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

function respond(c: Context<RequestIdEnv>, refusal: DomainError, isIssuers = false): Response {
  const { code, message, details } = refusal;
  const status = ERROR_MAPPINGS[code].http;
  if (status === 503) c.header('Retry-After', RETRY_AFTER_SEC);
  const body = { code, message, ...(details && { details }), requestId: c.var.requestId };
  return c.json(isIssuers ? { ...oauthError(refusal), ...body } : body, status);
}
