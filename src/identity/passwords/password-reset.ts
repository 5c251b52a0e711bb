/** The link that leads to a new password (R-B11): good once, for an hour; its token is stored as a hash only. */
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable, Transaction } from '../../platform/database/database.ts';

export const PASSWORD_RESET_TTL_SEC = 3600;
const TOKEN_BYTES = 32;

export interface MadeToken {
  readonly token: string;
  readonly expiresDate: Date;
}

export function makeLinkToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function hashLinkToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Makes the one link of a user; an earlier one stops working. */
export async function makePasswordReset(database: Queryable, userId: string, sentTo: string): Promise<MadeToken> {
  const token = makeLinkToken();
  const { rows } = await database.query<{ expires_date: string }>(
    `insert into password_reset (user_id, token_hash, expires_date, sent_to)
     values ($1, $2, now() + make_interval(secs => $3), $4)
     on conflict (user_id) do update set token_hash = excluded.token_hash, expires_date = excluded.expires_date,
       sent_to = excluded.sent_to
     returning expires_date`,
    [userId, hashLinkToken(token), PASSWORD_RESET_TTL_SEC, sentTo],
  );
  return { token, expiresDate: new Date(rows[0]?.expires_date ?? 0) };
}

/** The name of the user a live link is for. */
export async function findResetUserName(database: Queryable, token: string): Promise<string | undefined> {
  const { rows } = await database.query<{ userName: string }>(FIND_SQL, [hashLinkToken(token)]);
  return rows[0]?.userName;
}

export interface PasswordReset {
  readonly userId: string;
  /** Address the link was mailed to. */
  readonly sentTo: string | null;
}

/** A live link, for one transaction at a time: of two at once the second finds what the first has left. */
export async function lockPasswordReset(transaction: Transaction, token: string): Promise<PasswordReset | undefined> {
  const { rows } = await transaction.query<PasswordReset>(`${FIND_SQL} for update of r`, [hashLinkToken(token)]);
  return rows[0];
}

/** Uses the link up. */
export async function deletePasswordReset(transaction: Transaction, userId: string): Promise<void> {
  await transaction.query('delete from password_reset where user_id = $1', [userId]);
}

const FIND_SQL = `select r.user_id as "userId", r.sent_to as "sentTo", u.user_name as "userName" from password_reset r join app_user u on u.id = r.user_id
  where r.token_hash = $1 and r.expires_date > now() and not (u.is_locked and coalesce(u.locked_until > now(), true))`;
