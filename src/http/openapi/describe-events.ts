/**
 * Builds the member `webhooks` of the OpenAPI document. The member describes the webhook requests of the service
 * (R-I3).
 */
import type { SentEvent } from '../../platform/openapi/operation.ts';
import type { JsonSchema } from './json-schemas.ts';

const HEADERS: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'Id of the message, the same on every attempt. Receivers use it to ignore duplicates.'],
  ['webhook-timestamp', 'Time of the attempt, as a UNIX timestamp in seconds.'],
  [
    'webhook-signature',
    'One or two of `v1,<base64>`: HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` under the secret of the webhook.',
  ],
];

const ANSWERS = {
  '2XX': { description: 'The receiver accepted the message.' },
  '410': { description: 'The receiver no longer exists: the service disables the webhook.' },
  default: {
    description:
      'The attempt failed. The service retries, by default after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, or later if `Retry-After` asks for a longer delay.',
  },
};

/**
 * @returns OpenAPI path items by event type. Each path item describes the request that the service sends to a webhook
 *   without a template (R-I3).
 */
export function describeEvents(events: readonly SentEvent[], tag: string): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(events.map((event) => [event.type, { post: describeEvent(event, tag) }]));
}

function describeEvent({ type, data }: SentEvent, tag: string): JsonSchema {
  const example = { type, timestamp: '2026-03-01T00:15:02.530112Z', accountId: 1, data };
  return {
    operationId: `on${type}`,
    tags: [tag],
    summary: `Notify a webhook about the event ${type}`,
    parameters: HEADERS.map(([name, description]) => ({
      ...{ name, in: 'header', required: true, description },
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(type)}` }, example } },
    },
    responses: ANSWERS,
    security: [],
  };
}

/** @returns the schemas of the bodies of events, by component name. */
export function eventSchemas(events: readonly SentEvent[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(events.map(({ type }) => [schemaName(type), bodySchema(type)]));
}

/** `SiteCreated` → `SiteCreatedEvent`: generated clients use the name of the schema as the name of a type. */
function schemaName(type: string): string {
  return `${type}Event`;
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
