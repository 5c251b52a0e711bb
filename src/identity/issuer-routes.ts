/** The issuer as a Hono app, to be mounted at the root of the HTTP app. */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { Issuer } from './issuer.ts';

/**
 * Hands the issuer's paths to it and lets all others pass. Middleware in front must not read the bodies of these paths.
 * The answer is written on the Node response: it carries the headers set before, none set afterwards.
 */
export function issuerRoutes(issuer: Issuer): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use('*', async (c, next) => {
    if (!issuer.handles(new URL(c.req.url).pathname)) return next();
    for (const [name, value] of c.res.headers) c.env.outgoing.setHeader(name, value);
    await issuer.handle(c.env.incoming, c.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
