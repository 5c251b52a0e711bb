/** What the service sends of its own accord (R-I3), as the webhooks of the document. */
import type { SentEvent } from '../../platform/openapi/operation.ts';
import type { JsonSchema } from './json-schemas.ts';

const HEADERS: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'The id of the message, the same on every try: what came twice is told by it.'],
  ['webhook-timestamp', 'When it was sent, in UNIX seconds.'],
  [
    'webhook-signature',
    'One or two of `v1,<base64>`: HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under the secret of the webhook.',
  ],
];

const ANSWERS = {
  '2XX': { description: 'It was taken.' },
  '410': { description: 'No more of it: the webhook is disabled.' },
  default: {
    description: 'It is tried again: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, or after `Retry-After`.',
  },
};

/** By type; the body as it is without a template. */
export function describeEvents(events: readonly SentEvent[], tag: string): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(events.map((event) => [event.type, { post: describeEvent(event, tag) }]));
}

function describeEvent({ type, data }: SentEvent, tag: string): JsonSchema {
  const example = { type, timestamp: '2026-03-01T00:15:02.530112Z', accountId: 1, data };
  return {
    operationId: `on${type}`,
    tags: [tag],
    summary: `Tells a webhook of ${type}`,
    parameters: HEADERS.map(([name, description]) => ({
      ...{ name, in: 'header', required: true, description },
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema: bodySchema(type), example } } },
    responses: ANSWERS,
    security: [],
  };
}

function bodySchema(type: string): JsonSchema {
  return {
    type: 'object',
    properties: {
      type: { type: 'string', const: type },
      timestamp: { type: 'string', format: 'date-time' },
      accountId: { type: 'integer' },
      data: { type: 'object' },
    },
    required: ['type', 'timestamp', 'accountId', 'data'],
  };
}
