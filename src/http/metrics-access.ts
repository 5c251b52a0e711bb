/**
 * Access to `/metrics` on the API's port (R-A9). Metrics cover all accounts, so a scraper sends the token of the
 * setting METRICS_TOKEN, and an operator sends the access token of an ADMIN. The client's address grants nothing:
 * behind a proxy on the same machine, every client comes from loopback.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import type { Metrics } from '../platform/metrics/metrics.ts';

export interface MetricsHandlers {
  /** Answers a scraper that sends the token; passes every other request on. */
  readonly byToken: MiddlewareHandler;
  /** Answers without any check; mount it behind middleware that authorizes the caller. */
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
