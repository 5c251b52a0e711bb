/**
 * `/account/webhooks` (§4.4): users read the webhooks visible to them; only a MANAGER or an ADMIN writes webhooks
 * (R-I1, R-I6).
 */
import { type Context, Hono } from 'hono';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOf, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { enumerationParameter, enumerationsParameter, numberedFrom0 } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { parseOperations } from '../../platform/json/json-patch.ts';
import { EVENT_TYPES } from '../event-type.ts';
import type { TargetPolicy } from '../sending/target-url.ts';
import type { StoredWebhook } from '../webhook.ts';
import { planPatch } from './patch-webhook.ts';
import { changeWebhook, createWebhook, removeWebhook, type SaveServices } from './save-webhook.ts';
import type { VisibleWebhook } from './visible-webhook-rules.ts';
import { getVisible, listVisible } from './visible-webhooks.ts';
import { newWebhookSchema, webhookChangeSchema } from './webhook-schema.ts';

type Env = CallerEnv & RequestIdEnv;

export interface WebhookServices extends SaveServices {
  readonly database: Database;
  /** Rules for the URLs and IP addresses of receivers. */
  readonly targetPolicy: TargetPolicy;
}

/** The number that clients may give instead of the name of a WebhookDisplayLevel (R-A3). */
const LEVEL_NUMBERS = { Light: 0, Normal: 1, Verbose: 2 } as const;
type Level = keyof typeof LEVEL_NUMBERS;

const LIGHT = ['id', 'name', 'eventType', 'isEnabled'] as const;
const NORMAL = [
  ...['id', 'name', 'url', 'eventType', 'isEnabled', 'httpMethod', 'headers', 'filter', 'bodyTemplate'],
  ...['disabledReason', 'createdDate', 'modifiedDate'],
] as readonly (keyof StoredWebhook)[];
const MEMBERS: Readonly<Record<Level, readonly (keyof StoredWebhook)[]>> = {
  Light: LIGHT,
  Normal: NORMAL,
  Verbose: [...NORMAL, 'lastExecution', 'successCount', 'failureCount'],
};

const LEVEL = {
  DisplayLevel: enumerationParameter('Which fields of a webhook are returned.', LEVEL_NUMBERS, 'Normal'),
};
export const WEBHOOK_QUERY = declareQuery(LEVEL);
export const WEBHOOK_LIST = declareQuery(
  {
    ...LEVEL,
    EventType: enumerationsParameter('Only webhooks for these event types.', numberedFrom0(EVENT_TYPES)),
    ...PAGING,
  },
  { isListing: true },
);

/** Routes of webhooks (§4.4, R-I1, R-I6). Mount at `/account`. */
export function webhookRoutes(services: WebhookServices): Hono<Env> {
  const manager = requireRole('MANAGER');
  return new Hono<Env>()
    .get('/webhooks', (c) => getList(c, services))
    .get('/webhooks/:id', async (c) => {
      const { displayLevel: level } = WEBHOOK_QUERY.parse(c.req.url);
      return c.json(
        select(await getVisible(services.database, services.vault, c.var.caller, c.req.param('id')), level),
      );
    })
    .post('/webhooks', manager, async (c) => {
      const written = parseInput(newWebhookSchema(services.targetPolicy), await readJsonBody(c.req.raw));
      const { webhook, generatedSecret } = await withTransaction(services.database, (transaction) =>
        createWebhook(services, transaction, c.var, written),
      );
      return c.json({
        ...select(webhook, 'Normal'),
        ...(generatedSecret !== undefined && { secret: generatedSecret }),
      });
    })
    .put('/webhooks/:id', manager, async (c) => {
      const body = await readJsonBody(c.req.raw);
      const webhook = await withTransaction(services.database, (transaction) =>
        changeWebhook(services, transaction, c.var, c.req.param('id'), (current) =>
          parseInput(webhookChangeSchema(services.targetPolicy, current), body),
        ),
      );
      return c.json(select(webhook, 'Normal'));
    })
    .patch('/webhooks/:webhookId', manager, async (c) => {
      const operations = parseOperations(await readJsonBody(c.req.raw));
      await withTransaction(services.database, (transaction) =>
        changeWebhook(services, transaction, c.var, c.req.param('webhookId'), (current) =>
          planPatch(current, operations, services.targetPolicy),
        ),
      );
      return c.body(null, 200);
    })
    .delete('/webhooks/:id', manager, async (c) => {
      await withTransaction(services.database, (transaction) =>
        removeWebhook(services, transaction, c.var, c.req.param('id')),
      );
      return c.body(null, 200);
    });
}

async function getList(c: Context<Env>, { database, vault }: WebhookServices): Promise<Response> {
  const { displayLevel, eventType: eventTypes, ...page } = WEBHOOK_LIST.parse(c.req.url);
  const webhooks = await listVisible(database, vault, c.var.caller, eventTypes);
  setTotalCount(c, webhooks.length);
  return c.json(pageOf(webhooks, toPaging(page)).map((webhook) => select(webhook, displayLevel)));
}

/** @returns the members of the webhook that belong to the level, without members that the caller may not see. */
function select(webhook: VisibleWebhook, level: Level): object {
  const names = MEMBERS[level].filter((name) => Object.hasOwn(webhook, name));
  return Object.fromEntries(names.map((name) => [name, webhook[name]]));
}
