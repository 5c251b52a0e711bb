/**
 * Accepting an invitation (§3, R-B10): the token in its link is the credential. A new user is made; whoever is a user of
 * that name already joins the account.
 */
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { appendEvents } from '../../platform/database/outbox.ts';
import { DomainError } from '../../platform/errors.ts';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import { writeAudit } from '../audit/audit.ts';
import { writeClaims } from '../members/claims.ts';
import { finishNewUser, insertUser } from '../users/save-user.ts';
import { settleActiveAccount } from '../users/settle-active-account.ts';
import type { RoleName } from '../users/user-rules.ts';
import { writeUserSites } from '../users/user-sites.ts';
import { findOpenInvitation, type OpenInvitation } from './invitations.ts';

/** Keeps these locks apart from others. */
const ADDRESS_LOCK_SEED = 7;

export interface RegisterUserResult {
  readonly userId: string;
  readonly userName: string;
  readonly email: string;
}

interface KnownUser {
  readonly id: string;
  readonly userName: string;
  readonly email: string | null;
  readonly role: RoleName;
  /** Of the account already. */
  readonly isMember: boolean;
}

/**
 * Follows the link of an invitation: a new user is made, who gets a temporary password by mail; whoever is a user of that
 * name already becomes a member and keeps their role, since that reaches into their other accounts too. Unless they were
 * seen to read the mails of that address, they get a temporary password as well, and the one they had is void.
 * @throws DomainError not_found for a token that is unknown, used or expired; conflict for a user whom it does not fit.
 */
export async function acceptInvitation(
  transaction: Transaction,
  directory: UserDirectory,
  token: string,
  requestId: string,
): Promise<RegisterUserResult> {
  const invitation = await findOpenInvitation(transaction, token, 'for update');
  if (!invitation) throw new DomainError('not_found', 'the invitation does not exist, was used or has expired');
  const { accountId, email } = invitation;
  // Who accepts two invitations at once becomes one user, a member of both accounts.
  await transaction.query('select pg_advisory_xact_lock(hashtextextended(lower($1), $2))', [email, ADDRESS_LOCK_SEED]);
  const known = await findKnownUser(transaction, invitation);
  const userId = known
    ? await joinAccount(transaction, directory, invitation, known)
    : await register(transaction, invitation);
  await writeClaims(transaction, accountId, userId, invitation.claims);
  await writeUserSites(transaction, accountId, userId, await stillThere(transaction, invitation));
  await transaction.query(
    'update invitation set accepted_date = now(), accepted_user_id = $2, token_hash = null where id = $1',
    [invitation.id, userId],
  );
  if (!known) await finishNewUser(transaction, directory, userId, accountId, 0);
  const userName = known?.userName ?? email;
  const payload = { id: invitation.id, userId, userName, email };
  await appendEvents(transaction, [{ accountId, type: 'InvitationAccepted', payload }]);
  await auditAcceptance(transaction, invitation, { userId, userName }, requestId);
  return { userId, userName, email };
}

/** Whoever has the address of the invitation as their user name. */
async function findKnownUser(transaction: Transaction, invitation: OpenInvitation): Promise<KnownUser | undefined> {
  const { rows } = await transaction.query<KnownUser>(
    `select id, user_name as "userName", email, role,
       exists (select from account_member m where m.user_id = u.id and m.account_id = $2) as "isMember"
     from app_user u where lower(user_name) = lower($1) for no key update of u`,
    [invitation.email, invitation.accountId],
  );
  return rows[0];
}

function register(transaction: Transaction, { email, firstName, lastName, language, role, accountId }: OpenInvitation) {
  return insertUser(transaction, { userName: email, email, firstName, lastName, language }, role, accountId);
}

/**
 * What the user is elsewhere must be no more than was meant here, and the user must be who was meant: a manager of another
 * account may have given a user of theirs this name, or this address.
 * @throws DomainError conflict.
 */
async function joinAccount(
  transaction: Transaction,
  directory: UserDirectory,
  invitation: OpenInvitation,
  known: KnownUser,
): Promise<string> {
  const { id: userId, isMember } = known;
  if (!isMember) {
    const { accountId, email, language } = invitation;
    assertFits(invitation, known);
    const isClaimed = await directory.claimAddress(transaction, userId, email);
    await transaction.query('insert into account_member (account_id, user_id) values ($1, $2)', [accountId, userId]);
    await settleActiveAccount(transaction, directory, userId);
    if (isClaimed) await queueMail(transaction, { kind: 'temporary_password', to: email, language, accountId, userId });
  }
  await tellOfAccount(transaction, invitation, userId);
  return userId;
}

/** An ADMIN has every account anyway. */
function assertFits({ email, role }: OpenInvitation, known: KnownUser): void {
  if (known.email?.toLowerCase() !== email.toLowerCase()) {
    throw new DomainError('conflict', `the user ${known.userName} has another mail address`);
  }
  if (known.role === 'MANAGER' && role === 'USER') {
    throw new DomainError('conflict', `the user ${known.userName} is a MANAGER, and was invited as a USER`);
  }
}

async function tellOfAccount(transaction: Transaction, invitation: OpenInvitation, userId: string): Promise<void> {
  const { rows } = await transaction.query<{ to: string; language: string; name: string; data: object }>(
    `select coalesce(u.email, $3) as to, u.language, jsonb_build_object('userName', u.user_name, 'accountName', a.name,
       'name', coalesce(nullif(u.first_name, ''), u.user_name)) as data
     from app_user u, account a where u.id = $1 and a.id = $2`,
    [userId, invitation.accountId, invitation.email],
  );
  const [mail] = rows;
  if (mail) {
    const data = mail.data as Readonly<Record<string, string>>;
    await queueMail(transaction, {
      kind: 'account_added',
      to: mail.to,
      language: mail.language,
      data,
      accountId: invitation.accountId,
      userId,
    });
  }
}

/** Sites and sources may have been deleted since, or moved: none of what is left may become all. */
async function stillThere(transaction: Transaction, { accountId, sites }: OpenInvitation) {
  const { rows } = await transaction.query<{ siteId: number; sourceIds: readonly number[] }>(
    `select s.id as "siteId", array(select o.id from source o where o.site_id = s.id) as "sourceIds"
     from site s where s.account_id = $1 and s.id = any($2::int[])`,
    [accountId, sites.map(({ siteId }) => siteId)],
  );
  const there = new Map(rows.map(({ siteId, sourceIds }) => [siteId, new Set(sourceIds)]));
  return sites.flatMap((site) => {
    const sources = there.get(site.siteId);
    return sources ? [{ ...site, sourceIds: site.sourceIds?.filter((id) => sources.has(id)) }] : [];
  });
}

async function auditAcceptance(
  transaction: Transaction,
  { id, accountId, email }: OpenInvitation,
  { userId, userName }: { readonly userId: string; readonly userName: string },
  requestId: string,
): Promise<void> {
  const nothing = new Set<string>();
  const caller = {
    userId,
    userName,
    accountId,
    role: 'USER',
    permissions: nothing,
    scopes: nothing,
    sites: [],
  } as const;
  const acted = { action: 'InvitationAccepted', targetId: id, targetName: email } as const;
  await writeAudit(transaction, { caller, requestId }, acted);
}
