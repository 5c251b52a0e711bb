/**
 * What clients write of a webhook (R-I1): property names in any case, others left out. Null is as good as absent for a
 * new one and clears what may be empty in a change; what is absent from a change keeps its value.
 */
import { z } from 'zod';
import { booleanSchema, idSchema, lenientObject } from '../platform/lenient.ts';
import type { EventType } from '../platform/outbox.ts';
import { isStorableText, STORABLE_RULE } from '../platform/storable-text.ts';
import { EVENT_TYPES } from './event-type-rules.ts';
import { findHeaderProblems } from './header-rules.ts';
import { HTTP_METHODS, type WebhookFilter } from './webhook.ts';
import { isSecret, SECRET_RULE } from './webhook-secret.ts';

const MAX_NAME = 200;
const MAX_URL = 2000;
const MAX_TEMPLATE = 65_536;
const MAX_IDS = 1000;

const textSchema = (max: number) => z.string().max(max).refine(isStorableText, { error: STORABLE_RULE });

/** One of the names, in any case. */
function nameOneOf<Name extends string>(names: readonly Name[]) {
  const find = (text: string) => names.find((name) => name.toLowerCase() === text.toLowerCase());
  return z.preprocess(
    (value) => (typeof value === 'string' ? (find(value) ?? value) : value),
    z.enum(names as readonly [Name, ...Name[]], { error: `must be one of ${names.join(', ')}` }),
  );
}

const urlSchema = textSchema(MAX_URL).refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
  error: 'must be an address such as https://receiver.example/path',
});

const headersSchema = z
  .custom<Readonly<Record<string, string>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be an object' },
  )
  .superRefine((headers, context) => {
    for (const { name, message } of findHeaderProblems(headers)) {
      context.addIssue({ code: 'custom', path: name === undefined ? [] : [name], message });
    }
  });

const idsSchema = z.array(idSchema).min(1).max(MAX_IDS).nullish();

const filterSchema = lenientObject({ siteIds: idsSchema, sourceIds: idsSchema, variableIds: idsSchema }).transform(
  ({ siteIds, sourceIds, variableIds }): WebhookFilter => ({
    ...(siteIds && { siteIds }),
    ...(sourceIds && { sourceIds }),
    ...(variableIds && { variableIds }),
  }),
);

const secretSchema = z.string().refine(isSecret, { error: SECRET_RULE });

const nameSchema = textSchema(MAX_NAME).min(1, 'must not be empty');
const eventTypeSchema = nameOneOf<EventType>(EVENT_TYPES);
const httpMethodSchema = nameOneOf(HTTP_METHODS)
  .nullable()
  .transform((method) => method ?? 'POST');
const clearableHeadersSchema = headersSchema.nullable().transform((headers) => headers ?? {});
const clearableFilterSchema = filterSchema.nullable().transform((filter) => filter ?? {});
const templateSchema = textSchema(MAX_TEMPLATE).nullable();

/** Of a new one, and of a test, which needs no name (R-I7). */
export const NEW_WEBHOOK_SHAPE = {
  name: nameSchema,
  url: urlSchema,
  eventType: eventTypeSchema,
  isEnabled: booleanSchema.nullish().transform((isEnabled) => isEnabled ?? true),
  httpMethod: httpMethodSchema.default('POST'),
  headers: clearableHeadersSchema.default({}),
  filter: clearableFilterSchema.default({}),
  bodyTemplate: templateSchema.default(null),
  /** null: the service makes one. */
  secret: secretSchema.nullish().transform((secret) => secret ?? null),
};

export const newWebhookSchema = lenientObject(NEW_WEBHOOK_SHAPE);

export const webhookChangeSchema = lenientObject({
  name: nameSchema.optional(),
  url: urlSchema.optional(),
  eventType: eventTypeSchema.optional(),
  isEnabled: booleanSchema.optional(),
  httpMethod: httpMethodSchema.optional(),
  headers: clearableHeadersSchema.optional(),
  filter: clearableFilterSchema.optional(),
  bodyTemplate: templateSchema.optional(),
  // It is not shown: who puts back what they read has none, or null where their program has the member.
  secret: secretSchema.nullish(),
});

export type NewWebhook = z.output<typeof newWebhookSchema>;
export type WebhookChange = z.output<typeof webhookChangeSchema>;
