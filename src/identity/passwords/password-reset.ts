/**
 * The link to choose a new password (R-B11). It is valid for one hour and one use. The database stores only a hash of
 * its token.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable, Transaction } from '../../platform/database/database.ts';

export const PASSWORD_RESET_TTL_SEC = 3600;
const TOKEN_BYTES = 32;

export interface LinkToken {
  readonly token: string;
  readonly expiresDate: Date;
}

/** @returns the random token of a link, 256 bits in base64url (R-B11). */
export function makeLinkToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** @returns the SHA-256 under which a token is stored (R-B11). */
export function hashLinkToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Creates the token for a user's password reset link. The user's earlier token stops working (R-B11). */
export async function makePasswordReset(database: Queryable, userId: string, sentTo: string): Promise<LinkToken> {
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

/**
 * @returns the name of the user of a valid link; undefined when the token is unknown, used or expired, or the user is
 * locked (R-B11).
 */
export async function findResetUserName(database: Queryable, token: string): Promise<string | undefined> {
  const { rows } = await database.query<{ userName: string }>(FIND_SQL, [hashLinkToken(token)]);
  return rows[0]?.userName;
}

export interface PasswordReset {
  readonly userId: string;
  /** Address that the link was mailed to; null when unknown. */
  readonly sentTo: string | null;
}

/**
 * Locks a valid link until the transaction ends, so that only one of two concurrent requests uses it (R-B11).
 * @returns undefined in the same cases as `findResetUserName`.
 */
export async function lockPasswordReset(transaction: Transaction, token: string): Promise<PasswordReset | undefined> {
  const { rows } = await transaction.query<PasswordReset>(`${FIND_SQL} for update of r`, [hashLinkToken(token)]);
  return rows[0];
}

/** Deletes the stored link of the user; the link then no longer works (R-B11). */
export async function deletePasswordReset(transaction: Transaction, userId: string): Promise<void> {
  await transaction.query('delete from password_reset where user_id = $1', [userId]);
}

const FIND_SQL = `select r.user_id as "userId", r.sent_to as "sentTo", u.user_name as "userName" from password_reset r join app_user u on u.id = r.user_id
  where r.token_hash = $1 and r.expires_date > now() and not (u.is_locked and coalesce(u.locked_until > now(), true))`;
