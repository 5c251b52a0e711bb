/** The issuer as a Hono app, to be mounted at the root of the HTTP app. */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { Issuer } from './issuer.ts';

/**
 * Hands the issuer's paths to it and lets all others pass. Middleware in front must not read bodies of these paths,
 * and headers it sets afterwards do not reach the answer, which is written on the Node response.
 */
export function issuerRoutes(issuer: Issuer): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use('*', async (c, next) => {
    if (!issuer.handles(new URL(c.req.url).pathname)) return next();
    await issuer.handle(c.env.incoming, c.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
