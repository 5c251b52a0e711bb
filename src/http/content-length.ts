/**
 * Gives answers that are there as a whole their length. Hono writes JSON without one, and what has no length is
 * compressed however small it is (R-A4).
 */
import type { MiddlewareHandler } from 'hono';
import { isStreamed } from '../platform/http/streamed-answer.ts';

export function contentLength(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (c.res.body === null || isStreamed(c) || c.res.headers.has('content-length')) return;
    const body = await c.res.arrayBuffer();
    c.res = new Response(body, c.res);
    c.header('Content-Length', String(body.byteLength));
  };
}
