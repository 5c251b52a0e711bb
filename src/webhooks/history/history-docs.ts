/** OpenAPI description of the routes for the history of a webhook (R-A9, §4.4, R-I5). */
import { z } from 'zod';
import { answersJson, instantSchema, MANAGERS, type Operation, textId } from '../../platform/openapi/operation.ts';
import type { ReceivedResponse, SentRequest } from '../attempt.ts';
import { EVENT_TYPES } from '../event-type.ts';
import { ATTEMPT_STATES, type WebhookHistory } from './find-history.ts';
import { HISTORY_LIST } from './history-routes.ts';

const tag = 'Webhooks';
const headers = z.record(z.string(), z.string());

export const sentRequestSchema = z
  .object({
    method: z.string(),
    url: z.string(),
    headers,
    body: z.string().meta({ description: 'The first 65,536 characters of the body that was sent.' }),
  })
  .meta({ id: 'SentRequest' }) satisfies z.ZodType<SentRequest>;
export const receivedResponseSchema = z
  .object({
    status: z.int(),
    headers,
    body: z.string().meta({ description: 'The first 4 KiB of the body of the response.' }),
  })
  .meta({ id: 'ReceivedResponse' }) satisfies z.ZodType<ReceivedResponse>;

const history = z
  .object({
    id: z.string(),
    webhookId: z.string(),
    eventId: z
      .string()
      .meta({ description: 'Value of the header `webhook-id`, the same for every attempt to deliver a message.' }),
    eventType: z.enum(EVENT_TYPES),
    attempt: z.int().min(0),
    isReplay: z.boolean(),
    state: z.enum(ATTEMPT_STATES),
    date: instantSchema,
    durationMs: z.number().exactOptional(),
    request: sentRequestSchema.exactOptional(),
    response: receivedResponseSchema.exactOptional(),
    error: z.string().exactOptional(),
    nextAttemptDate: instantSchema.exactOptional().meta({
      description:
        'For a Pending attempt: the time at which it is due. For a Failed attempt: the planned time of the next attempt.',
    }),
  })
  .meta({ id: 'WebhookHistory' }) satisfies z.ZodType<WebhookHistory>;

export const HISTORY_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/webhooks/:id/history', operationId: 'listWebhookHistory', tag },
    summary: 'List delivery attempts of a webhook',
    access: MANAGERS,
    inPath: { id: textId('Id of the webhook.', ['test']) },
    query: HISTORY_LIST,
    isListing: true,
    answers: [
      answersJson(
        'The attempts, newest first. By default, they are deleted when their message is 30 days old. An entry with `attempt` 0 is not an attempt: its `error` says how many messages were dropped.',
        z.array(history),
      ),
    ],
  },
  {
    ...{ method: 'post', path: '/account/webhooks/:id/history/:historyId/replay', operationId: 'replayWebhook', tag },
    summary: 'Send a message again',
    access: MANAGERS,
    inPath: { id: textId('Id of the webhook.'), historyId: textId('Id of an attempt in the history of the webhook.') },
    answers: [answersJson('The new attempt, which is due immediately.', history)],
    errors: ['conflict'],
  },
];
