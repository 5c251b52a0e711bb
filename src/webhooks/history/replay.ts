/** Replays the message of a history entry under the same `webhook-id`, at a manager's request (R-I5). */
import type { WriteAuditEntry } from '../../identity/audit-writer.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Requester } from '../administration/save-webhook.ts';
import type { SecretVault } from '../secret-vault.ts';
import { lockWebhook } from '../webhooks.ts';
import { getEntry, type WebhookHistory } from './find-history.ts';

interface Origin {
  readonly eventId: string;
  /** Attempt number of the latest attempt to send the message; 0 when the entry represents dropped messages. */
  readonly lastAttempt: number;
  readonly isPending: boolean;
}

const MAX_ID = 2n ** 63n - 1n;

// Locks the message, so that the purge of old history cannot delete it before the new attempt exists.
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

export interface ReplayServices {
  readonly vault: SecretVault;
  readonly audit: WriteAuditEntry<'WebhookReplayed'>;
}

/**
 * Plans an immediate new attempt to deliver the message of a history entry (R-I5). Locks the webhook until the
 * transaction ends, so nothing else can plan a replay or a retry of the message meanwhile.
 * @returns the new history entry, whose state is Pending.
 * @throws {DomainError}
 * - not_found: the account has no such webhook, or the webhook has no such entry.
 * - conflict: the webhook is disabled, the entry represents dropped messages, or the message is waiting or being sent.
 */
export async function replayEntry(
  transaction: Transaction,
  by: Requester,
  webhookId: string,
  historyId: string,
  { vault, audit }: ReplayServices,
): Promise<WebhookHistory> {
  const { webhook } = await lockWebhook(transaction, vault, by.caller.accountId, webhookId);
  const { eventId, lastAttempt, isPending } = await getOrigin(transaction, webhook.id, historyId);
  if (lastAttempt === 0) {
    throw new DomainError('conflict', 'the history entry represents dropped messages, which cannot be sent again');
  }
  if (!webhook.isEnabled)
    throw new DomainError('conflict', 'the webhook is disabled; enable it before you replay a message');
  if (isPending) throw new DomainError('conflict', 'the message is already waiting to be sent, or is being sent');
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
  if (!origin) throw new DomainError('not_found', `the history of the webhook has no entry ${historyId}`);
  return origin;
}
