/** The issuer as a Hono app, to be mounted at the root of the HTTP app. */
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Issuer } from './issuer.ts';

type Env = RequestIdEnv & { Bindings: HttpBindings };

/** Hands the issuer's paths to it, lets all others pass. Middleware in front must not read the bodies of these paths. */
export function issuerRoutes(issuer: Issuer): Hono<Env> {
  const app = new Hono<Env>();
  app.use('*', async (c, next) => {
    if (!issuer.handles(c.req.path)) return next();
    // The issuer reads the request itself: what was made or replaced in front is not in it (R-A10).
    c.env.incoming.headers['x-request-id'] = c.var.requestId;
    // A bare Response would lose the headers that middleware has set before.
    const response = await issuer.handle(c.env.incoming);
    return c.newResponse(response.body, response);
  });
  return app;
}
