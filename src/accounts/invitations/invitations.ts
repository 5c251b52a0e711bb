/** Invitations (§3, R-B10): asked, mailed, accepted. The token is made when the mail is sent. */
import type { z } from 'zod';
import type { Caller } from '../../identity/caller.ts';
import { hashLinkToken } from '../../identity/password-reset.ts';
import type { UserDirectory } from '../../identity/user-directory.ts';
import type { Queryable, Transaction } from '../../platform/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { lenientObject } from '../../platform/lenient.ts';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import { appendEvents } from '../../platform/outbox.ts';
import type { Paging } from '../../platform/paging.ts';
import { isStorableText } from '../../platform/storable-text.ts';
import type { Act } from '../act.ts';
import { writeAudit } from '../audit.ts';
import { writeClaims } from '../claims.ts';
import {
  claimsSchema,
  emailSchema,
  languageSchema,
  roleSchema,
  shortTextSchema,
  sitesSchema,
  type WrittenClaim,
  type WrittenSite,
} from '../field-schemas.ts';
import { finishNewUser, insertUser } from '../users/save-user.ts';
import { assertAllowed } from '../users/target-user.ts';
import { planRoleGrant, type RoleName } from '../users/user-rules.ts';
import { assertSites, writeUserSites } from '../users/user-sites.ts';

export const invitationSchema = lenientObject({
  email: emailSchema,
  firstName: shortTextSchema.nullish(),
  lastName: shortTextSchema.nullish(),
  language: languageSchema.nullish(),
  role: roleSchema.nullish(),
  claims: claimsSchema.nullish(),
  sites: sitesSchema.nullish(),
});

export type WrittenInvitation = z.output<typeof invitationSchema>;

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly language: string;
  readonly role: RoleName;
  readonly claims: readonly WrittenClaim[];
  readonly sites: readonly WrittenSite[];
  readonly state: 'Waiting' | 'Sent' | 'Expired' | 'Accepted';
  readonly createdDate: string;
  readonly sentDate: string | null;
  readonly expiresDate: string | null;
  readonly acceptedDate: string | null;
}

export interface RegisterUserResult {
  readonly userId: string;
  readonly userName: string;
  readonly email: string;
}

const COLUMNS = `id, email, first_name as "firstName", last_name as "lastName", language, role, claims, sites,
  case when accepted_date is not null then 'Accepted' when token_hash is null then 'Waiting'
       when expires_date <= now() then 'Expired' else 'Sent' end as state,
  created_date as "createdDate", sent_date as "sentDate", expires_date as "expiresDate", accepted_date as "acceptedDate"`;

export async function listInvitations(
  database: Queryable,
  { accountId }: Caller,
  { limit, offset }: Paging,
): Promise<{ readonly invitations: readonly Invitation[]; readonly totalCount: number }> {
  const total = await database.query<{ count: number }>('select count(*) from invitation where account_id = $1', [
    accountId,
  ]);
  const { rows } = await database.query<Invitation>(
    `select ${COLUMNS} from invitation where account_id = $1 order by created_date desc, id limit $2 offset $3`,
    [accountId, limit ?? null, offset],
  );
  return { invitations: rows, totalCount: total.rows[0]?.count ?? 0 };
}

/** @throws DomainError not_found. */
export async function getInvitation(database: Queryable, { accountId }: Caller, id: string): Promise<Invitation> {
  const { rows } = isStorableText(id)
    ? await database.query<Invitation>(`select ${COLUMNS} from invitation where id = $1 and account_id = $2`, [
        id,
        accountId,
      ])
    : { rows: [] };
  const [invitation] = rows;
  if (!invitation) throw new DomainError('not_found', `invitation ${id} does not exist`);
  return invitation;
}

/** Asks somebody, and for the mail. @throws DomainError permission_denied for a role above one's own, invalid_input. */
export async function createInvitation(
  transaction: Transaction,
  act: Act,
  written: WrittenInvitation,
): Promise<Invitation> {
  const { caller } = act;
  const role = written.role ?? 'USER';
  assertAllowed(planRoleGrant(caller, role));
  await assertSites(transaction, caller.accountId, written.sites ?? [], '$.sites');
  const { rows } = await transaction.query<Invitation>(
    `insert into invitation (account_id, email, first_name, last_name, language, role, claims, sites, created_by_user_id)
     select a.id, $2, $3, $4, coalesce($5, a.language), $6, $7, $8, $9 from account a where a.id = $1
     returning ${COLUMNS}`,
    [
      caller.accountId,
      written.email,
      written.firstName,
      written.lastName,
      written.language,
      role,
      JSON.stringify((written.claims ?? []).map(({ claimType, claimValue }) => ({ claimType, claimValue }))),
      JSON.stringify(written.sites ?? []),
      caller.userId,
    ],
  );
  const [invitation] = rows;
  if (!invitation) throw new DomainError('not_found', `account ${caller.accountId} does not exist`);
  await mailInvitation(transaction, act, invitation, 'InvitationCreated');
  return invitation;
}

/** Mails again, with a new token. @throws DomainError not_found, conflict when it was accepted. */
export async function resendInvitation(transaction: Transaction, act: Act, id: string): Promise<void> {
  const invitation = await getInvitation(transaction, act.caller, id);
  if (invitation.state === 'Accepted') throw new DomainError('conflict', `invitation ${id} was accepted already`);
  await mailInvitation(transaction, act, invitation, 'InvitationResent');
}

/** Takes it back: its link no longer works, and what was to be mailed is not. @throws DomainError not_found. */
export async function deleteInvitation(transaction: Transaction, act: Act, id: string): Promise<void> {
  const { email } = await getInvitation(transaction, act.caller, id);
  await transaction.query('delete from invitation where id = $1', [id]);
  await writeAudit(transaction, act, { action: 'InvitationDeleted', targetId: id, targetName: email });
}

async function mailInvitation(
  transaction: Transaction,
  act: Act,
  { id, email, language, role }: Invitation,
  action: 'InvitationCreated' | 'InvitationResent',
): Promise<void> {
  const { accountId } = act.caller;
  await queueMail(transaction, { kind: 'invitation', to: email, language, accountId, invitationId: id });
  await writeAudit(transaction, act, { action, targetId: id, targetName: email, details: { role } });
}

interface OpenInvitation extends Invitation {
  readonly accountId: number;
}

/** The open invitation of a token. */
export async function findOpenInvitation(
  database: Queryable,
  token: string,
  locking: '' | 'for update' = '',
): Promise<OpenInvitation | undefined> {
  const { rows } = await database.query<OpenInvitation>(
    `select ${COLUMNS}, account_id as "accountId" from invitation
     where token_hash = $1 and accepted_date is null and expires_date > now() ${locking}`,
    [hashLinkToken(token)],
  );
  return rows[0];
}

/**
 * Follows the link of an invitation: a new user is made, who gets a temporary password by mail; whoever is a user of that
 * name already becomes a member and keeps their role, since that reaches into their other accounts too.
 * @throws DomainError not_found for a token that is unknown, used or expired.
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
  const known = await findUser(transaction, email);
  const userId = known ? await joinAccount(transaction, invitation, known.id) : await register(transaction, invitation);
  await writeClaims(transaction, accountId, userId, invitation.claims);
  await writeUserSites(transaction, accountId, userId, await stillThere(transaction, invitation));
  await transaction.query(
    'update invitation set accepted_date = now(), accepted_user_id = $2, token_hash = null where id = $1',
    [invitation.id, userId],
  );
  if (!known) await finishNewUser(transaction, directory, userId, accountId, 0);
  await appendEvents(transaction, [
    { accountId, type: 'InvitationAccepted', payload: { id: invitation.id, userId, email } },
  ]);
  const userName = known?.userName ?? email;
  await auditAcceptance(transaction, invitation, { userId, userName }, requestId);
  return { userId, userName, email };
}

async function findUser(database: Queryable, userName: string) {
  const { rows } = await database.query<{ id: string; userName: string }>(
    'select id, user_name as "userName" from app_user where lower(user_name) = lower($1)',
    [userName],
  );
  return rows[0];
}

function register(transaction: Transaction, { email, firstName, lastName, language, role, accountId }: OpenInvitation) {
  return insertUser(transaction, { userName: email, email, firstName, lastName, language }, role, accountId);
}

async function joinAccount(transaction: Transaction, invitation: OpenInvitation, userId: string): Promise<string> {
  const { accountId } = invitation;
  await transaction.query('insert into account_member (account_id, user_id) values ($1, $2) on conflict do nothing', [
    accountId,
    userId,
  ]);
  const { rows } = await transaction.query<{ to: string; language: string; name: string; data: object }>(
    `select coalesce(u.email, $3) as to, u.language, jsonb_build_object('userName', u.user_name, 'accountName', a.name,
       'name', coalesce(nullif(u.first_name, ''), u.user_name)) as data
     from app_user u, account a where u.id = $1 and a.id = $2`,
    [userId, accountId, invitation.email],
  );
  const [mail] = rows;
  if (mail) {
    const data = mail.data as Readonly<Record<string, string>>;
    await queueMail(transaction, {
      kind: 'account_added',
      to: mail.to,
      language: mail.language,
      data,
      accountId,
      userId,
    });
  }
  return userId;
}

/** Sites may have been deleted since. */
async function stillThere(transaction: Transaction, { accountId, sites }: OpenInvitation) {
  const { rows } = await transaction.query<{ id: number }>(
    'select id from site where account_id = $1 and id = any($2::int[])',
    [accountId, sites.map(({ siteId }) => siteId)],
  );
  const ids = new Set(rows.map(({ id }) => id));
  return sites.filter(({ siteId }) => ids.has(siteId));
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
