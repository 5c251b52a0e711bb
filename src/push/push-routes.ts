/**
 * Routes of pushes. `POST /api/data` (§4.5, R-D1) answers once the push is committed. `GET /api/data/targets` lists
 * which of the given variables the caller may push to. The routes of operations and custom formats are mounted here.
 */
import { Hono } from 'hono';
import { type CallerEnv, requirePermission } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { writeReach } from '../identity/caller/site-reach.ts';
import type { Queryable } from '../platform/database/database.ts';
import { assertJsonType, incomingOf, readBytes } from '../platform/http/http-body.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { genericRoutes } from './generic-routes.ts';
import { operationRoutes } from './operations/operation-routes.ts';
import { sendAnswer } from './push-answer.ts';
import { parsePushQuery, TARGET_QUERY } from './push-query.ts';
import type { PushService } from './push-service.ts';
import { resolveTargets } from './resolve-targets.ts';
import { makeLabel } from './store/operation-label.ts';

/**
 * Creates the routes of pushes (§4.5, R-D1): `POST /data`, `GET /data/targets`, and the routes of operations and of
 * custom formats. `POST /data` needs the permission `datapusher.standard`.
 */
export function pushRoutes(service: PushService): Hono<CallerEnv & RequestIdEnv> {
  const { admission, acceptPush, maxBodyBytes, throwSmallPushFailure } = service;
  const routes = new Hono<CallerEnv & RequestIdEnv>().post(
    '/data',
    requirePermission('datapusher.standard'),
    async (c) => {
      throwSmallPushFailure(c.env);
      const { caller, requestId } = c.var;
      const { operationId, timeoutSec } = parsePushQuery(c.req.url);
      assertJsonType(c.req.raw);
      await admission.assertQueueCapacity(caller.accountId);
      const share = admission.openBody(caller);
      try {
        const bytes = await readBytes(c.req.raw, maxBodyBytes, share.take, incomingOf(c.env));
        const label = operationId ?? makeLabel(Date.now());
        const isResendable = operationId !== undefined;
        const answer = await acceptPush({ caller, label, isResendable, timeoutSec, requestId, mapperId: null }, bytes);
        return sendAnswer(c, answer);
      } finally {
        share.release();
      }
    },
  );
  routes.get('/data/targets', async (c) => {
    const variableIds = [...new Set(TARGET_QUERY.parse(c.req.url).variableIds)];
    return c.json(await findTargets(service.database, c.var.caller, variableIds));
  });
  return routes.route('/', operationRoutes(service)).route('/', genericRoutes(service));
}

/**
 * @returns the ids in `variableIds` that the caller may push to in the standard format (R-B8, R-B9, R-D2), in the order
 * given.
 */
async function findTargets(
  queryable: Queryable,
  caller: Caller,
  variableIds: readonly number[],
): Promise<readonly { readonly variableId: number }[]> {
  if (!caller.permissions.has('datapusher.standard')) return [];
  const pusher = { accountId: caller.accountId, reach: writeReach(caller) };
  const elements = variableIds.map((variableId) => ({ variableId }));
  const targets = await resolveTargets(queryable, pusher, elements);
  return elements.filter((_, index) => targets[index] && !('code' in targets[index]));
}
