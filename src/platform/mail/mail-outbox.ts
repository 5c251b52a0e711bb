/**
 * Mails to send, written in the transaction of what they tell: what was not committed is not told, and nothing told is
 * lost. Secrets are no part of a row; they are made when the mail is sent (mail-sender.ts).
 */
import type { Queryable } from '../database/database.ts';
import type { MailValues } from './mail-render.ts';
import type { MailKind } from './mail-text.ts';

export interface NewMail {
  readonly kind: MailKind;
  readonly to: string;
  /** ISO 639-1. */
  readonly language: string;
  /** What the text mentions and is no secret. */
  readonly data?: MailValues;
  /** Whose sender name and reply address are used. */
  readonly accountId?: number;
  /** The mail goes with the user. */
  readonly userId?: string;
  /** The mail goes with the invitation. */
  readonly invitationId?: string;
  /** Hours to wait; default none. */
  readonly delayHours?: number;
}

export interface WaitingMail {
  readonly id: number;
  readonly kind: MailKind;
  readonly to: string;
  readonly language: string;
  readonly data: MailValues;
  readonly accountId: number | null;
  readonly userId: string | null;
  readonly invitationId: string | null;
  readonly messageId: string;
  /** This one included. */
  readonly attempts: number;
  readonly createdDate: string;
  readonly senderName: string | null;
  readonly replyTo: string | null;
}

/** Mails with secrets that wait for a user go to the new address: the old one may be a mistake, or somebody else's. */
export async function redirectMails(transaction: Queryable, userId: string, to: string): Promise<void> {
  await transaction.query(
    `update mail set to_address = $2
     where user_id = $1 and state = 'Waiting' and kind in ('temporary_password', 'password_reset')`,
    [userId, to],
  );
}

/** How many mails of a kind were asked for, for a user, in the last `seconds`. */
export async function countRecentMails(
  database: Queryable,
  userId: string,
  kind: MailKind,
  seconds: number,
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int from mail
     where user_id = $1 and kind = $2 and created_date > now() - make_interval(secs => $3)`,
    [userId, kind, seconds],
  );
  return rows[0]?.count ?? 0;
}

/** Asks for a mail within the caller's transaction. */
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

/** Takes the mail that is due longest for `leaseSec` seconds: nobody else takes it meanwhile, and after that anybody may. */
export async function claimMail(database: Queryable, leaseSec: number): Promise<WaitingMail | undefined> {
  const { rows } = await database.query<WaitingMail>(
    `with due as (
       select id from mail where state = 'Waiting' and not_before_date <= clock_timestamp()
       order by not_before_date limit 1 for update skip locked
     ), claimed as (
       update mail set attempts = attempts + 1, not_before_date = clock_timestamp() + make_interval(secs => $1)
       from due where mail.id = due.id returning mail.*
     )
     select c.id, c.kind, c.to_address as "to", c.language, c.data, c.account_id as "accountId", c.user_id as "userId",
            c.invitation_id as "invitationId", c.message_id as "messageId", c.attempts, c.created_date as "createdDate",
            a.email_sender_name as "senderName", a.email_reply_to as "replyTo"
     from claimed c left join account a on a.id = c.account_id`,
    [leaseSec],
  );
  return rows[0];
}

/** How an attempt ended. */
export type MailOutcome =
  | { readonly kind: 'Sent' | 'Obsolete' }
  | { readonly kind: 'Failed'; readonly failure: string }
  | { readonly kind: 'Waiting'; readonly failure: string; readonly pauseSec: number };

export async function writeMailOutcome(database: Queryable, mailId: number, outcome: MailOutcome): Promise<void> {
  await database.query(
    `update mail set state = $2, failure = $3, sent_date = case when $2 = 'Sent' then clock_timestamp() end,
       not_before_date = clock_timestamp() + make_interval(secs => $4)
     where id = $1`,
    [
      mailId,
      outcome.kind,
      'failure' in outcome ? outcome.failure : null,
      outcome.kind === 'Waiting' ? outcome.pauseSec : 0,
    ],
  );
}

/** Deletes what was done with more than `days` days ago. */
export async function purgeMails(database: Queryable, days: number): Promise<void> {
  await database.query(
    `delete from mail where state <> 'Waiting' and created_date < now() - make_interval(days => $1)`,
    [days],
  );
}
