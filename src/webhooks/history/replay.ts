/** Sends the message of an entry of the history again, under the same webhook-id, because a manager asks for it (R-I5). */
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Requester } from '../administration/save-webhook.ts';
import { lockWebhook } from '../webhooks.ts';
import { getEntry, type WebhookHistory } from './find-history.ts';

interface Origin {
  readonly eventId: string;
  /** Number of the last try; 0: the entry tells of messages that were not kept. */
  readonly lastAttempt: number;
  readonly isPending: boolean;
}

const MAX_ID = 2n ** 63n - 1n;

// The message is held: otherwise the purge of what is too old may take it away before there is a new try of it.
const FIND = `
  select event_id as "eventId",
    (select max(attempt) from webhook_attempt other where other.event_id = entry.event_id) as "lastAttempt",
    exists (select from webhook_attempt other where other.event_id = entry.event_id and state = 'Pending') as "isPending"
  from webhook_attempt entry join webhook_event event on event.id = entry.event_id
  where entry.id = $1 and entry.webhook_id = $2
  for key share of event`;

const INSERT = `
  insert into webhook_attempt (event_id, webhook_id, attempt, is_replay) values ($1, $2, $3, true)
  returning id::text`;

/**
 * Plans one more try, due at once. Those who plan or end tries of the webhook hold it meanwhile, so it is sure that the
 * message is not about to be sent anyway.
 * @returns the new entry, Pending.
 * @throws DomainError not_found for an entry of another webhook too; conflict.
 */
export async function replayEntry(
  transaction: Transaction,
  by: Requester,
  webhookId: string,
  historyId: string,
  audit: WriteAuditEntry<'WebhookReplayed'>,
): Promise<WebhookHistory> {
  const { webhook } = await lockWebhook(transaction, by.caller.accountId, webhookId);
  const { eventId, lastAttempt, isPending } = await getOrigin(transaction, webhook.id, historyId);
  if (lastAttempt === 0) {
    throw new DomainError('conflict', 'the entry tells of messages that were not kept: there is nothing to send again');
  }
  if (!webhook.isEnabled) throw new DomainError('conflict', 'the webhook is disabled; enable it first');
  if (isPending) throw new DomainError('conflict', 'the message is about to be sent already');
  const { rows } = await transaction.query<{ id: string }>(INSERT, [eventId, webhook.id, lastAttempt + 1]);
  await audit(transaction, by, {
    action: 'WebhookReplayed',
    targetId: webhook.id,
    targetName: webhook.name,
    details: { historyId, eventId },
  });
  return getEntry(transaction, rows[0]?.id ?? '');
}

async function getOrigin(transaction: Transaction, webhookId: string, historyId: string): Promise<Origin> {
  const isId = /^\d{1,19}$/.test(historyId) && BigInt(historyId) <= MAX_ID;
  const { rows } = isId ? await transaction.query<Origin>(FIND, [historyId, webhookId]) : { rows: [] };
  const [origin] = rows;
  if (!origin) throw new DomainError('not_found', 'there is no such entry in the history of the webhook');
  return origin;
}
