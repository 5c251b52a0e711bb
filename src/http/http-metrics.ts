/**
 * Requests, counted and timed by the pattern of their route (R-A9): never by their path, which clients choose. An answer
 * is over when its last byte was handed on or its client has left, so a stream takes as long as its reader.
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

/** Notes one answered request. @returns what to call with the seconds it took. */
export type CountRequest = (request: AnsweredRequest) => { observe(seconds: number): void };

/** Where no route is for the path. */
const NO_ROUTE = 'none';

export function createRequestCounter(metrics: Metrics): CountRequest {
  const durations = metrics.distribution({
    name: 'tidemark_http_request_seconds',
    help: 'HTTP requests by method, pattern of the route and class of the status, with the time until the answer was over.',
    labels: ['method', 'route', 'status'],
  });
  return ({ method, route, status }) => durations({ method, route, status: `${Math.floor(status / 100)}xx` });
}

/** @param nameOf names paths that have no pattern; undefined leaves them to the routes. */
export function countRequests(count: CountRequest, nameOf: (path: string) => string | undefined): MiddlewareHandler {
  return async (c, next) => {
    const startMs = performance.now();
    await next();
    const route = nameOf(c.req.path) ?? patternOf(c);
    const series = count({ method: c.req.method, route, status: c.res.status });
    const observe = (): void => series.observe((performance.now() - startMs) / 1000);
    const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
    if (outgoing && !outgoing.closed) outgoing.once('close', observe);
    else observe();
  };
}

/** Middleware is there for all methods, a route for one. */
function patternOf(c: Context): string {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? NO_ROUTE;
}
