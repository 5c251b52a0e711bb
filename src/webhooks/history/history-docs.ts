/** The description of the history of a webhook (R-A9, §4.4, R-I5). */
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
    body: z.string().meta({ description: 'The first 64 KiB.' }),
  })
  .meta({ id: 'SentRequest' }) satisfies z.ZodType<SentRequest>;
export const receivedResponseSchema = z
  .object({ status: z.int(), headers, body: z.string().meta({ description: 'The first 4 KiB.' }) })
  .meta({ id: 'ReceivedResponse' }) satisfies z.ZodType<ReceivedResponse>;

const history = z
  .object({
    id: z.string(),
    webhookId: z.string(),
    eventId: z.string().meta({ description: 'The header `webhook-id`, the same for every try of a message.' }),
    eventType: z.enum(EVENT_TYPES),
    attempt: z.int().min(0),
    isReplay: z.boolean(),
    state: z.enum(ATTEMPT_STATES),
    date: instantSchema,
    durationMs: z.number().exactOptional(),
    request: sentRequestSchema.exactOptional(),
    response: receivedResponseSchema.exactOptional(),
    error: z.string().exactOptional(),
    nextAttemptDate: instantSchema
      .exactOptional()
      .meta({ description: 'Of one Pending when it is due, of one Failed when it is tried again.' }),
  })
  .meta({ id: 'WebhookHistory' }) satisfies z.ZodType<WebhookHistory>;

export const HISTORY_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/webhooks/:id/history', operationId: 'listWebhookHistory', tag },
    summary: 'Every try of telling a webhook of something',
    access: MANAGERS,
    inPath: { id: textId('The id of a webhook.') },
    query: HISTORY_LIST,
    isListing: true,
    answers: [answersJson('The newest first; kept for 30 days.', z.array(history))],
  },
  {
    ...{ method: 'post', path: '/account/webhooks/:id/history/:historyId/replay', operationId: 'replayWebhook', tag },
    summary: 'Send a message again',
    access: MANAGERS,
    inPath: { id: textId('The id of a webhook.'), historyId: textId('The id of a try in its history.') },
    answers: [answersJson('The new try, which is due at once.', history)],
    errors: ['conflict'],
  },
];
