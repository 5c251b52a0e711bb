/** OpenAPI description of the routes of trial sends (R-A9, §4.4, R-I7). */
import { z } from 'zod';
import { answersJson, jsonBody, MANAGERS, type Operation, textId } from '../../platform/openapi/operation.ts';
import { SOME_TARGET } from '../administration/webhook-docs.ts';
import { ATTEMPT_STATES } from '../history/find-history.ts';
import { receivedResponseSchema, sentRequestSchema } from '../history/history-docs.ts';
import { trialSchema } from './trial-schema.ts';
import type { Trial } from './trial-store.ts';

const tag = 'Webhooks';

const started = z
  .object({
    id: z.string(),
    secret: z
      .string()
      .optional()
      .meta({ description: 'Signing secret. Present only if the service generated the secret.' }),
  })
  .meta({ id: 'WebhookTestStarted' });
const test = z
  .object({
    id: z.string(),
    state: z.enum(ATTEMPT_STATES),
    request: sentRequestSchema
      .nullable()
      .meta({ description: 'Null while `state` is `Pending`, and after an internal error.' }),
    response: receivedResponseSchema.exactOptional(),
    error: z.string().exactOptional(),
  })
  .meta({ id: 'WebhookTest' }) satisfies z.ZodType<Trial>;

export const TRIAL_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/account/webhooks/test', operationId: 'testWebhook', tag, access: MANAGERS },
    summary: 'Send a test message to a receiver',
    body: jsonBody(
      trialSchema(SOME_TARGET).meta({
        id: 'WebhookTestWritten',
        examples: [{ url: 'https://receiver.example/points', eventType: 'DataPointsWritten' }],
      }),
    ),
    answers: [answersJson('The test was queued.', started, { headers: { Location: 'URL path of the test result.' } })],
  },
  {
    ...{ method: 'get', path: '/account/webhooks/test/:id', operationId: 'getWebhookTest', tag, access: MANAGERS },
    summary: 'Read the result of a test message',
    inPath: { id: textId('Id of the test message.') },
    answers: [answersJson('The result, kept for 24 hours.', test)],
  },
];
