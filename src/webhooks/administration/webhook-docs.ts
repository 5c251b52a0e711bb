/** OpenAPI description of the webhook routes (R-A9, §4.4, R-I1, R-I6). */
import { z } from 'zod';
import { patchSchema } from '../../platform/json/json-patch.ts';
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
import type { TargetPolicy } from '../sending/target-url.ts';
import { SAMPLE_DATA } from '../trial-sends/sample-data.ts';
import { HTTP_METHODS, type StoredWebhook } from '../webhook.ts';
import { WEBHOOK_LIST, WEBHOOK_QUERY } from './webhook-routes.ts';
import { newWebhookSchema, webhookChangeSchema } from './webhook-schema.ts';

const tag = 'Webhooks';
const inPath = { id: textId('Id of the webhook.') };
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
    filter: z.object({ siteIds: ids, sourceIds: ids, variableIds: ids }).meta({
      description:
        "An event matches when it is about any of these sites, sources or variables. An event of a push or a file is about the variables of the accepted points, and their sources and sites. An empty filter matches every event of the webhook's type.",
    }),
    bodyTemplate: z.string().nullable(),
    disabledReason: z
      .string()
      .nullable()
      .meta({ description: 'Why the service disabled the webhook; null when the service has not disabled it.' }),
    createdDate: instantSchema,
    modifiedDate: instantSchema,
    lastExecution: z.object({ state: z.string(), date: instantSchema }).nullable(),
    successCount: z.int().min(0),
    failureCount: z.int().min(0),
  })
  .meta({ id: 'Webhook' }) satisfies z.ZodType<StoredWebhook>;
const light = { id: true, name: true, eventType: true, isEnabled: true } as const;
const shown = z.object({ ...webhook.partial().shape, ...webhook.pick(light).shape }).meta({
  id: 'Webhook',
  description:
    'Which members are present depends on the display level and on what the user may see. For a USER, values that may hold credentials are shown as "…".',
});
const made = z.object({ ...shown.shape, secret: z.string().optional() }).meta({
  id: 'WebhookWithSecret',
  description: '`secret` is present only if the service generated the secret. No later response contains the secret.',
});

/**
 * An arbitrary policy, used to build the JSON schemas of the request bodies. Any policy gives the same JSON schemas,
 * because a JSON schema cannot express which URLs are allowed.
 */
export const SOME_TARGET: TargetPolicy = { allowHttp: true, allowedRanges: [] };
const written = newWebhookSchema(SOME_TARGET).meta({
  id: 'WebhookWritten',
  examples: [{ name: 'Points', url: 'https://receiver.example/points', eventType: 'DataPointsWritten' }],
});
const changed = webhookChangeSchema(SOME_TARGET, { url: '' }).meta({
  id: 'WebhookUpdate',
  examples: [{ isEnabled: false }],
  description: 'An absent member keeps its value. null resets httpMethod, headers, filter and bodyTemplate.',
});

export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/webhooks', operationId: 'listWebhooks', tag, summary: 'List webhooks' },
    access: ALL_USERS,
    query: WEBHOOK_LIST,
    isListing: true,
    answers: [answersJson('The webhooks visible to the user, in order of name.', z.array(shown))],
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
    answers: [answersJson('The new webhook.', made)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'put', path: '/account/webhooks/:id', operationId: 'updateWebhook', tag, summary: 'Change a webhook' },
    access: MANAGERS,
    inPath,
    body: jsonBody(changed),
    answers: [answersJson('The changed webhook.', shown)],
  },
  {
    ...{ method: 'patch', path: '/account/webhooks/:webhookId', operationId: 'patchWebhook', tag },
    summary: 'Patch a webhook',
    access: MANAGERS,
    inPath: { webhookId: textId('Id of the webhook.') },
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

/** The events that the service sends to webhooks, with example data for each event type (R-I2, R-I3). */
export const SENT_EVENTS: readonly SentEvent[] = EVENT_TYPES.map((type) => ({ type, data: SAMPLE_DATA[type] }));
