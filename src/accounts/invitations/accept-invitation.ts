/** Accepts invitations (§3, R-B10). The credential is the token in the link of the invitation. */
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

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    InvitationAccepted: Readonly<Record<'id' | 'userId' | 'userName' | 'email', string>>;
  }
}

/** Keeps the advisory locks on addresses apart from the other advisory locks. */
const ADDRESS_LOCK_SEED = 7;

export interface RegisterUserResult {
  readonly userId: string;
  readonly userName: string;
  readonly email: string;
}

interface ExistingUser {
  readonly id: string;
  readonly userName: string;
  readonly email: string | null;
  readonly role: RoleName;
  /** Whether the user is already a member of the account. */
  readonly isMember: boolean;
}

/**
 * Accepts an invitation (§3, R-B10). The user whose name is the invited email address joins the account. If no user has
 * this name, a user is created.
 * @throws {DomainError} not_found when the token is unknown, used or expired; conflict when `joinAccount`, `insertUser`
 *   or `finishNewUser` throws it; dependency_unavailable when the directory fails.
 */
export async function acceptInvitation(
  transaction: Transaction,
  directory: UserDirectory,
  token: string,
  requestId: string,
): Promise<RegisterUserResult> {
  const invitation = await findOpenInvitation(transaction, token, 'for update');
  if (!invitation)
    throw new DomainError(
      'not_found',
      'the invitation token is unknown, was used, has expired or was replaced by a newer email; use the newest email, or ask for a new invitation',
    );
  const { accountId, email } = invitation;
  // Two invitations to one address that are accepted at the same time must create one user, not two.
  await transaction.query('select pg_advisory_xact_lock(hashtextextended(lower($1), $2))', [email, ADDRESS_LOCK_SEED]);
  const existing = await findExistingUser(transaction, invitation);
  const userId = existing
    ? await joinAccount(transaction, directory, invitation, existing)
    : await register(transaction, invitation);
  await writeClaims(transaction, accountId, userId, invitation.claims);
  await writeUserSites(transaction, accountId, userId, await findExistingSites(transaction, invitation));
  await transaction.query(
    'update invitation set accepted_date = now(), accepted_user_id = $2, token_hash = null where id = $1',
    [invitation.id, userId],
  );
  if (!existing) await finishNewUser(transaction, directory, userId, accountId, 0);
  const userName = existing?.userName ?? email;
  const payload = { id: invitation.id, userId, userName, email };
  await appendEvents(transaction, [{ accountId, type: 'InvitationAccepted', payload }]);
  await auditAcceptance(transaction, invitation, { userId, userName }, requestId);
  return { userId, userName, email };
}

/** Finds and locks the user whose user name is the invited email address. */
async function findExistingUser(
  transaction: Transaction,
  invitation: OpenInvitation,
): Promise<ExistingUser | undefined> {
  const { rows } = await transaction.query<ExistingUser>(
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
 * Makes an existing user a member of the account, and notifies the user by email. A new member who has not yet proven
 * ownership of the email address also gets a new temporary password, because the manager who created the user may know
 * the old one.
 * @throws {DomainError} conflict when `assertMatches` or the directory throws it; dependency_unavailable when the
 *   directory fails.
 */
async function joinAccount(
  transaction: Transaction,
  directory: UserDirectory,
  invitation: OpenInvitation,
  existing: ExistingUser,
): Promise<string> {
  const { id: userId, isMember } = existing;
  if (!isMember) {
    const { accountId, email, language } = invitation;
    assertMatches(invitation, existing);
    const isClaimed = await directory.claimAddress(transaction, userId, email);
    await transaction.query('insert into account_member (account_id, user_id) values ($1, $2)', [accountId, userId]);
    await settleActiveAccount(transaction, directory, userId);
    if (isClaimed) await queueMail(transaction, { kind: 'temporary_password', to: email, language, accountId, userId });
  }
  await queueAccountAddedMail(transaction, invitation, userId);
  return userId;
}

/**
 * Requires that the user has the email address of the invitation. A MANAGER who was invited as a USER is refused,
 * because a user has the same role in all accounts. An ADMIN is accepted, because an ADMIN may use every account
 * anyway.
 */
function assertMatches({ email, role }: OpenInvitation, existing: ExistingUser): void {
  if (existing.email?.toLowerCase() !== email.toLowerCase()) {
    const message = `the user ${existing.userName} exists, but not with the email address ${email}; ask an administrator to set this address for the user`;
    throw new DomainError('conflict', message);
  }
  if (existing.role === 'MANAGER' && role === 'USER') {
    const rule = `the user ${existing.userName} exists as a MANAGER, but the invitation has the role USER`;
    throw new DomainError('conflict', `${rule}; ask to be invited as a MANAGER`);
  }
}

async function queueAccountAddedMail(
  transaction: Transaction,
  invitation: OpenInvitation,
  userId: string,
): Promise<void> {
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

/**
 * Drops sites and sources that were deleted or moved after the invitation. When all sources that the invitation lists
 * for a site are dropped, the site keeps an empty list, because a site without a list gives access to all its sources.
 */
async function findExistingSites(transaction: Transaction, { accountId, sites }: OpenInvitation) {
  const { rows } = await transaction.query<{ siteId: number; sourceIds: readonly number[] }>(
    `select s.id as "siteId", array(select o.id from source o where o.site_id = s.id) as "sourceIds"
     from site s where s.account_id = $1 and s.id = any($2::int[])`,
    [accountId, sites.map(({ siteId }) => siteId)],
  );
  const sourcesOf = new Map(rows.map(({ siteId, sourceIds }) => [siteId, new Set(sourceIds)]));
  return sites.flatMap((site) => {
    const sources = sourcesOf.get(site.siteId);
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
  const entry = { action: 'InvitationAccepted', targetId: id, targetName: email } as const;
  await writeAudit(transaction, { caller, requestId }, entry);
}
