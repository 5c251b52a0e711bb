/**
 * Sign-in by password (R-B11). It takes the same time whether or not the user exists. Too many wrong passwords in a row
 * block sign-in for a while; a blocked sign-in gives the same result as a wrong password.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { verifySecret } from '../../platform/secret-hash.ts';
import { passwordFingerprint } from './password-fingerprint.ts';

export interface SignInPolicy {
  /** Wrong passwords in a row that block sign-in. */
  readonly maxFailures: number;
  /** Seconds sign-in stays blocked. */
  readonly lockSec: number;
}

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly userId: string; readonly passwordFingerprint: string }
  /** The password is right but temporary: it only opens the page that replaces it (R-B10). */
  | { readonly kind: 'must_change_password'; readonly userId: string }
  | { readonly kind: 'wrong_credentials' };

interface CredentialRow {
  readonly id: string;
  readonly password_hash: string | null;
  readonly is_blocked: boolean;
  readonly must_change_password: boolean;
}

interface SignIn {
  readonly userName: string;
  readonly password: string;
}

/**
 * Checks a user name (ignoring case) and a password (R-B11). The caller checks whether a manager has locked the user.
 */
export async function signIn(
  database: Queryable,
  { userName, password }: SignIn,
  policy: SignInPolicy,
  clock: Clock,
): Promise<SignInResult> {
  const now = new Date(clock.nowMillis());
  const user = await findCredential(database, userName, now);
  const isRight = await verifySecret(password, user?.password_hash);
  const hash = user?.password_hash ?? '';
  if (isRight && user && (await writeSuccess(database, user.id, hash, now))) {
    if (user.must_change_password) return { kind: 'must_change_password', userId: user.id };
    return { kind: 'signed_in', userId: user.id, passwordFingerprint: passwordFingerprint(hash) };
  }
  if (!isRight) await writeFailure(database, user?.is_blocked ? undefined : user?.id, policy, now);
  return { kind: 'wrong_credentials' };
}

async function findCredential(database: Queryable, userName: string, now: Date): Promise<CredentialRow | undefined> {
  if (!isStorableText(userName)) return undefined;
  const { rows } = await database.query<CredentialRow>(
    `select id, password_hash, must_change_password, coalesce(sign_in_locked_until > $2, false) as is_blocked
     from app_user where lower(user_name) = lower($1)`,
    [userName.trim(), now],
  );
  return rows[0];
}

/**
 * Records a successful sign-in. @returns false when sign-in was blocked, or the password changed, while the password was
 * checked: parallel guesses gain nothing.
 */
async function writeSuccess(database: Queryable, userId: string, hash: string, now: Date): Promise<boolean> {
  const { rowCount } = await database.query(
    `update app_user set failed_password_count = 0, sign_in_locked_until = null, last_login_date = $2
     where id = $1 and (sign_in_locked_until is null or sign_in_locked_until <= $2) and password_hash = $3`,
    [userId, now, hash],
  );
  return rowCount === 1;
}

/**
 * Counts a wrong password. The commit is asynchronous, so that it takes no longer than for an unknown user; a crash may
 * lose one count.
 * @param userId undefined: the user does not exist or is already blocked, and nothing is counted.
 */
async function writeFailure(
  database: Queryable,
  userId: string | undefined,
  policy: SignInPolicy,
  now: Date,
): Promise<void> {
  await database.query(
    `with soon as materialized (select set_config('synchronous_commit', 'off', true))
     update app_user set
       failed_password_count = case when failed_password_count + 1 >= $2 then 0 else failed_password_count + 1 end,
       sign_in_locked_until = case when failed_password_count + 1 >= $2 then $3::timestamptz
                                   else sign_in_locked_until end
     from soon where id = $1`,
    [userId ?? null, policy.maxFailures, new Date(now.getTime() + policy.lockSec * 1000)],
  );
}
