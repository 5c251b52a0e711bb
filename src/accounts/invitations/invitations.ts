/**
 * Creates and lists invitations, sends them by email, and deletes them (§3, R-B10). accept-invitation.ts accepts them.
 * The token in the link of an invitation is made when the email is sent.
 */
import { z } from 'zod';
import type { Caller } from '../../identity/caller/caller.ts';
import { hashLinkToken } from '../../identity/passwords/password-reset.ts';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import { queueMail } from '../../platform/mail/mail-outbox.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import { writeAudit } from '../audit/audit.ts';
import type { AuditContext } from '../audit/audit-context.ts';
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
import { assertAllowed } from '../users/target-user.ts';
import { highestRole, planRoleGrant, type RoleName } from '../users/user-rules.ts';
import { assertSites } from '../users/user-sites.ts';

export const invitationSchema = lenientObject({
  email: emailSchema,
  firstName: shortTextSchema.nullish(),
  lastName: shortTextSchema.nullish(),
  language: languageSchema.nullish(),
  role: roleSchema.nullish(),
  /** Alternative to `role`; `role` wins when both are given. */
  roles: z.array(roleSchema).nullish(),
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

const COLUMNS = `id, email, first_name as "firstName", last_name as "lastName", language, role, claims, sites,
  case when accepted_date is not null then 'Accepted' when token_hash is null then 'Waiting'
       when expires_date <= now() then 'Expired' else 'Sent' end as state,
  created_date as "createdDate", sent_date as "sentDate", expires_date as "expiresDate", accepted_date as "acceptedDate"`;

/** Lists the invitations of the account, newest first (R-B10). */
export function listInvitations(accountId: number): Listing<string, Invitation> {
  const order = 'order by created_date desc, id';
  return {
    keys: `select id as key, 2000 + octet_length(claims::text) + octet_length(sites::text) as bytes from invitation
      where account_id = $1 ${order}`,
    values: [accountId],
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<Invitation>(
        `select ${COLUMNS} from invitation where id = any($1::text[]) ${order}`,
        [ids],
      );
      return rows;
    },
  };
}

/** Counts the invitations of the account. */
export async function countInvitations(database: Queryable, accountId: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*) from invitation where account_id = $1', [
    accountId,
  ]);
  return rows[0]?.count ?? 0;
}

/**
 * Reads an invitation of the caller's account (R-B10).
 * @throws {DomainError} not_found when the id is unknown or is that of another account's invitation.
 */
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

/**
 * Creates an invitation and queues its email (R-B10).
 * @throws {DomainError} permission_denied for a role above the caller's; invalid_input for unknown sites or sources;
 * not_found when the account does not exist.
 */
export async function createInvitation(
  transaction: Transaction,
  context: AuditContext,
  written: WrittenInvitation,
): Promise<Invitation> {
  const { caller } = context;
  const role = written.role ?? highestRole(written.roles ?? []);
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
  await mailInvitation(transaction, context, invitation, 'InvitationCreated');
  return invitation;
}

/**
 * Queues a new email for the invitation; its link will contain a new token (R-B10).
 * @throws {DomainError} not_found in the same cases as `getInvitation`; conflict when the invitation was accepted.
 */
export async function resendInvitation(transaction: Transaction, context: AuditContext, id: string): Promise<void> {
  const invitation = await getInvitation(transaction, context.caller, id);
  if (invitation.state === 'Accepted') throw new DomainError('conflict', `invitation ${id} was already accepted`);
  await mailInvitation(transaction, context, invitation, 'InvitationResent');
}

/**
 * Deletes an invitation: its link stops working, and a waiting email is not sent (R-B10).
 * @throws {DomainError} not_found in the same cases as `getInvitation`.
 */
export async function deleteInvitation(transaction: Transaction, context: AuditContext, id: string): Promise<void> {
  const { email } = await getInvitation(transaction, context.caller, id);
  await transaction.query('delete from invitation where id = $1', [id]);
  await writeAudit(transaction, context, { action: 'InvitationDeleted', targetId: id, targetName: email });
}

async function mailInvitation(
  transaction: Transaction,
  context: AuditContext,
  { id, email, language, role }: Invitation,
  action: 'InvitationCreated' | 'InvitationResent',
): Promise<void> {
  const { accountId } = context.caller;
  await queueMail(transaction, { kind: 'invitation', to: email, language, accountId, invitationId: id });
  await writeAudit(transaction, context, { action, targetId: id, targetName: email, details: { role } });
}

export interface OpenInvitation extends Invitation {
  readonly accountId: number;
}

/** @returns the open invitation that has this token; undefined when the token is unknown, used or expired (R-B10). */
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
