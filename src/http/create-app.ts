/** Assembles the HTTP app: the issuer, health, push under `push-data`, everything else under `datahub-api` (R-B6). */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import {
  type Authentication,
  authenticate,
  type CallerEnv,
  requireRole,
} from '../identity/authentication/authenticate.ts';
import { authenticatePush } from '../identity/authentication/authenticate-push.ts';
import type { ExchangePassword } from '../identity/authentication/exchange-password.ts';
import { type HealthCheck, healthRoutes } from '../platform/http/health.ts';
import { type RequestIdEnv, requestId } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { apiVersion } from './api-version.ts';
import { contentLength } from './content-length.ts';
import { errorHandler, notFoundHandler } from './error-response.ts';
import { countRequests, createRequestCounter } from './http-metrics.ts';
import { routingPath } from './lenient-path.ts';
import { metricsDoor } from './metrics-door.ts';
import { countAddress, limitAddress, limitCaller, type RateLimits } from './rate-limit.ts';
import { requestLog } from './request-log.ts';

export interface AppParts {
  readonly authentication: Authentication;
  /** For HTTP Basic on push; undefined: not accepted. */
  readonly exchangePassword: ExchangePassword | undefined;
  readonly issuer: Hono<RequestIdEnv & { Bindings: HttpBindings }>;
  /** Whether a path is the issuer's. */
  readonly isIssuerPath: (path: string) => boolean;
  /** Mounted at the root in front of the bearer. */
  readonly open: Hono<RequestIdEnv>;
  /** What the API says of itself, likewise. */
  readonly description: Hono;
  readonly rateLimits: RateLimits;
  readonly healthChecks: Readonly<Record<string, HealthCheck>>;
  /** Mounted at `/api`: scope `push-data`. */
  readonly push: Hono<CallerEnv & RequestIdEnv>;
  /** Mounted at the root, in order: scope `datahub-api`. */
  readonly api: readonly (readonly [path: string, routes: Hono<CallerEnv> | Hono<CallerEnv & RequestIdEnv>])[];
  readonly metrics: Metrics;
  /** Of scrapers of `/metrics`; undefined: only an ADMIN sees it. */
  readonly metricsToken: string | undefined;
  readonly log: Log;
}

/** Stands for all paths of the issuer in metrics: realms and what follows them are of no use there. */
const ISSUER_ROUTE = '/realms/*';
const COMPRESSION_THRESHOLD_BYTES = 1024;
/** What people look at, besides the issuer's pages. */
const PAGES: ReadonlySet<string> = new Set(['/account/invitation']);
/** Where a secret is tried without a bearer, besides the issuer. */
const OPEN_DOORS: ReadonlySet<string> = new Set(['/account/user/register', '/account/invitation']);

export function createApp(parts: AppParts): Hono<RequestIdEnv> {
  const { authentication, exchangePassword, issuer, healthChecks, push, api, open, rateLimits, metrics, log } = parts;
  const app = new Hono<RequestIdEnv>({ getPath: (request) => routingPath(request.url) });
  const nameOf = (path: string) => (parts.isIssuerPath(path) ? ISSUER_ROUTE : undefined);
  app.use('*', countRequests(createRequestCounter(metrics), nameOf));
  app.use('*', requestId(), requestLog(log), apiVersion());
  app.use('*', compress({ threshold: COMPRESSION_THRESHOLD_BYTES }), contentLength());
  const isIssuers = parts.isIssuerPath;
  app.onError(errorHandler(log, { isPage: (path) => isIssuers(path) || PAGES.has(path), isIssuers }));
  app.notFound(notFoundHandler);
  app.use(
    '*',
    limitAddress(rateLimits, (path) => parts.isIssuerPath(path) || OPEN_DOORS.has(path)),
  );
  app.route('/', issuer);
  app.route('/', open);
  app.route('/', parts.description);
  app.route('/health', healthRoutes(healthChecks));
  const door = metricsDoor(metrics, parts.metricsToken);
  app.get('/metrics', door.byToken);
  app.use(
    '/api/*',
    authenticatePush({ ...authentication, exchangePassword, beforeTry: (c) => countAddress(rateLimits, c) }),
  );
  app.route('/api', push);
  app.all('/api/*', notFoundHandler);
  app.use('*', authenticate({ ...authentication, scope: 'datahub-api' }), limitCaller(rateLimits));
  app.get('/metrics', requireRole('ADMIN'), door.answer);
  // What routes ask for besides the caller, the request id, is there for all.
  for (const [path, routes] of api) app.route(path, routes as Hono<CallerEnv>);
  return app;
}
