/**
 * Assembles the HTTP app from three groups of routes, in this order (R-B6):
 * - routes that need no access token, such as the issuer, health and the API description;
 * - push routes, which need the scope `push-data`;
 * - all other routes, which need the scope `datahub-api`.
 */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { cors } from 'hono/cors';
import { type Authentication, type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import { openBasicAuthentication } from '../identity/authentication/authenticate-push.ts';
import type { ExchangePassword } from '../identity/authentication/exchange-password.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type HealthCheck, healthRoutes } from '../platform/health/health.ts';
import { apiVersion } from '../platform/http/api-version.ts';
import { type RequestIdEnv, requestId } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { runForAccount } from '../platform/shares/connection-shares.ts';
import { COMPRESSION_THRESHOLD_BYTES, completeAnswers } from './complete-answers.ts';
import { errorHandler, notFoundHandler } from './error-response.ts';
import { countRequests, createRequestCounter } from './http-metrics.ts';
import { metricsHandlers } from './metrics-access.ts';
import { costOfPush, countAddress, limitAddress, limitCaller, type RateLimits } from './rate-limit.ts';

export interface AppParts {
  readonly authentication: Authentication;
  /** Gets a token for the HTTP Basic credentials of a push or read request; undefined means that Basic is refused. */
  readonly exchangePassword: ExchangePassword | undefined;
  readonly issuer: Hono<RequestIdEnv & { Bindings: HttpBindings }>;
  /** Whether a path belongs to the token issuer. */
  readonly isIssuerPath: (path: string) => boolean;
  /** Routes that need no token, mounted at the root. */
  readonly open: Hono<RequestIdEnv>;
  /** `/openapi.json` and `/docs`; they need no token. */
  readonly description: Hono;
  /** The console's files, which need no token; undefined when the app serves no console. */
  readonly console: Hono | undefined;
  readonly rateLimits: RateLimits;
  readonly healthChecks: Readonly<Record<string, HealthCheck>>;
  /** Routes with the scope `push-data`, mounted at `/api`. */
  readonly push: Hono<CallerEnv & RequestIdEnv>;
  /** Routes with the scope `datahub-api`, mounted in this order. */
  readonly api: readonly (readonly [path: string, routes: Hono<CallerEnv> | Hono<CallerEnv & RequestIdEnv>])[];
  readonly metrics: Metrics;
  /** CORS_ORIGINS: origins whose pages may call the service; `*` means any. */
  readonly corsOrigins: readonly string[];
  /** METRICS_TOKEN, which scrapers send; undefined means that only an ADMIN may read `/metrics`. */
  readonly metricsToken: string | undefined;
  readonly log: Log;
}

/** In the metrics, every issuer path has this route label. */
const ISSUER_ROUTE = '/realms/*';
/** Seconds for which a browser may keep the answer to a preflight: the maximum of Chromium. */
const PREFLIGHT_SEC = 7200;
/** Response headers that scripts of other origins may read, besides the headers that browsers always allow. */
const EXPOSED_HEADERS = [
  ...[
    'Api-Version',
    'X-Request-Id',
    'x-total-count',
    'Time-Zone',
    'History-From',
    'Raw-From',
    'Retry-After',
    'Location',
  ],
  ...['Content-Disposition', 'WWW-Authenticate', 'File-Kind', 'File-Advice', 'Warning', 'Deprecation', 'ETag'],
];
/** Paths, besides those of the issuer, on which clients that prefer HTML get errors as pages. */
const PAGES: ReadonlySet<string> = new Set(['/account/invitation']);
/** Paths, besides those of the issuer, on which a request without a bearer token may send a secret. */
const SECRET_PATHS: ReadonlySet<string> = new Set(['/account/user/register', '/account/invitation']);

/** @returns the app; every route of the service is mounted (R-B6). */
export function createApp(parts: AppParts): Hono<RequestIdEnv> {
  const { authentication, exchangePassword, issuer, healthChecks, push, api, open, rateLimits, metrics, log } = parts;
  const app = new Hono<RequestIdEnv>({ getPath: (request) => routingPath(request.url) });
  const routeOf = (path: string) => (parts.isIssuerPath(path) ? ISSUER_ROUTE : undefined);
  app.use('*', countRequests(createRequestCounter(metrics), routeOf));
  app.use('*', requestId(), requestLog(log), apiVersion());
  app.use('*', compress({ threshold: COMPRESSION_THRESHOLD_BYTES }), completeAnswers());
  const { isIssuerPath } = parts;
  if (parts.corsOrigins.length > 0) app.use('*', answerOrigins(parts.corsOrigins, isIssuerPath));
  app.onError(errorHandler(log, { isPage: (path) => isIssuerPath(path) || PAGES.has(path), isIssuerPath }));
  app.notFound(notFoundHandler);
  app.use(
    '*',
    limitAddress(rateLimits, (path) => isIssuerPath(path) || SECRET_PATHS.has(path)),
  );
  app.route('/', issuer);
  app.route('/', open);
  app.route('/', parts.description);
  if (parts.console) app.route('/', parts.console);
  app.route('/health', healthRoutes(healthChecks));
  const { byToken, answer: answerMetrics } = metricsHandlers(metrics, parts.metricsToken);
  app.get('/metrics', byToken);
  const beforeTry = (c: Context) => countAddress(rateLimits, c);
  const authenticateScope = openBasicAuthentication({
    ...authentication,
    exchangePassword,
    beforeTry,
    proxyHops: rateLimits.proxyHops,
    corsOrigins: parts.corsOrigins,
  });
  app.use('/api/*', authenticateScope('push-data'), limitCaller(rateLimits, costOfPush), inShare);
  app.route('/api', push);
  app.all('/api/*', notFoundHandler);
  app.use('*', authenticateScope('datahub-api', isRead), limitCaller(rateLimits), inShare);
  app.get('/metrics', requireRole('ADMIN'), answerMetrics);
  // The cast is safe: the middleware above sets a request id for every route.
  for (const [path, routes] of api) app.route(path, routes as Hono<CallerEnv>);
  return app;
}

/**
 * Creates middleware that lets pages of the given origins call the service (CORS). The middleware skips the issuer's
 * paths, because the issuer itself decides which origins are allowed.
 */
function answerOrigins(origins: readonly string[], isIssuerPath: (path: string) => boolean): MiddlewareHandler {
  const allow = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SEC,
  });
  return (c, next) => (isIssuerPath(c.req.path) ? next() : allow(c, next));
}

/** Middleware that counts the database connections of a request towards the share of its account (R-A14). */
const inShare: MiddlewareHandler<CallerEnv> = (c, next) => runForAccount(c.var.caller.accountId, next);

/**
 * @returns true when the request may use HTTP Basic. Basic is allowed for reads, because spreadsheets and links cannot
 *   send a token (R-A13). A watch needs a token, because the token is checked again every second (R-B5).
 */
function isRead({ req: { method, path } }: Context): boolean {
  if (path === '/data/watch') return false;
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && path === '/data');
}

/**
 * Reads a path as shipped clients write it (R-A3): trailing and doubled slashes are ignored.
 * @returns the path of a URL for routing: without query, with single slashes, without a slash at the end.
 */
export function routingPath(address: string): string {
  const start = address.indexOf('/', address.indexOf('//') + 2);
  if (start < 0) return '/';
  const end = address.slice(start).search(/[?#]/);
  const path = (end < 0 ? address.slice(start) : address.slice(start, start + end)).replace(/\/{2,}/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

type LogEnv = RequestIdEnv & { Variables: { caller?: Caller } };

/**
 * Creates middleware that logs one line per request, without the query, body and headers (R-K4). It does not log health
 * checks and `/metrics`. Mount the middleware after `requestId`.
 */
export function requestLog(log: Log): MiddlewareHandler<LogEnv> {
  return async (c, next) => {
    const startMs = performance.now();
    await next();
    if (c.req.path.startsWith('/health/') || c.req.path === '/metrics') return;
    const { requestId, caller } = c.var;
    const durationMs = Math.round((performance.now() - startMs) * 10) / 10;
    // A user who acts as another user is logged as actorUserId (R-B14).
    const account = caller && { accountId: caller.accountId, userId: caller.userId, actorUserId: caller.actor?.userId };
    log.info(
      { requestId, ...account, method: c.req.method, path: c.req.path, status: c.res.status, durationMs },
      'request',
    );
  };
}
