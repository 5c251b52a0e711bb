/** What versions a variable has (R-F8). */
import { Hono } from 'hono';
import type { CallerEnv } from '../identity/authenticate.ts';
import type { Database } from '../platform/database.ts';
import { setTotalCount } from '../platform/listing-response.ts';
import { parsePaging } from '../platform/paging.ts';
import { parseQuery } from '../platform/query-string.ts';
import { listVersions } from './list-versions.ts';
import { getResource } from './resource.ts';
import { parsePathId } from './resource-routes.ts';
import { VARIABLE } from './variable.ts';

export function versionRoutes(database: Database): Hono<CallerEnv> {
  return new Hono<CallerEnv>().get('/variables/:id/versions', async (c) => {
    const variableId = parsePathId(c, 'id');
    await getResource(database, VARIABLE, c.var.caller, variableId);
    const versions = await listVersions(database, variableId);
    const { limit, offset } = parsePaging(parseQuery(c.req.url));
    setTotalCount(c, versions.length);
    return c.json(versions.slice(offset, limit === undefined ? undefined : offset + limit));
  });
}
