/** Making, changing and deleting webhooks, each with its entry in the audit trail: names of fields, never what is in them. */
import { isDeepStrictEqual } from 'node:util';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { endPending } from '../delivery/end-pending.ts';
import type { StoredWebhook, WebhookFields } from '../webhook.ts';
import { deleteWebhook, insertWebhook, lockWebhook, updateWebhook } from '../webhooks.ts';
import { assertFields } from './check-fields.ts';
import type { NewWebhook, WebhookChange } from './webhook-schema.ts';
import { makeSecret } from './webhook-secret.ts';

export type WebhookAction = 'WebhookCreated' | 'WebhookUpdated' | 'WebhookDeleted';

export interface SaveServices {
  readonly audit: WriteAuditEntry<WebhookAction>;
  /** How long a secret that was replaced stays valid: config.WEBHOOK_SECRET_OVERLAP_HOURS. */
  readonly secretOverlapHours: number;
}

/** Who does it, in which request. */
export interface Requester {
  readonly caller: Caller;
  readonly requestId: string;
}

/** @returns the secret too, where the service made one: this is the only time it can be told. */
export async function createWebhook(
  { audit }: SaveServices,
  transaction: Transaction,
  by: Requester,
  { secret, ...fields }: NewWebhook,
): Promise<{ readonly webhook: StoredWebhook; readonly madeSecret: string | undefined }> {
  const { accountId } = by.caller;
  await assertFields(transaction, accountId, fields);
  const madeSecret = secret === null ? makeSecret() : undefined;
  const webhook = await insertWebhook(transaction, accountId, fields, madeSecret ?? secret ?? '');
  const { id: targetId, name: targetName, eventType } = webhook;
  await audit(transaction, by, { action: 'WebhookCreated', targetId, targetName, details: { eventType } });
  return { webhook, madeSecret };
}

/**
 * Writes what differs from what is stored.
 * @param plan what to change, given what is.
 * @throws DomainError not_found, invalid_input.
 */
export async function changeWebhook(
  { audit, secretOverlapHours }: SaveServices,
  transaction: Transaction,
  by: Requester,
  id: string,
  plan: (current: StoredWebhook) => WebhookChange,
): Promise<StoredWebhook> {
  const { webhook: current, secret: currentSecret } = await lockWebhook(transaction, by.caller.accountId, id);
  const { secret = null, ...given } = plan(current);
  const fields = { ...fieldsOf(current), ...definedOf(given) };
  await assertFields(transaction, by.caller.accountId, fields, current);
  const isNewSecret = secret !== null && secret !== currentSecret;
  const members = [...changedMembers(current, fields), ...(isNewSecret ? ['secret'] : [])];
  if (members.length === 0) return current;
  const webhook = await updateWebhook(transaction, current.id, fields, secret, secretOverlapHours);
  if (current.isEnabled && !webhook.isEnabled) await endPending(transaction, webhook.id, 'the webhook was disabled');
  const { id: targetId, name: targetName } = webhook;
  await audit(transaction, by, { action: 'WebhookUpdated', targetId, targetName, details: { members } });
  return webhook;
}

/** @throws DomainError not_found. */
export async function removeWebhook(
  { audit }: SaveServices,
  transaction: Transaction,
  by: Requester,
  id: string,
): Promise<void> {
  const targetName = await deleteWebhook(transaction, by.caller.accountId, id);
  await audit(transaction, by, { action: 'WebhookDeleted', targetId: id.toLowerCase(), targetName });
}

function fieldsOf(webhook: StoredWebhook): WebhookFields {
  const { name, url, eventType, isEnabled, httpMethod, headers, filter, bodyTemplate } = webhook;
  return { name, url, eventType, isEnabled, httpMethod, headers, filter, bodyTemplate };
}

type Given = Omit<WebhookChange, 'secret'>;

function definedOf(given: Given): Partial<WebhookFields> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function changedMembers(current: StoredWebhook, fields: WebhookFields): readonly string[] {
  const entries = Object.entries(fields) as [keyof WebhookFields, unknown][];
  return entries.filter(([name, value]) => !isDeepStrictEqual(value, current[name])).map(([name]) => name);
}
