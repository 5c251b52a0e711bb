/** The description of webhooks (R-A9, §4.4, R-I1, R-I6). */
import { z } from 'zod';
import { patchSchema } from '../../platform/http/json-patch.ts';
import {
  ALL_USERS,
  answersJson,
  answersNothing,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
  patchBody,
  type SentEvent,
  textId,
} from '../../platform/openapi/operation.ts';
import { EVENT_TYPES } from '../event-type.ts';
import type { TargetPolicy } from '../sending/target-url-rules.ts';
import { SAMPLE_DATA } from '../trial-sends/sample-data.ts';
import { HTTP_METHODS, type StoredWebhook } from '../webhook.ts';
import { WEBHOOK_LIST, WEBHOOK_QUERY } from './webhook-routes.ts';
import { newWebhookSchema, webhookChangeSchema } from './webhook-schema.ts';

const tag = 'Webhooks';
const inPath = { id: textId('The id of a webhook.') };
const ids = z.array(idSchema).exactOptional();

const webhook = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    eventType: z.enum(EVENT_TYPES),
    isEnabled: z.boolean(),
    httpMethod: z.enum(HTTP_METHODS),
    headers: z.record(z.string(), z.string()),
    filter: z
      .object({ siteIds: ids, sourceIds: ids, variableIds: ids })
      .meta({ description: 'Any match is enough; empty: everything in the account.' }),
    bodyTemplate: z.string().nullable(),
    disabledReason: z.string().nullable().meta({ description: 'Why the service disabled it.' }),
    createdDate: instantSchema,
    modifiedDate: instantSchema,
    lastExecution: z.object({ state: z.string(), date: instantSchema }).nullable(),
    successCount: z.int().min(0),
    failureCount: z.int().min(0),
  })
  .meta({ id: 'Webhook' }) satisfies z.ZodType<StoredWebhook>;
const light = { id: true, name: true, eventType: true, isEnabled: true } as const;
const shown = z
  .object({ ...webhook.partial().shape, ...webhook.pick(light).shape })
  .meta({ id: 'Webhook', description: 'As much as the level shows; a USER is not shown what may hold credentials.' });
const made = z
  .object({ ...shown.shape, secret: z.string().optional() })
  .meta({ id: 'WebhookMade', description: 'The secret is shown this once, when the service made it.' });

/** What the operator lets in does not change what it looks like. */
export const ANY_TARGET: TargetPolicy = { allowHttp: true, allowedRanges: [] };
const written = newWebhookSchema(ANY_TARGET).meta({
  id: 'WebhookWritten',
  examples: [{ name: 'Points', url: 'https://receiver.example/points', eventType: 'DataPointsWritten' }],
});
const changed = webhookChangeSchema(ANY_TARGET, { url: '' }).meta({
  id: 'WebhookChanged',
  examples: [{ isEnabled: false }],
  description: 'What it leaves out stays; null clears.',
});

export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/webhooks', operationId: 'listWebhooks', tag, summary: 'List webhooks' },
    access: ALL_USERS,
    query: WEBHOOK_LIST,
    isListing: true,
    answers: [answersJson('Those that concern what the user may see.', z.array(shown))],
  },
  {
    ...{ method: 'get', path: '/account/webhooks/:id', operationId: 'getWebhook', tag, summary: 'Read a webhook' },
    access: ALL_USERS,
    inPath,
    query: WEBHOOK_QUERY,
    answers: [answersJson('The webhook.', shown)],
  },
  {
    ...{ method: 'post', path: '/account/webhooks', operationId: 'createWebhook', tag, summary: 'Create a webhook' },
    access: MANAGERS,
    body: jsonBody(written),
    answers: [answersJson('The webhook.', made)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'put', path: '/account/webhooks/:id', operationId: 'updateWebhook', tag, summary: 'Change a webhook' },
    access: MANAGERS,
    inPath,
    body: jsonBody(changed),
    answers: [answersJson('The webhook as it is now.', shown)],
  },
  {
    ...{ method: 'patch', path: '/account/webhooks/:webhookId', operationId: 'patchWebhook', tag },
    summary: 'Patch a webhook',
    access: MANAGERS,
    inPath: { webhookId: textId('The id of a webhook.') },
    body: patchBody(patchSchema),
    answers: [answersNothing('Changed.', 200)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'delete', path: '/account/webhooks/:id', operationId: 'deleteWebhook', tag, access: MANAGERS },
    summary: 'Delete a webhook',
    inPath,
    answers: [answersNothing('Deleted.', 200)],
  },
];

/** What receivers get, for the description (R-I2, R-I3). */
export const SENT_EVENTS: readonly SentEvent[] = EVENT_TYPES.map((type) => ({ type, data: SAMPLE_DATA[type] }));
