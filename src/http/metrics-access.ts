/**
 * Controls access to `/metrics` on the API's port (R-A9). The metrics cover all accounts, so a tenant must not read the
 * metrics. A scraper needs the token METRICS_TOKEN; an operator needs the access token of an ADMIN. No address grants
 * access: behind a proxy on the same machine, every client has a loopback address.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import type { Metrics } from '../platform/metrics/metrics.ts';

export interface MetricsHandlers {
  /** Sends the metrics to a scraper that sends METRICS_TOKEN; passes every other request on to the next handler. */
  readonly byToken: MiddlewareHandler;
  /**
   * Answers every request with the metrics, without a check. Mount this handler behind middleware that authorizes the
   * caller.
   */
  readonly answer: Handler;
}

const BEARER = /^Bearer +(.+?) *$/i;

/**
 * Creates the handlers of `/metrics` on the API's port (R-A9).
 * @param token value of METRICS_TOKEN; undefined disables access by token.
 */
export function metricsHandlers(metrics: Metrics, token: string | undefined): MetricsHandlers {
  const answer = async (c: Context): Promise<Response> => {
    const text = await metrics.text();
    return c.body(text, 200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
  };
  const byToken: MiddlewareHandler = async (c, next) => {
    const [, given] = BEARER.exec(c.req.header('authorization') ?? '') ?? [];
    return token !== undefined && given !== undefined && isSame(given, token) ? answer(c) : next();
  };
  return { byToken, answer };
}

/** Compares hashes in constant time, so that the duration reveals nothing about the token. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
