/** Finds and locks the user that a request names. Checks that the caller may see and change this user (R-A5, R-B8). */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { isStorableText } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import { type ChangeDecision, planRoleGrant, planUserChange, type RoleName } from './user-rules.ts';

export interface TargetUser {
  readonly userId: string;
  readonly userName: string;
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly language: string;
  readonly role: RoleName;
  readonly isLocked: boolean;
  /** All accounts of the user, including those the caller may not see: never return them to a client. */
  readonly accountIds: readonly number[];
}

/** @returns the ids of the user's accounts, ascending. */
export async function findAccountIds(database: Queryable, userId: string): Promise<readonly number[]> {
  const { rows } = await database.query<{ id: number }>(
    'select account_id as id from account_member where user_id = $1 order by account_id',
    [userId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Finds a user of the caller's account; an ADMIN finds every user (R-A5).
 * @throws {DomainError} not_found when the user does not exist, and also when the caller is not an ADMIN and the user
 * is not a member of the caller's account: such a caller must not learn that the user exists.
 */
export async function getTargetUser(database: Queryable, caller: Caller, userId: string): Promise<TargetUser> {
  return requireUser(
    userId,
    await findTargetUser(database, userId),
    (user) => user.accountIds.includes(caller.accountId) || caller.role === 'ADMIN',
  );
}

/**
 * Locks the rows of the caller and of the users in `userIds`, in the order of the ids to prevent deadlocks. Checks the
 * caller's role again, because the cached role may be stale (R-B5).
 * @throws {DomainError} permission_denied when the caller has lost the role, is locked or no longer exists.
 */
export async function lockUsers(transaction: Transaction, caller: Caller, userIds: readonly string[]): Promise<void> {
  const ids = userIds.filter(isStorableText);
  const lock = (side: '<' | '>') =>
    transaction.query(`select from app_user where id = any($1) and id ${side} $2 order by id for no key update`, [
      ids,
      caller.userId,
    ]);
  await lock('<');
  await lockCaller(transaction, caller, ids.includes(caller.userId) ? 'no key update' : 'share');
  await lock('>');
}

async function lockCaller(
  transaction: Transaction,
  { userId, role }: Caller,
  strength: 'no key update' | 'share',
): Promise<void> {
  const { rows } = await transaction.query<{ role: RoleName }>(
    `select role from app_user where id = $1 and not (is_locked and coalesce(locked_until > now(), true))
     for ${strength}`,
    [userId],
  );
  const [now] = rows;
  if (now && planRoleGrant(now, role).kind === 'allowed') return;
  throw new DomainError(
    'permission_denied',
    `the caller must still have the role ${role} or a higher one, and must not be locked`,
  );
}

/**
 * Locks the rows of a user and of the caller until the transaction ends, and requires that the caller may change the
 * user (R-B8).
 * @throws {DomainError} not_found in the same cases as `getTargetUser`; permission_denied when the caller may not
 * change the user, is locked, no longer exists, or no longer has the role `caller.role` or a higher one.
 */
export async function lockTargetUser(transaction: Transaction, caller: Caller, userId: string): Promise<TargetUser> {
  await lockUsers(transaction, caller, [userId]);
  const target = await getTargetUser(transaction, caller, userId);
  await assertMayChange(transaction, caller, target);
  return target;
}

/**
 * Finds a user who shares an account with the caller; an ADMIN can find any user (R-A5). Call `lockUsers` first.
 * @throws {DomainError} not_found when the user does not exist, or the caller may not see the user
 */
export async function getVisibleUser(transaction: Transaction, caller: Caller, userId: string): Promise<TargetUser> {
  const mine = await findAccountIds(transaction, caller.userId);
  return requireUser(
    userId,
    await findTargetUser(transaction, userId),
    ({ accountIds }) => caller.role === 'ADMIN' || accountIds.some((id) => mine.includes(id)),
  );
}

/**
 * Requires that the caller may change the user (R-B8).
 * @throws {DomainError} permission_denied when the caller may not change the user; the message gives the user's id and
 * the reason
 */
export async function assertMayChange(database: Queryable, caller: Caller, target: TargetUser): Promise<void> {
  const accountIds = await findAccountIds(database, caller.userId);
  const decision = planUserChange({ userId: caller.userId, role: caller.role, accountIds }, target);
  if (decision.kind === 'allowed') return;
  throw new DomainError('permission_denied', `user ${target.userId}: ${decision.reason}`);
}

/**
 * Requires that a decision of user-rules.ts allows the change (R-B8).
 * @throws {DomainError} permission_denied when the decision refuses the change; the message is the decision's reason.
 */
export function assertAllowed(decision: ChangeDecision): void {
  if (decision.kind === 'refused') throw new DomainError('permission_denied', decision.reason);
}

/**
 * Requires that the user is a member of the account: claims, features and sites are for members only (R-B8).
 * @throws {DomainError} conflict when the user is not a member
 */
export function assertMember(
  { userName, accountIds }: Pick<TargetUser, 'userName' | 'accountIds'>,
  accountId: number,
): void {
  if (accountIds.includes(accountId)) return;
  const rule = 'only members can have claims, features and sites in an account';
  throw new DomainError('conflict', `the user ${userName} is not a member of account ${accountId}, and ${rule}`);
}

/**
 * Requires that the user is not the caller (R-B8).
 * @param change the words that complete the message `you cannot …`, such as `lock yourself`.
 * @throws {DomainError} conflict when the user is the caller
 */
export function assertOther({ userId }: Caller, target: TargetUser, change: string): void {
  if (target.userId === userId) throw new DomainError('conflict', `you cannot ${change}`);
}

function requireUser(
  userId: string,
  user: TargetUser | undefined,
  isVisible: (user: TargetUser) => boolean,
): TargetUser {
  if (user && isVisible(user)) return user;
  throw new DomainError('not_found', `user ${userId} does not exist`);
}

async function findTargetUser(database: Queryable, userId: string): Promise<TargetUser | undefined> {
  if (!isStorableText(userId)) return undefined;
  const { rows } = await database.query<TargetUser>(
    `select u.id as "userId", u.user_name as "userName", u.email, u.first_name as "firstName",
       u.last_name as "lastName", u.language, u.role, u.is_locked as "isLocked",
       array(select m.account_id from account_member m where m.user_id = u.id order by 1) as "accountIds"
     from app_user u where u.id = $1`,
    [userId],
  );
  return rows[0];
}
