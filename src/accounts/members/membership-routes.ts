/** Adding users to accounts and removing them (§4.3): on any account the caller is allowed on. */
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

/** AddRemoveUsersToFromAccountBody. */
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

export function membershipRoutes(services: AccountServices): Hono<AccountEnv> {
  const manager = requireRole('MANAGER');
  return new Hono<AccountEnv>()
    .post('/account/users/account', manager, (c) => change(c, services, addMember))
    .delete('/account/users/account', manager, (c) => change(c, services, removeMember));
}

/** All or nothing. @throws DomainError not_found for an account or a user that is not the caller's. */
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
      const whom = { targetId: userId, targetName: target.userName };
      await writeAudit(transaction, auditContextOf(c), { action, accountIds: [accountId], ...whom });
    }
  });
  await services.accessInvalidation.publish(userIds);
  return c.body(null, 200);
}

/** A member already stays one. @throws DomainError permission_denied (R-B8). */
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
 * Takes the membership away with the claims, features and sites that hang on it. A user who also belongs to accounts of
 * others may be removed from one's own: it changes nothing anywhere else.
 */
async function removeMember(
  transaction: Transaction,
  c: Context<AccountEnv>,
  accountId: number,
  target: TargetUser,
): Promise<boolean> {
  if (!target.accountIds.includes(accountId)) return false;
  assertOther(c.var.caller, target, 'remove');
  if (target.role === 'ADMIN' && c.var.caller.role !== 'ADMIN') {
    throw new DomainError('permission_denied', 'an ADMIN is changed by an ADMIN');
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
