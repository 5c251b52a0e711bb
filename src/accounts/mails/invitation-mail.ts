/**
 * The email of an invitation. Each attempt to send the email makes a new token, which invalidates the previous token
 * (R-B10).
 */
import { hashLinkToken, makeLinkToken } from '../../identity/passwords/password-reset.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { WaitingMail } from '../../platform/mail/mail-outbox.ts';
import type { MailValues } from '../../platform/mail/mail-render.ts';
import { findMailAccount, writeExpiry } from './mail-values.ts';

const TTL_DAYS = 7;

/** Path of the page that accepts an invitation, relative to the address of the API. */
export const INVITATION_PATH = '/account/invitation';

/**
 * @returns the values that replace the placeholders of the email's template; undefined when the invitation was accepted
 * or deleted while the email waited to be sent (R-B10).
 */
export async function prepareInvitation(
  database: Queryable,
  apiUrl: string,
  mail: WaitingMail,
): Promise<MailValues | undefined> {
  const token = makeLinkToken();
  const { rows } = await database.query<{ expires_date: string; inviter: string | null }>(
    `update invitation i set token_hash = $2, sent_date = now(), expires_date = now() + make_interval(days => $3)
     where id = $1 and accepted_date is null
     returning expires_date, (select coalesce(nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.user_name)
                              from app_user u where u.id = i.created_by_user_id) as inviter`,
    [mail.invitationId, hashLinkToken(token), TTL_DAYS],
  );
  const account = await findMailAccount(database, mail.accountId);
  const [row] = rows;
  if (!row || !account) return undefined;
  return {
    accountName: account.name,
    inviterName: row.inviter ?? account.name,
    link: `${apiUrl}${INVITATION_PATH}?token=${token}`,
    expiry: writeExpiry(new Date(row.expires_date), mail.language, account.timeZoneId),
  };
}
