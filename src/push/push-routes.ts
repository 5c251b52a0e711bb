/** `POST /api/data` (§4.5, R-D1): answers once the push is committed. */
import { Hono } from 'hono';
import { type CallerEnv, requirePermission } from '../identity/authentication/authenticate.ts';
import { assertJsonType, incomingOf, readBytes } from '../platform/http/http-body.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { genericRoutes } from './generic-routes.ts';
import { operationRoutes } from './operations/operation-routes.ts';
import { sendAnswer } from './push-answer.ts';
import { parsePushQuery } from './push-query.ts';
import type { PushService } from './push-service.ts';
import { makeLabel } from './store/operation-label.ts';

/** `POST /data` (§4.5, R-D1). Needs the permission `datapusher.standard`. */
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
  return routes.route('/', operationRoutes(service)).route('/', genericRoutes(service));
}
