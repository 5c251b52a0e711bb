/**
 * Creates, saves, locks and deletes users, and requests password resets (§4.2). Each function runs in the transaction
 * that it is given.
 */
import type { z } from 'zod';
import type { DirectoryUser, UserDirectory } from '../../identity/directory/user-directory.ts';
import { clearFailures } from '../../identity/passwords/sign-in-sources.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { appendEvents } from '../../platform/database/outbox.ts';
import { DomainError } from '../../platform/errors.ts';
import { invalidInput } from '../../platform/http/lenient.ts';
import { queueMail, redirectMails } from '../../platform/mail/mail-outbox.ts';
import { type NewAuditEntry, writeAudit } from '../audit/audit.ts';
import type { AuditContext } from '../audit/audit-context.ts';
import type { lockSchema } from '../field-schemas.ts';
import { replaceClaims } from '../members/claims.ts';
import { saveUserFeatures } from '../members/features.ts';
import { assertAllowed, assertMember, assertOther, lockTargetUser, type TargetUser } from './target-user.ts';
import { givenColumns, guardUserName, type WrittenUser, writeUserColumns } from './user-members.ts';
import { getProfile } from './user-profile.ts';
import { highestRole, planRoleGrant, type RoleName } from './user-rules.ts';
import { replaceUserSites } from './user-sites.ts';

const MAILS_WITH_SECRETS = ['temporary_password', 'password_reset'];

export type WrittenLock = z.output<typeof lockSchema>;

/**
 * Saves only the fields in `written` to a user (§4.2).
 * @throws {DomainError} the errors of `lockTargetUser`, and:
 * - permission_denied: the role is above the caller's.
 * - conflict: the name is taken, or the user is the caller and gets another role.
 * - conflict: Keycloak has another user with the name or email address, or no longer has the user.
 * - conflict: `written` has a claim, a site or a feature level other than None, but the user is not a member of the
 *   caller's account.
 * - invalid_input: features or sites cannot be granted.
 * - dependency_unavailable: Keycloak fails.
 */
export async function saveUser(
  transaction: Transaction,
  directory: UserDirectory,
  context: AuditContext,
  userId: string,
  written: WrittenUser,
): Promise<void> {
  const target = await lockTargetUser(transaction, context.caller, userId);
  const role = written.roles ? highestRole(written.roles) : target.role;
  if (role !== target.role) await changeRole(transaction, context, target, role);
  await writeUserColumns(transaction, userId, written);
  if (written.email && written.email !== target.email) {
    await redirectMails(transaction, userId, MAILS_WITH_SECRETS, written.email);
  }
  await writeAccountParts(transaction, context.caller.accountId, target, written);
  if (givenColumns(written).length > 0) await directory.update(transaction, await getProfile(transaction, userId));
  await auditInAllAccounts(transaction, context, target, {
    action: 'UserUpdated',
    details: { members: namesOf(written), ...(role !== target.role && { role: { from: target.role, to: role } }) },
  });
}

/**
 * Creates a user in the caller's account, and queues the email with the temporary password (R-B10, R-B12).
 * @param delayHours hours to wait before the email is sent.
 * @returns the user's id.
 * @throws {DomainError} invalid_input without an email address, or for features and sites that cannot be granted;
 * permission_denied for a role above the caller's; and the errors of `insertUser` and `finishNewUser`.
 */
export async function createMember(
  transaction: Transaction,
  directory: UserDirectory,
  context: AuditContext,
  written: WrittenUser,
  delayHours: number,
): Promise<string> {
  const { caller } = context;
  if (!written.email) {
    throw invalidInput([
      { path: '$.email', message: 'is required: the service mails the temporary password to this address' },
    ]);
  }
  const role = highestRole(written.roles ?? []);
  assertAllowed(planRoleGrant(caller, role));
  const userName = written.userName ?? written.email;
  const userId = await insertUser(transaction, { ...written, userName }, role, caller.accountId);
  const target = { userId, userName, accountIds: [caller.accountId] };
  await writeAccountParts(transaction, caller.accountId, target, written);
  await finishNewUser(transaction, directory, userId, caller.accountId, delayHours);
  await writeAudit(transaction, context, {
    action: 'UserCreated',
    targetId: userId,
    targetName: userName,
    details: { role },
  });
  return userId;
}

/**
 * Inserts a user without a password, as a member of one account (§4.2). The language defaults to the account's
 * language.
 * @throws {DomainError} conflict when the name is taken.
 * @throws {Error} when the account does not exist.
 */
export async function insertUser(
  transaction: Transaction,
  written: WrittenUser & { readonly userName: string },
  role: RoleName,
  accountId: number,
): Promise<string> {
  const { rows } = await guardUserName(written.userName, () =>
    transaction.query<{ id: string }>(
      `with made as (
         insert into app_user (user_name, role, active_account_id, must_change_password, language)
         select $1, $2, a.id, true, a.language from account a where a.id = $3 returning id
       ), joined as (insert into account_member (account_id, user_id) select $3, id from made)
       select id from made`,
      [written.userName, role, accountId],
    ),
  );
  const [row] = rows;
  if (!row) throw new Error(`no user was inserted, because account ${accountId} does not exist`);
  await writeUserColumns(transaction, row.id, { ...written, language: written.language ?? undefined });
  return row.id;
}

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    UserCreated: Pick<DirectoryUser, 'userName' | 'email' | 'firstName' | 'lastName'> & { readonly id: string };
    UserLocked: {
      readonly id: string;
      readonly userName: string;
      readonly until: string | null;
      readonly reason: string | null;
    };
  }
}

/**
 * Creates a new user in the directory, and appends the event `UserCreated`. Queues the email with the temporary
 * password if the user has an email address (§4.2).
 * @throws {DomainError} conflict when another user of the directory has the name or address; dependency_unavailable
 * when the directory fails.
 */
export async function finishNewUser(
  transaction: Transaction,
  directory: UserDirectory,
  userId: string,
  accountId: number,
  delayHours: number,
): Promise<void> {
  const user = await getProfile(transaction, userId);
  await directory.create(transaction, user);
  const { email, language } = user;
  await announceNewUser(transaction, accountId, user);
  if (email) {
    await queueMail(transaction, { kind: 'temporary_password', to: email, language, accountId, userId, delayHours });
  }
}

/** Appends the event `UserCreated` to the outbox (R-I2). */
export async function announceNewUser(
  transaction: Transaction,
  accountId: number,
  { userId, userName, email, firstName, lastName }: DirectoryUser,
): Promise<void> {
  const payload = { id: userId, userName, email, firstName, lastName };
  await appendEvents(transaction, [{ accountId, type: 'UserCreated', payload }]);
}

/**
 * Locks or unlocks a user. Unlocking also ends a block that wrong passwords caused (R-B11).
 * @throws {DomainError} the errors of `lockTargetUser`; conflict when callers lock themselves; invalid_input for a lock
 * whose `until` is not in the future; conflict when the directory throws it; dependency_unavailable when the directory
 * fails.
 */
export async function saveLock(
  transaction: Transaction,
  directory: UserDirectory,
  context: AuditContext,
  userId: string,
  { isLocked, until, reason }: WrittenLock,
): Promise<void> {
  const target = await lockTargetUser(transaction, context.caller, userId);
  if (isLocked) assertOther(context.caller, target, 'lock yourself');
  const { rowCount } = await transaction.query(
    `update app_user set is_locked = $2, locked_until = case when $2 then $3::timestamptz end,
       lock_reason = case when $2 then $4 end, failed_password_count = 0,
       sign_in_locked_until = case when $2 then sign_in_locked_until end
     where id = $1 and (not $2 or $3::timestamptz is null or $3 > now())`,
    [userId, isLocked, until, reason],
  );
  if (rowCount === 0) throw invalidInput([{ path: '$.until', message: `must be in the future, got ${until}` }]);
  if (!isLocked) await clearFailures(transaction, userId);
  const lock = until ? 'locked_for_a_while' : 'locked';
  await directory.setLock(transaction, userId, isLocked ? lock : 'unlocked');
  const payload = { id: userId, userName: target.userName, until: until ?? null, reason: reason ?? null };
  const events = target.accountIds.map((accountId) => ({ accountId, type: 'UserLocked', payload }) as const);
  if (isLocked) await appendEvents(transaction, events);
  await auditInAllAccounts(transaction, context, target, {
    action: isLocked ? 'UserLocked' : 'UserUnlocked',
    details: isLocked ? { until: until ?? null, reason: reason ?? null } : {},
  });
}

/**
 * Deletes a user (§4.2).
 * @throws {DomainError} not_found and permission_denied as `lockTargetUser` throws them; conflict when the user is the
 * caller; dependency_unavailable when the directory fails.
 */
export async function deleteUser(
  transaction: Transaction,
  directory: UserDirectory,
  context: AuditContext,
  userId: string,
): Promise<void> {
  const target = await lockTargetUser(transaction, context.caller, userId);
  assertOther(context.caller, target, 'delete yourself');
  await directory.remove(transaction, userId);
  await transaction.query('delete from app_user where id = $1', [userId]);
  await auditInAllAccounts(transaction, context, target, { action: 'UserDeleted' });
}

/**
 * Lets a user choose a new password: `directory` sends the user a link by email (§4.2).
 * @throws {DomainError} the errors of `lockTargetUser`; conflict when the user has no email address, is disabled in
 *   Keycloak or no longer exists in Keycloak; dependency_unavailable when Keycloak fails.
 */
export async function requestPasswordReset(
  transaction: Transaction,
  directory: UserDirectory,
  context: AuditContext,
  userId: string,
): Promise<void> {
  const target = await lockTargetUser(transaction, context.caller, userId);
  if (!target.email)
    throw new DomainError('conflict', `the user ${target.userName} has no email address; save one first`);
  await directory.sendPasswordReset(transaction, target);
  await auditInAllAccounts(transaction, context, target, { action: 'PasswordResetRequested' });
}

/**
 * Audits a change that applies in all accounts of the user: one entry for each account, or one entry without an account
 * when the user has none.
 */
function auditInAllAccounts(
  transaction: Transaction,
  context: AuditContext,
  { userId, userName, accountIds }: TargetUser,
  entry: Pick<NewAuditEntry, 'action' | 'details'>,
): Promise<void> {
  return writeAudit(transaction, context, { ...entry, accountIds, targetId: userId, targetName: userName });
}

async function changeRole(
  transaction: Transaction,
  { caller }: AuditContext,
  target: TargetUser,
  role: RoleName,
): Promise<void> {
  assertAllowed(planRoleGrant(caller, role));
  // Users must not change their own role: otherwise, the last MANAGER of an account could give up the role, and could
  // not get it back without an ADMIN.
  assertOther(caller, target, 'change your own role');
  await transaction.query('update app_user set role = $2 where id = $1', [target.userId, role]);
}

async function writeAccountParts(
  transaction: Transaction,
  accountId: number,
  target: Pick<TargetUser, 'userId' | 'userName' | 'accountIds'>,
  { claims, features, secondaryAccesses, sites }: WrittenUser,
): Promise<void> {
  const levels = [...(features ?? []), ...(secondaryAccesses ?? [])].filter(({ level }) => level !== 'None');
  const isGiven = [claims, levels, sites].some((part) => part && part.length > 0);
  // An ADMIN may save a user who is not a member of this account. Such a user has no claims, features or sites in this
  // account, so there is nothing to remove.
  if (!target.accountIds.includes(accountId) && !isGiven) return;
  const { userId } = target;
  if (isGiven) assertMember(target, accountId);
  if (claims) await replaceClaims(transaction, accountId, userId, claims);
  if (features) await saveUserFeatures(transaction, accountId, userId, 'Feature', features, '$.features');
  if (secondaryAccesses) {
    const root = '$.secondaryAccesses';
    await saveUserFeatures(transaction, accountId, userId, 'SecondaryAccess', secondaryAccesses, root);
  }
  if (sites) await replaceUserSites(transaction, accountId, userId, sites, '$.sites');
}

function namesOf(written: WrittenUser): readonly string[] {
  return Object.entries(written).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}
