/**
 * Transactional outbox of emails: an email is queued in the transaction of the change it reports, so an email is queued
 * if and only if the change is committed. A row contains no secrets; they are created when the email is sent.
 */
import type { Queryable } from '../database/database.ts';
import type { LeasedRow, LeasedTable } from '../database/row-leases.ts';
import type { MailValues } from './mail-render.ts';

export interface NewMail {
  /** Kind of the email: the key of its text in MailTexts. */
  readonly kind: string;
  readonly to: string;
  /** Language of the email, ISO 639-1. */
  readonly language: string;
  /** Values of the placeholders of the text; never secrets. */
  readonly data?: MailValues;
  /** Account whose sender name and reply address are used. */
  readonly accountId?: number;
  /** The email is deleted together with the user that has this id. */
  readonly userId?: string;
  /** The email is deleted together with the invitation that has this id. */
  readonly invitationId?: string;
  /** Hours to wait before the email is sent; default 0. */
  readonly delayHours?: number;
}

export interface WaitingMail extends LeasedRow {
  readonly id: number;
  readonly kind: string;
  readonly to: string;
  readonly language: string;
  readonly data: MailValues;
  readonly accountId: number | null;
  readonly userId: string | null;
  readonly invitationId: string | null;
  readonly messageId: string;
  /** Number of attempts so far, including this one. */
  readonly attempts: number;
  readonly createdDate: string;
  readonly senderName: string | null;
  readonly replyTo: string | null;
}

/** While an email is being sent, `not_before_date` holds the time at which the lease of the email ends. */
export const LEASED_MAILS: LeasedTable = {
  ...{ table: 'mail', idType: 'int8', column: 'not_before_date', state: 'Waiting' },
};

/**
 * Changes the address of a user's waiting emails of the given kinds, because the previous address may belong to another
 * person.
 */
export async function redirectMails(
  transaction: Queryable,
  userId: string,
  kinds: readonly string[],
  to: string,
): Promise<void> {
  await transaction.query(
    `update mail set to_address = $2 where user_id = $1 and state = 'Waiting' and kind = any($3)`,
    [userId, to, kinds],
  );
}

/** @returns the number of emails of a kind that were queued for a user in the last `seconds` seconds. */
export async function countRecentMails(
  database: Queryable,
  userId: string,
  kind: string,
  seconds: number,
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int from mail
     where user_id = $1 and kind = $2 and created_date > now() - make_interval(secs => $3)`,
    [userId, kind, seconds],
  );
  return rows[0]?.count ?? 0;
}

/** Queues an email in the given transaction. */
export async function queueMail(transaction: Queryable, mail: NewMail): Promise<void> {
  await transaction.query(
    `insert into mail (kind, to_address, language, data, account_id, user_id, invitation_id, not_before_date)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(hours => $8))`,
    [
      mail.kind,
      mail.to,
      mail.language,
      JSON.stringify(mail.data ?? {}),
      mail.accountId,
      mail.userId,
      mail.invitationId,
      mail.delayHours ?? 0,
    ],
  );
}

/**
 * Claims the email that has been due longest. The claim is a lease of `leaseMs`, during which no other sender can claim
 * the email.
 * @returns undefined when no email is due.
 */
export async function claimMail(database: Queryable, leaseMs: number): Promise<WaitingMail | undefined> {
  const { rows } = await database.query<WaitingMail>(
    `with due as (
       select id from mail where state = 'Waiting' and not_before_date <= clock_timestamp()
       order by not_before_date limit 1 for update skip locked
     ), claimed as (
       update mail set attempts = attempts + 1, not_before_date = clock_timestamp() + $1 * interval '1 millisecond'
       from due where mail.id = due.id returning mail.*
     )
     select c.id, c.kind, c.to_address as "to", c.language, c.data, c.account_id as "accountId", c.user_id as "userId",
            c.invitation_id as "invitationId", c.message_id as "messageId", c.attempts, c.created_date as "createdDate",
            c.not_before_date as "claimedUntil", a.email_sender_name as "senderName", a.email_reply_to as "replyTo"
     from claimed c left join account a on a.id = c.account_id`,
    [leaseMs],
  );
  return rows[0];
}

/** Result of an attempt. `Obsolete`: the email is no longer needed. `Waiting`: retry after `pauseSec` seconds. */
export type MailOutcome =
  | { readonly kind: 'Sent' | 'Obsolete' }
  | { readonly kind: 'Failed'; readonly failure: string }
  | { readonly kind: 'Waiting'; readonly failure: string; readonly pauseSec: number };

/**
 * Stores the result of an attempt. For the result `Waiting`, also stores the time of the next attempt.
 * @returns false, and stores nothing, when the claim was lost.
 */
export async function writeMailOutcome(
  database: Queryable,
  { id, claimedUntil }: WaitingMail,
  outcome: MailOutcome,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update mail set state = $2, failure = $3, sent_date = case when $2 = 'Sent' then clock_timestamp() end,
       not_before_date = clock_timestamp() + make_interval(secs => $4)
     where id = $1 and not_before_date = $5 and state = 'Waiting'`,
    [
      id,
      outcome.kind,
      'failure' in outcome ? outcome.failure : null,
      outcome.kind === 'Waiting' ? outcome.pauseSec : 0,
      claimedUntil,
    ],
  );
  return rowCount === 1;
}

/** Deletes finished emails that were queued more than `days` days ago. */
export async function purgeMails(database: Queryable, days: number): Promise<void> {
  await database.query(
    `delete from mail where state <> 'Waiting' and created_date < now() - make_interval(days => $1)`,
    [days],
  );
}
