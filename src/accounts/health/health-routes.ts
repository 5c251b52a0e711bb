/** `GET /account/health`: the problems that the users of an account should look at. */
import { Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { integerParameter } from '../../platform/http/query-parameters.ts';
import { readHealth } from './account-health.ts';

export const HEALTH_QUERY = declareQuery({
  silentAfterHours: integerParameter(
    'A variable can count as silent only when its newest point is older than this many hours. For data delivered once a day, use at least 24 plus the age in hours of the newest point at delivery.',
    { min: 0, max: 8784, default: 24 },
  ),
});

/** Routes of `GET /account/health`. Mount at the root, behind bearer authentication. */
export function accountHealthRoutes({ database }: { readonly database: Queryable }): Hono<CallerEnv> {
  return new Hono<CallerEnv>().get('/account/health', async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await readHealth(database, c.var.caller, HEALTH_QUERY.parse(c.req.url)));
  });
}
