/** `/account/webhooks/{id}/history` (§4.4, R-I5): MANAGER, ADMIN. */
import { type Context, Hono } from 'hono';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { parseMembers, placeError } from '../../platform/http/input-place.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { pageOffset } from '../../platform/http/paging.ts';
import { parseQuery, type Query, queryChoices, queryInteger } from '../../platform/http/query-string.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Log } from '../../platform/log.ts';
import type { WakeQueue } from '../../platform/queue.ts';
import { getWebhook } from '../webhooks.ts';
import { ATTEMPT_STATES, countHistory, listHistory } from './find-history.ts';
import { replayEntry } from './replay.ts';

type Env = CallerEnv & RequestIdEnv;

export interface HistoryServices {
  readonly database: Database;
  /** Of the deliverer: keys are webhook ids. */
  readonly queue: WakeQueue;
  readonly audit: WriteAuditEntry<'WebhookReplayed'>;
  readonly log: Log;
}

export const DEFAULT_ITEMS = 100;
// Each may hold a request of 64 KiB.
export const MAX_ITEMS = 500;

export function historyRoutes(services: HistoryServices): Hono<Env> {
  const manager = requireRole('MANAGER');
  return new Hono<Env>()
    .get('/webhooks/:id/history', manager, (c) => getHistory(c, services, c.req.param('id')))
    .post('/webhooks/:id/history/:historyId/replay', manager, async (c) => {
      const { id, historyId } = c.req.param();
      const entry = await withTransaction(services.database, (transaction) =>
        replayEntry(transaction, c.var, id, historyId, services.audit),
      );
      await services.queue.wake([entry.webhookId]).catch((error: unknown) => {
        services.log.warn({ err: error, webhookId: entry.webhookId }, 'left to the sweeper');
      });
      return c.json(entry);
    });
}

async function getHistory(c: Context<Env>, { database }: HistoryServices, id: string): Promise<Response> {
  const query = parseQuery(c.req.url);
  const page = parseMembers({
    states: () => queryChoices(query, 'state', ATTEMPT_STATES),
    limit: () => parseItems(query),
    pageNumber: () => queryInteger(query, 'pageNumber', 0) ?? 0,
  });
  const webhook = await getWebhook(database, c.var.caller.accountId, id);
  const offset = pageOffset(page.limit, page.pageNumber);
  if (isTotalWanted(c)) setTotalCount(c, await countHistory(database, webhook.id, page.states));
  return c.json(await listHistory(database, webhook.id, { ...page, offset }));
}

/** More at once is refused, not cut: who pages would take a page that is not full for the last one. */
function parseItems(query: Query): number {
  const items = queryInteger(query, 'itemsPerPage', 1) ?? DEFAULT_ITEMS;
  if (items <= MAX_ITEMS) return items;
  throw placeError(query.placeOf('itemsPerPage'), `must be at most ${MAX_ITEMS}, got ${items}`);
}
