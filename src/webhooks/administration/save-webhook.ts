/**
 * Creates, changes and deletes webhooks, and writes an audit entry for each of these actions. The entry of a change
 * names the changed fields without their values.
 */
import { isDeepStrictEqual } from 'node:util';
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { endPending } from '../delivery/end-pending.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { StoredWebhook, WebhookFields } from '../webhook.ts';
import { deleteWebhook, insertWebhook, lockWebhook, updateWebhook } from '../webhooks.ts';
import { assertFields } from './check-fields.ts';
import type { NewWebhook, WebhookChange } from './webhook-schema.ts';
import { generateSecret } from './webhook-secret.ts';

export type WebhookAction = 'WebhookCreated' | 'WebhookUpdated' | 'WebhookDeleted';

export interface SaveServices {
  readonly audit: WriteAuditEntry<WebhookAction>;
  /** Encrypts secrets and headers before they are stored. */
  readonly vault: SecretVault;
  /** Hours for which a replaced secret also signs messages: config.WEBHOOK_SECRET_OVERLAP_HOURS. */
  readonly secretOverlapHours: number;
}

/** The caller and the id of a request, for the audit trail. */
export interface Requester {
  readonly caller: Caller;
  readonly requestId: string;
}

/**
 * @returns the webhook, and the secret if the service generated the secret. No later call returns the secret.
 * @throws {DomainError} the errors of `assertFields`; conflict when the account already has 100 webhooks.
 */
export async function createWebhook(
  { audit, vault }: SaveServices,
  transaction: Transaction,
  by: Requester,
  { secret, ...fields }: NewWebhook,
): Promise<{ readonly webhook: StoredWebhook; readonly generatedSecret: string | undefined }> {
  const { accountId } = by.caller;
  await assertFields(transaction, accountId, fields);
  const generatedSecret = secret === null ? generateSecret() : undefined;
  const webhook = await insertWebhook(transaction, vault, accountId, fields, generatedSecret ?? secret ?? '');
  const { id: targetId, name: targetName, eventType } = webhook;
  await audit(transaction, by, { action: 'WebhookCreated', targetId, targetName, details: { eventType } });
  return { webhook, generatedSecret };
}

/**
 * Changes a webhook. Writes nothing when every new value equals the stored value.
 * @param plan a function that computes the change from the stored webhook; the row of the webhook is locked.
 * @throws {DomainError} not_found; the errors of `assertFields` and `plan`.
 */
export async function changeWebhook(
  { audit, vault, secretOverlapHours }: SaveServices,
  transaction: Transaction,
  by: Requester,
  id: string,
  plan: (current: StoredWebhook) => WebhookChange,
): Promise<StoredWebhook> {
  const { accountId } = by.caller;
  const { webhook: current, secret: currentSecret } = await lockWebhook(transaction, vault, accountId, id);
  const { secret = null, ...given } = plan(current);
  const fields = { ...fieldsOf(current), ...definedOf(given) };
  await assertFields(transaction, accountId, fields, current);
  const isNewSecret = secret !== null && secret !== currentSecret;
  const members = [...changedMembers(current, fields), ...(isNewSecret ? ['secret'] : [])];
  if (members.length === 0) return current;
  const stored = { accountId, id: current.id };
  const newSecret = isNewSecret ? secret : null;
  const webhook = await updateWebhook(transaction, vault, stored, fields, newSecret, secretOverlapHours);
  if (current.isEnabled && !webhook.isEnabled) await endPending(transaction, webhook.id, 'the webhook was disabled');
  const { id: targetId, name: targetName } = webhook;
  await audit(transaction, by, { action: 'WebhookUpdated', targetId, targetName, details: { members } });
  return webhook;
}

/** Deletes a webhook and writes an audit entry (R-I1, R-B14). @throws {DomainError} not_found. */
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
