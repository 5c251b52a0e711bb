/**
 * `/metrics` (R-A9). It tells of the business of all accounts, so it is not for the clients of a public port: a scraper
 * shows the token of the setting METRICS_TOKEN, an operator the access token of an ADMIN. There is no third way; an address
 * such as loopback is none, since behind a proxy all clients have it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import type { Metrics } from '../platform/metrics/metrics.ts';

export interface MetricsDoor {
  /** Answers a scraper with the token; leaves all others to what comes next. */
  readonly byToken: MiddlewareHandler;
  /** Answers anybody. */
  readonly answer: Handler;
}

const SCHEME = /^Bearer +(.+?) *$/i;

/** @param token undefined: scrapers have none. */
export function metricsDoor(metrics: Metrics, token: string | undefined): MetricsDoor {
  const answer = async (c: Context): Promise<Response> => {
    const text = await metrics.text();
    return c.body(text, 200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
  };
  const byToken: MiddlewareHandler = async (c, next) => {
    const [, given] = SCHEME.exec(c.req.header('authorization') ?? '') ?? [];
    return token !== undefined && given !== undefined && isSame(given, token) ? answer(c) : next();
  };
  return { byToken, answer };
}

/** How long it takes says nothing of the token. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
