/**
 * Counts and times HTTP requests (R-A9). The label `route` is the route pattern, because the number of paths is
 * unlimited.
 */
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Metrics } from '../platform/metrics/metrics.ts';

export interface AnsweredRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/** @returns the metric series of the request. The caller passes the duration of the request in seconds to `observe`. */
export type CountRequest = (request: AnsweredRequest) => { observe(seconds: number): void };

/** Value of the label `route` for requests that match no route. */
const NO_ROUTE = 'none';

/** Registers `tidemark_http_request_seconds` (R-A9). */
export function createRequestCounter(metrics: Metrics): CountRequest {
  const durations = metrics.distribution({
    name: 'tidemark_http_request_seconds',
    help: 'Seconds from the start of an HTTP request to the last byte of its response, by method, route pattern and status class.',
    labels: ['method', 'route', 'status'],
  });
  return ({ method, route, status }) => durations({ method, route, status: `${Math.floor(status / 100)}xx` });
}

/**
 * Creates middleware that counts and times every request (R-A9).
 * @param routeOf returns the route label of a path. When it returns undefined, the label is the matched route's pattern.
 */
export function countRequests(count: CountRequest, routeOf: (path: string) => string | undefined): MiddlewareHandler {
  return async (c, next) => {
    const startMs = performance.now();
    await next();
    const route = routeOf(c.req.path) ?? patternOf(c);
    const series = count({ method: c.req.method, route, status: c.res.status });
    const observe = (): void => series.observe((performance.now() - startMs) / 1000);
    const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
    if (outgoing && !outgoing.closed) outgoing.once('close', observe);
    else observe();
  };
}

/** Pattern of the matched route. Routes of the method ALL do not count: they are middleware, or answer 404 or 410. */
function patternOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? NO_ROUTE;
}
