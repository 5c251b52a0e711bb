/**
 * Disables a webhook whose receiver answered 410 or failed for days (R-I3). The same transaction ends the waiting
 * attempts of the webhook, and queues an email to every manager of the account who has an email address and is not
 * locked.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import { toMailLanguage } from '../../platform/mail/mail-text.ts';
import { type DisableReason, disableReason, withoutQuery } from './disable-reason.ts';
import { endPending } from './end-pending.ts';

interface Disabled {
  readonly accountId: number;
  readonly webhookName: string;
  readonly accountName: string;
  readonly url: string;
}

interface Manager {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly language: string;
}

const DISABLE = `
  update webhook set is_enabled = false, disabled_reason = $2, disabled_date = clock_timestamp()
  from account where webhook.id = $1 and webhook.is_enabled and account.id = webhook.account_id
  returning account_id as "accountId", webhook.name as "webhookName", account.name as "accountName", url`;

const FIND_MANAGERS = `
  select u.id as "userId", email, coalesce(nullif(first_name, ''), user_name) as name, language
  from account_member m join app_user u on u.id = m.user_id
  where m.account_id = $1 and u.role = 'MANAGER' and u.email is not null
    and not (u.is_locked and coalesce(u.locked_until > now(), true))
  order by u.id`;

/**
 * Disables a webhook, ends its waiting attempts and queues an email to each active manager of the account (R-I3).
 * @returns false when the webhook was already disabled or deleted.
 */
export async function disableWebhook(
  transaction: Transaction,
  webhookId: string,
  reason: DisableReason,
): Promise<boolean> {
  const reasonText = disableReason(reason, 'en');
  const { rows } = await transaction.query<Disabled>(DISABLE, [webhookId, reasonText]);
  const [webhook] = rows;
  if (!webhook) return false;
  await endPending(transaction, webhookId, `the webhook was disabled: ${reasonText}`);
  const managers = await transaction.query<Manager>(FIND_MANAGERS, [webhook.accountId]);
  for (const manager of managers.rows) await queueMailTo(transaction, webhook, manager, reason);
  return true;
}

async function queueMailTo(
  transaction: Transaction,
  { accountId, webhookName, accountName, url }: Disabled,
  { userId, email, name, language }: Manager,
  reason: DisableReason,
): Promise<void> {
  const text = disableReason(reason, toMailLanguage(language));
  const data = { name, webhookName, accountName, reason: text, url: withoutQuery(url) };
  await queueMail(transaction, { kind: 'webhook_disabled', to: email, language, data, accountId, userId });
}
