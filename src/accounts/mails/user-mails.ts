/**
 * Prepares emails to users. The secrets of an email (a password, or the token in a link) are made only when the email
 * is sent: the database holds only hashes of these secrets, so an email that waits cannot contain them (R-B10, R-B11).
 */
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { makePasswordReset } from '../../identity/passwords/password-reset.ts';
import { type Database, type Queryable, withTransaction } from '../../platform/database/database.ts';
import type { PrepareMail } from '../../platform/mail/mail-sender.ts';
import { prepareInvitation } from './invitation-mail.ts';
import { writeExpiry } from './mail-values.ts';

export interface UserMailOptions {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Address of the embedded issuer, which serves the page for a new password. */
  readonly issuer: string;
  /** Public address of the API, which serves the page of an invitation. */
  readonly apiUrl: string;
}

/** @returns the functions that prepare the emails, by kind of email. */
export function userMails(options: UserMailOptions): Readonly<Record<string, PrepareMail>> {
  const { database, directory, issuer, apiUrl } = options;
  return {
    temporary_password: (mail) =>
      withTransaction(database, async (transaction) => {
        const user = await findRecipient(transaction, mail.userId);
        const password = user && (await directory.setTemporaryPassword(transaction, user.userId));
        if (!password || !user) return undefined;
        await transaction.query('update app_user set secret_sent_to = $2 where id = $1', [user.userId, mail.to]);
        return { ...user, password, link: directory.signInLink() };
      }),
    password_reset: async ({ userId, data, language, to }) => {
      if (userId === null) return undefined;
      const { token, expiresDate } = await makePasswordReset(database, userId, to);
      const link = `${issuer}/reset-password?token=${token}`;
      return { ...data, link, expiry: writeExpiry(expiresDate, language) };
    },
    account_added: async (mail) => ({ ...mail.data, link: directory.signInLink() }),
    invitation: (mail) => prepareInvitation(database, apiUrl, mail),
  };
}

async function findRecipient(database: Queryable, userId: string | null) {
  const { rows } = await database.query<{ userId: string; userName: string; name: string }>(
    `select id as "userId", user_name as "userName", coalesce(nullif(first_name, ''), user_name) as name
     from app_user where id = $1`,
    [userId],
  );
  return rows[0];
}
