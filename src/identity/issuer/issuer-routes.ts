/** The issuer as a Hono app, to be mounted at the root of the HTTP app. */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Issuer } from './issuer.ts';

/** Hands the issuer's paths to it, lets all others pass. Middleware in front must not read the bodies of these paths. */
export function issuerRoutes(issuer: Issuer): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use('*', async (c, next) => {
    if (!issuer.handles(c.req.path)) return next();
    // A bare Response would lose the headers that middleware has set before.
    const response = await issuer.handle(c.env.incoming);
    return c.newResponse(response.body, response);
  });
  return app;
}
