/**
 * Sets passwords that users have chosen, and makes temporary passwords (R-B10, R-B11, R-B13). A change through a reset
 * link (`sentTo` is set) also revokes access tokens, because others may know the old password.
 */
import { randomInt } from 'node:crypto';
import type { Transaction } from '../../platform/database/database.ts';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import { hashSecret, verifySecret } from '../../platform/secret-hash.ts';
import { findPasswordProblem, type PasswordProblem } from './password-rules.ts';
import { type KeptSession, revokeSessions } from './revoke-sessions.ts';
import { clearFailures } from './sign-in-sources.ts';

export interface NewPassword {
  readonly userId: string;
  readonly password: string;
  readonly repeated: string;
  readonly minLength: number;
  /**
   * Session in which the user chose the password. This session continues, and all other sessions of the user end. When
   * `kept` is absent, all sessions of the user end.
   */
  readonly kept?: KeptSession;
  /**
   * Email address to which the reset link was sent. A user who uses the link proves that this address belongs to the
   * user. Null or absent when there was no link, or no recorded address.
   */
  readonly sentTo?: string | null;
}

interface UserRow {
  readonly user_name: string;
  readonly email: string | null;
  readonly first_name: string | null;
  readonly language: string;
  readonly password_hash: string | null;
  readonly must_change_password: boolean;
}

// Characters of temporary passwords, without characters that look alike: 0, O and o; 1, l, I and i.
const ALPHABET = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const GROUPS = 3;
const GROUP_LENGTH = 5;

/** @returns three groups of five characters (letters or digits): 86 bits of entropy (R-B10). */
export function makeTemporaryPassword(): string {
  const group = () => Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/**
 * Sets the password (R-B11, R-B13).
 * @returns why the password was refused; `gone` when the user does not exist; undefined when the password was set.
 */
export async function choosePassword(
  transaction: Transaction,
  { userId, password, repeated, minLength, kept, sentTo = null }: NewPassword,
): Promise<PasswordProblem | 'gone' | undefined> {
  const { rows } = await transaction.query<UserRow>(
    `select user_name, email, first_name, language, password_hash, must_change_password
     from app_user where id = $1 for no key update`,
    [userId],
  );
  const [user] = rows;
  if (!user) return 'gone';
  const problem = findPasswordProblem({ password, repeated, names: [user.user_name, user.email], minLength });
  if (problem) return problem;
  if (user.password_hash && (await verifySecret(password, user.password_hash))) return 'unchanged';
  await transaction.query(
    `update app_user set password_hash = $2, must_change_password = false, password_changed_date = now(),
       failed_password_count = 0, sign_in_locked_until = null, secret_sent_to = null,
       proven_email = coalesce($3, secret_sent_to, proven_email),
       tokens_valid_from = case when $3::text is null then tokens_valid_from else clock_timestamp() end where id = $1`,
    [userId, await hashSecret(password), sentTo],
  );
  await clearFailures(transaction, userId);
  await revokeSessions(transaction, userId, kept);
  // A user who must change the password expects the change; a notice would add nothing.
  if (user.email && !user.must_change_password) await queueChangeNotice(transaction, userId, user, user.email);
  return undefined;
}

async function queueChangeNotice(transaction: Transaction, userId: string, user: UserRow, to: string): Promise<void> {
  const { language, user_name: userName, first_name: firstName } = user;
  const form = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const data = {
    name: firstName || userName,
    userName,
    date: `${form.format(new Date())} UTC`,
  };
  await queueMail(transaction, { kind: 'password_changed', to, language, data, userId });
}
