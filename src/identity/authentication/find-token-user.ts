/** Finds the user and the account of a token to be issued (R-B4). */
import type { Queryable } from '../../platform/database/database.ts';
import type { Role } from '../caller/caller.ts';
import { tokensValidFromSql } from '../passwords/password-fingerprint.ts';

export interface TokenUser {
  readonly userId: string;
  readonly userName: string;
  readonly role: Role;
  /** ISO 639-1 code of the language. */
  readonly language: string;
  readonly isLocked: boolean;
  /** Whether the password is temporary and must be changed (R-B10). */
  readonly mustChangePassword: boolean;
  /** Unix seconds; tokens issued before this instant are revoked. */
  readonly tokensValidFromSec: number;
  /** Undefined when the user has no account, or no access to the requested account. */
  readonly accountId: number | undefined;
}

interface TokenUserRow {
  readonly user_name: string;
  readonly role: Role;
  readonly language: string;
  readonly is_locked: boolean;
  readonly must_change_password: boolean;
  readonly tokens_valid_from_sec: number;
  readonly account_id: number | null;
}

/**
 * Finds the user and the account of a token. If no account is requested, takes the account that the user has activated,
 * else the user's first account (R-B4). Users who are not an ADMIN must be members of the account.
 * @param now the current time; a user whose lock ended by this time is not locked.
 * @returns undefined when the user does not exist.
 */
export async function findTokenUser(
  database: Queryable,
  userId: string,
  requestedAccountId: number | undefined,
  now: Date,
): Promise<TokenUser | undefined> {
  const { rows } = await database.query<TokenUserRow>(
    `select u.user_name, u.role, u.language, u.is_locked and coalesce(u.locked_until > $3, true) as is_locked,
            u.must_change_password, chosen.id as account_id, ${tokensValidFromSql('u')} as tokens_valid_from_sec
     from app_user u
     left join lateral (
       select a.id from account a left join account_member m on m.account_id = a.id and m.user_id = u.id
       where case when $2::int is null
                  then m.user_id is not null or (u.role = 'ADMIN' and a.id = u.active_account_id)
                  else a.id = $2 and (m.user_id is not null or u.role = 'ADMIN') end
       order by a.id is not distinct from u.active_account_id desc, a.id
       limit 1
     ) chosen on true
     where u.id = $1`,
    [userId, requestedAccountId ?? null, now],
  );
  const [row] = rows;
  return (
    row && {
      userId,
      userName: row.user_name,
      role: row.role,
      language: row.language,
      isLocked: row.is_locked,
      mustChangePassword: row.must_change_password,
      tokensValidFromSec: row.tokens_valid_from_sec,
      accountId: row.account_id ?? undefined,
    }
  );
}
