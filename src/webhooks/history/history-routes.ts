/** Routes of `/account/webhooks/{id}/history` (§4.4, R-I5), for MANAGER and ADMIN. */
import { type Context, Hono } from 'hono';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOffset } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { choicesParameter, integerParameter } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Log } from '../../platform/log.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import { getWebhook } from '../webhooks.ts';
import { ATTEMPT_STATES, countHistory, listHistory } from './find-history.ts';
import { type ReplayServices, replayEntry } from './replay.ts';

type Env = CallerEnv & RequestIdEnv;

export interface HistoryServices extends ReplayServices {
  readonly database: Database;
  /** Queue of the deliverer; keys are webhook ids. */
  readonly queue: WakeQueue;
  readonly log: Log;
}

const DEFAULT_ITEMS = 100;
/**
 * Maximum number of entries per page. It is small because each entry may show a body of 65,536 characters. A request
 * for more entries is refused: if its page were shortened instead, clients would conclude that it is the last page.
 */
const MAX_ITEMS = 500;

export const HISTORY_LIST = declareQuery(
  {
    state: choicesParameter('Only entries in these states.', ATTEMPT_STATES),
    ...PAGING,
    itemsPerPage: integerParameter('Maximum number of entries per page.', {
      min: 1,
      max: MAX_ITEMS,
      default: DEFAULT_ITEMS,
    }),
  },
  { isListing: true },
);

/** Creates the routes that list and replay the history of a webhook (§4.4, R-I5). Mount them at `/account`. */
export function historyRoutes(services: HistoryServices): Hono<Env> {
  const manager = requireRole('MANAGER');
  return new Hono<Env>()
    .get('/webhooks/:id/history', manager, (c) => getHistory(c, services, c.req.param('id')))
    .post('/webhooks/:id/history/:historyId/replay', manager, async (c) => {
      const { id, historyId } = c.req.param();
      const entry = await withTransaction(services.database, (transaction) =>
        replayEntry(transaction, c.var, id, historyId, services),
      );
      if (!(await services.queue.wake([entry.webhookId]))) {
        const { requestId, caller } = c.var;
        const ids = { webhookId: entry.webhookId, historyId: entry.id, accountId: caller.accountId, requestId };
        services.log.warn(ids, 'the wake-up for the replay was lost; the sweeper will deliver the replay');
      }
      return c.json(entry);
    });
}

async function getHistory(c: Context<Env>, { database, vault }: HistoryServices, id: string): Promise<Response> {
  const { state: states, pageNumber, itemsPerPage: limit } = HISTORY_LIST.parse(c.req.url);
  const webhook = await getWebhook(database, vault, c.var.caller.accountId, id);
  if (isTotalWanted(c)) setTotalCount(c, await countHistory(database, webhook.id, states));
  const page = { states, limit, offset: pageOffset(limit, pageNumber) };
  return c.json(await listHistory(database, webhook.id, page));
}
