/**
 * Turns errors into responses (R-A5): JSON `{code, message, details?, requestId}`, or a page for browsers. The token
 * issuer's JSON also has the OAuth members. For a bug, the response reveals only the request id; the log has the rest.
 */
import type { Context, ErrorHandler, NotFoundHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { renderProblem } from '../identity/pages/problem-page.ts';
import { isReferenceViolation, isTransientError } from '../platform/database/dependency-error.ts';
import { DomainError, ERROR_MAPPINGS } from '../platform/errors.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';

const RETRY_AFTER_SEC = '2';

interface Paths {
  /** Whether the path serves HTML pages. If so, a client that prefers HTML gets errors as HTML pages. */
  readonly isPage: (path: string) => boolean;
  /** Whether the token issuer serves the path. If so, errors also have `error` for OAuth clients (RFC 6749 §5.2). */
  readonly isIssuerPath: (path: string) => boolean;
}

const API_ONLY: Paths = { isPage: () => false, isIssuerPath: () => false };

/**
 * Creates the handler of every error of the app (R-A5). The code of a `DomainError` determines the status. A transient
 * error, such as an unavailable dependency, is answered with 503, a violated foreign key with 409. Any other error is
 * logged and answered with 500.
 */
export function errorHandler(log: Log, { isPage, isIssuerPath }: Paths = API_ONLY): ErrorHandler<RequestIdEnv> {
  return (error, c) => {
    const refusal = toDomainError(error, c, log);
    const page = isPage(c.req.path) && wantsHtml(c) ? respondWithPage(c, refusal) : undefined;
    return page ?? respond(c, refusal, isIssuerPath(c.req.path));
  };
}

/**
 * @returns the members that an OAuth client reads (RFC 6749 §5.2, §4.1.2.1). `respond` adds the members that every
 * error has.
 */
function oauthError({ code, message }: DomainError): object {
  const { http } = ERROR_MAPPINGS[code];
  const isLater = http === 429 || http === 503;
  const error = isLater ? 'temporarily_unavailable' : http === 500 ? 'server_error' : 'invalid_request';
  return { error, error_description: message };
}

/** @returns true when `Accept` prefers HTML, as browsers do; false for a client that accepts any type. */
function wantsHtml(c: Context): boolean {
  const supports = ['application/json', 'text/html'];
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

function respondWithPage(c: Context<RequestIdEnv>, { code, retryAfterSec }: DomainError): Response | undefined {
  const status = ERROR_MAPPINGS[code].http;
  const waitSec = retryAfterSec ?? (Number(c.res.headers.get('retry-after') ?? Number.NaN) || undefined);
  const languages = c.req.header('accept-language');
  const page = renderProblem({ status, waitSec, requestId: c.var.requestId, languages });
  if (!page) return undefined;
  if (status === 503 || status === 429) c.header('Retry-After', String(waitSec ?? RETRY_AFTER_SEC));
  return c.body(page.html, status, page.headers);
}

/** Answers 404 `not_found` for a path or method without a route (R-A5). */
export const notFoundHandler: NotFoundHandler<RequestIdEnv> = (c) =>
  respond(c, new DomainError('not_found', `no route matches ${c.req.method} ${c.req.path}`));

const DEPENDENCY_FAILED =
  'a request failed because of a dependency (see the cause of err); the client can repeat the request';

function toDomainError(error: unknown, c: Context<RequestIdEnv>, log: Log): DomainError {
  const { requestId } = c.var;
  if (error instanceof DomainError) {
    if (error.cause !== undefined) log.warn({ err: error, requestId }, DEPENDENCY_FAILED);
    return error;
  }
  if (isTransientError(error)) {
    log.warn({ err: error, requestId }, 'a request failed because of a transient error; the client may retry');
    return new DomainError(
      'dependency_unavailable',
      'a dependency of the service is unavailable, or the service is busy; retry the request',
    );
  }
  if (isReferenceViolation(error)) {
    return new DomainError('conflict', 'a referenced resource changed during the request; retry the request');
  }
  log.error({ err: error, requestId }, 'request failed');
  return new DomainError(
    'internal_error',
    'the service failed to process the request; quote the request id when you report this',
  );
}

function respond(c: Context<RequestIdEnv>, refusal: DomainError, isIssuerPath = false): Response {
  const { code, message, details, retryAfterSec = RETRY_AFTER_SEC } = refusal;
  const status = ERROR_MAPPINGS[code].http;
  if (status === 503 || status === 429) c.header('Retry-After', String(retryAfterSec));
  // The rest of the body is not read, so the connection cannot carry another request.
  if (status === 413) c.header('Connection', 'close');
  const body = { code, message, ...(details && { details }), requestId: c.var.requestId };
  return c.json(isIssuerPath ? { ...oauthError(refusal), ...body } : body, status);
}
