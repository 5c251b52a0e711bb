/** `/api/operations/{operationId}`: state of a push, its rejected elements, and their replay (R-D7, R-D8). */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import { assertPermission, type Caller } from '../../identity/caller/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { toPaging } from '../../platform/http/paging.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { sendAnswer } from '../push-answer.ts';
import { OPERATION_QUERY, REPLAY_QUERY, repairAddress } from '../push-query.ts';
import type { PushService } from '../push-service.ts';
import {
  countOperations,
  getNewestOperation,
  getOperations,
  getRejectingOperations,
  type RejectingOperation,
  toOperationBody,
} from '../store/find-operations.ts';
import { countRejections, findRejections, toRejectionsBody } from '../store/find-rejections.ts';

type Env = CallerEnv & RequestIdEnv;

/** Routes below `/operations/{operationId}`: state, rejected elements, replay (R-D7, R-D8). */
export function operationRoutes({ database, admission, replay }: PushService): Hono<Env> {
  return new Hono<Env>()
    .get('/operations/:label', async (c) => {
      const { caller } = c.var;
      const { all, ...paging } = OPERATION_QUERY.parse(c.req.url);
      const label = c.req.param('label');
      if (!all) return c.json(toOperationBody(await getNewestOperation(database, caller, label)));
      const operations = await getOperations(database, caller, label, toPaging(paging));
      if (isTotalWanted(c)) setTotalCount(c, await countOperations(database, caller, label));
      return c.json(operations.map(toOperationBody));
    })
    .get('/operations/:label/rejected', async (c) => {
      const { all, ...paging } = OPERATION_QUERY.parse(c.req.url);
      const ids = (await findMeant(database, c.var.caller, c.req.param('label'), all)).map(({ id }) => id);
      const rejections = await findRejections(database, ids, toPaging(paging));
      if (isTotalWanted(c)) setTotalCount(c, await countRejections(database, ids));
      return sendJsonText(c, toRejectionsBody(rejections));
    })
    .post('/operations/:label/replay', async (c) => {
      const { caller, requestId } = c.var;
      const label = c.req.param('label');
      const { all, operationTimeoutSec: timeoutSec } = REPLAY_QUERY.parse(repairAddress(c.req.url));
      const operations = await findMeant(database, caller, label, all);
      const mapperIds = new Set(operations.map(({ mapperId }) => mapperId));
      for (const id of mapperIds) assertPermission(caller, id === null ? 'datapusher.standard' : 'datapusher.custom');
      await admission.assertQueueCapacity(caller.accountId);
      const [mapperId = null] = mapperIds;
      const context = { caller, label, requestId, timeoutSec, isResendable: false, mapperId };
      const ids = operations.map(({ id }) => id);
      return sendAnswer(c, await replay(context, ids));
    });
}

/**
 * Finds the operations with the label, among those that the caller may see.
 * @returns the newest operation. If `isEvery`, returns instead every operation that has the state Failed or has
 *   rejected elements.
 */
async function findMeant(
  database: Database,
  caller: Caller,
  label: string,
  isEvery: boolean,
): Promise<readonly RejectingOperation[]> {
  if (isEvery) return getRejectingOperations(database, caller, label);
  return [await getNewestOperation(database, caller, label)];
}

function sendJsonText(c: Context, text: string): Response {
  return c.body(text, 200, { 'Content-Type': 'application/json' });
}
