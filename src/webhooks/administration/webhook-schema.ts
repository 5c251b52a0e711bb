/**
 * Schemas of webhooks as clients write them (R-I1). The schemas check each field by itself; check-fields.ts checks
 * fields against each other. Unknown members, and case in member names, are ignored. In a new webhook, null means the
 * same as an absent member. In a change, an absent member leaves its field unchanged, and null resets `httpMethod`,
 * `headers`, `filter` and `bodyTemplate`.
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { booleanSchema, enumerationSchema, idSchema, lenientObject } from '../../platform/http/lenient.ts';
import { numberedFrom0 } from '../../platform/http/query-parameters.ts';
import { MAX_NAME } from '../../platform/limits.ts';
import { EVENT_TYPES } from '../event-type.ts';
import { findHeaderProblems } from '../header-rules.ts';
import { MAX_TEMPLATE_LENGTH } from '../sending/body-template.ts';
import { MAX_URL_LENGTH, parseTargetUrl, type TargetPolicy } from '../sending/target-url.ts';
import { HTTP_METHODS, type WebhookFields, type WebhookFilter } from '../webhook.ts';
import { isSecret, SECRET_RULE } from './webhook-secret.ts';

const MAX_IDS = 1000;

const textSchema = (max: number) => z.string().max(max).refine(isStorableText, { error: STORABLE_RULE });

/** @param stored the webhook's URL before the change. A change may keep this URL even if the policy now refuses it. */
const urlSchema = (policy: TargetPolicy, stored?: string) =>
  textSchema(MAX_URL_LENGTH).superRefine((text, context) => {
    const target = parseTargetUrl(text, policy);
    if (text !== stored && target.kind === 'refused') context.addIssue({ code: 'custom', message: target.problem });
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
  })
  .meta({ type: 'object', additionalProperties: { type: 'string' } });

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
const eventTypeSchema = enumerationSchema(numberedFrom0(EVENT_TYPES));
const httpMethodSchema = enumerationSchema(numberedFrom0(HTTP_METHODS))
  .nullable()
  .transform((method) => method ?? 'POST');
const clearableHeadersSchema = headersSchema.nullable().transform((headers) => headers ?? {});
const clearableFilterSchema = filterSchema.nullable().transform((filter) => filter ?? {});
const templateSchema = textSchema(MAX_TEMPLATE_LENGTH).nullable();

/** Members of a new webhook. The body of a request for a trial send may have these members too (R-I7). */
export const newWebhookShape = (policy: TargetPolicy) => ({
  name: nameSchema,
  url: urlSchema(policy),
  eventType: eventTypeSchema,
  isEnabled: booleanSchema.nullish().transform((isEnabled) => isEnabled ?? true),
  httpMethod: httpMethodSchema.default('POST'),
  headers: clearableHeadersSchema.default({}),
  filter: clearableFilterSchema.default({}),
  bodyTemplate: templateSchema.default(null),
  /** Secret of the webhook; null means that the client gave no secret. */
  secret: secretSchema.nullish().transform((secret) => secret ?? null),
});

/** Schema of the body of POST (R-I1): defaults apply to optional members that are absent or null. */
export const newWebhookSchema = (policy: TargetPolicy) => lenientObject(newWebhookShape(policy));

/**
 * Schema of the body of PUT, and of the document that a PATCH results in (R-I1). An absent member leaves its field
 * unchanged.
 * @param stored fields of the webhook before the change.
 */
export const webhookChangeSchema = (policy: TargetPolicy, stored: Pick<WebhookFields, 'url'>) =>
  lenientObject({
    name: nameSchema.optional(),
    url: urlSchema(policy, stored.url).optional(),
    eventType: eventTypeSchema.optional(),
    isEnabled: booleanSchema.optional(),
    httpMethod: httpMethodSchema.optional(),
    headers: clearableHeadersSchema.optional(),
    filter: clearableFilterSchema.optional(),
    bodyTemplate: templateSchema.optional(),
    // Null keeps the secret, as an absent member does: GET never returns the secret, so a client that writes back what
    // it read has no secret to send.
    secret: secretSchema.nullish(),
  });

export type NewWebhook = z.output<ReturnType<typeof newWebhookSchema>>;
export type WebhookChange = z.output<ReturnType<typeof webhookChangeSchema>>;
