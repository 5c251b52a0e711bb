/**
 * Routes that add users to an account and remove users from an account (§4.3). The caller must be allowed to use the
 * account.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { idSchema, lenientObject, parseInput } from '../../platform/http/lenient.ts';
import { isAllowedOn } from '../account/account.ts';
import { writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { nameSchema } from '../field-schemas.ts';
import type { AccountServices } from '../services.ts';
import { settleActiveAccount } from '../users/settle-active-account.ts';
import { assertMayChange, assertOther, getVisibleUser, lockUsers, type TargetUser } from '../users/target-user.ts';

const MAX_USERS = 1000;

/** The body `AddRemoveUsersToFromAccountBody` (§4.3). */
export const membershipSchema = lenientObject({
  accountId: idSchema,
  userIds: z.array(nameSchema).min(1).max(MAX_USERS),
});

type ChangeMembership = (
  transaction: Transaction,
  c: Context<AccountEnv>,
  accountId: number,
  target: TargetUser,
) => Promise<boolean>;

/** Routes that add users to an account and remove users from an account (§4.3). */
export function membershipRoutes(services: AccountServices): Hono<AccountEnv> {
  const manager = requireRole('MANAGER');
  return new Hono<AccountEnv>()
    .post('/account/users/account', manager, (c) => change(c, services, addMember))
    .delete('/account/users/account', manager, (c) => change(c, services, removeMember));
}

/**
 * Changes the memberships of the users whom the request names. If one change fails, none is made.
 * @throws {DomainError} not_found for an account the caller may not use, or a user the caller may not see;
 * invalid_input for a body that does not match `membershipSchema`; the errors of `readJsonBody`, `lockUsers`, `work`
 * and `settleActiveAccount`.
 */
async function change(c: Context<AccountEnv>, services: AccountServices, work: ChangeMembership): Promise<Response> {
  const { accountId, userIds } = parseInput(membershipSchema, await readJsonBody(c.req.raw));
  const { caller } = c.var;
  await withTransaction(services.database, async (transaction) => {
    await lockUsers(transaction, caller, userIds);
    if (!(await isAllowedOn(transaction, caller, accountId))) {
      throw new DomainError('not_found', `account ${accountId} does not exist`);
    }
    for (const userId of new Set(userIds)) {
      const target = await getVisibleUser(transaction, caller, userId);
      if (!(await work(transaction, c, accountId, target))) continue;
      await settleActiveAccount(transaction, services.directory, userId);
      const action = work === addMember ? 'UserAddedToAccount' : 'UserRemovedFromAccount';
      const entry = { action, targetId: userId, targetName: target.userName } as const;
      await writeAudit(transaction, auditContextOf(c), { ...entry, accountIds: [accountId] });
    }
  });
  await services.accessInvalidation.publish(userIds);
  return c.body(null, 200);
}

/**
 * @returns false when the user is already a member.
 * @throws {DomainError} permission_denied when the caller may not change the user (R-B8).
 */
async function addMember(
  transaction: Transaction,
  c: Context<AccountEnv>,
  accountId: number,
  target: TargetUser,
): Promise<boolean> {
  await assertMayChange(transaction, c.var.caller, target);
  const { rowCount } = await transaction.query(
    'insert into account_member (account_id, user_id) values ($1, $2) on conflict do nothing',
    [accountId, target.userId],
  );
  return rowCount === 1;
}

/**
 * Removes the membership together with its claims, features and site access. Unlike other changes, a removal is allowed
 * for a user who also belongs to accounts of other managers, because it does not affect those accounts.
 * @returns false when the user is not a member.
 */
async function removeMember(
  transaction: Transaction,
  c: Context<AccountEnv>,
  accountId: number,
  target: TargetUser,
): Promise<boolean> {
  if (!target.accountIds.includes(accountId)) return false;
  assertOther(c.var.caller, target, 'remove yourself from an account');
  if (target.role === 'ADMIN' && c.var.caller.role !== 'ADMIN') {
    const message = `user ${target.userId}: only an ADMIN may remove an ADMIN from an account`;
    throw new DomainError('permission_denied', message);
  }
  await transaction.query('delete from account_member where account_id = $1 and user_id = $2', [
    accountId,
    target.userId,
  ]);
  await transaction.query(
    'delete from site_access using site where user_id = $1 and site.id = site_id and site.account_id = $2',
    [target.userId, accountId],
  );
  return true;
}
