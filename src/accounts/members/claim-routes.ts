/**
 * Routes that list and change claims (§4.2). Only the POST routes under the path of a user require that the claim type
 * begins with `datapusher.`.
 */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { invalidInput, parseInput } from '../../platform/http/lenient.ts';
import { answerWhole } from '../../platform/http/listing-response.ts';
import { type AuditAction, writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { claimSchema, claimsSchema, type WrittenClaim } from '../field-schemas.ts';
import type { AccountServices } from '../services.ts';
import { assertMember, getTargetUser, lockTargetUser, lockUsers } from '../users/target-user.ts';
import { type ClaimOfUser, listClaims, removeClaims, writeClaims } from './claims.ts';

const DATA_PUSHER = /^datapusher\./;

/** Routes of claims (§4.2). */
export function claimRoutes(services: AccountServices): Hono<AccountEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<AccountEnv>()
    .get('/account/user/claim/:userId', manager, async (c) => {
      const { userId } = await getTargetUser(database, c.var.caller, c.req.param('userId'));
      return answerWhole(c, await listClaims(database, c.var.caller.accountId, userId));
    })
    .post('/account/user/claims/add', manager, (c) => answerEmpty(c, services, 'ClaimsAdded'))
    .put('/account/user/claims/edit', manager, (c) => answerEmpty(c, services, 'ClaimsEdited'))
    .delete('/account/user/claims/remove', manager, (c) => removeFromSeveral(c, services))
    .post('/account/user/:userId/claims/add', manager, async (c) => {
      const claim = parseInput(claimSchema, await readJsonBody(c.req.raw));
      assertDataPusher([claim], () => '$.claimType');
      const userId = c.req.param('userId');
      const [added] = await changeClaims(c, services, userId, 'ClaimsAdded', [claim]);
      return c.json(added);
    })
    .post('/account/user/:userId/claims/remove', manager, async (c) => {
      const claims = parseInput(claimsSchema, await readJsonBody(c.req.raw));
      assertDataPusher(claims, (index) => `$[${index}].claimType`);
      return c.json(await changeClaims(c, services, c.req.param('userId'), 'ClaimsRemoved', claims));
    });
}

async function answerEmpty(
  c: Context<AccountEnv>,
  services: AccountServices,
  action: 'ClaimsAdded' | 'ClaimsEdited',
): Promise<Response> {
  const claim = parseInput(claimSchema, await readJsonBody(c.req.raw));
  await changeClaims(c, services, requireUserId(claim, '$'), action, [claim]);
  return c.body(null, 200);
}

async function removeFromSeveral(c: Context<AccountEnv>, services: AccountServices): Promise<Response> {
  const claims = parseInput(claimsSchema, await readJsonBody(c.req.raw));
  const byUser = new Map<string, WrittenClaim[]>();
  for (const [index, claim] of claims.entries()) {
    const userId = requireUserId(claim, `$[${index}]`);
    byUser.set(userId, [...(byUser.get(userId) ?? []), claim]);
  }
  // Uses one transaction, so that all claims are removed, or none.
  await withTransaction(services.database, async (transaction) => {
    await lockUsers(transaction, c.var.caller, [...byUser.keys()]);
    for (const userId of byUser.keys()) {
      await changeInTransaction(transaction, c, userId, 'ClaimsRemoved', byUser.get(userId) ?? []);
    }
  });
  await services.accessInvalidation.publish([...byUser.keys()]);
  return c.body(null, 200);
}

async function changeClaims(
  c: Context<AccountEnv>,
  { database, accessInvalidation }: AccountServices,
  userId: string,
  action: AuditAction,
  claims: readonly WrittenClaim[],
): Promise<readonly ClaimOfUser[]> {
  const changed = await withTransaction(database, (transaction) =>
    changeInTransaction(transaction, c, userId, action, claims),
  );
  await accessInvalidation.publish([userId]);
  return changed;
}

/** @returns the claims that were written or removed. */
async function changeInTransaction(
  transaction: Transaction,
  c: Context<AccountEnv>,
  userId: string,
  action: AuditAction,
  claims: readonly WrittenClaim[],
): Promise<readonly ClaimOfUser[]> {
  const { accountId } = c.var.caller;
  const target = await lockTargetUser(transaction, c.var.caller, userId);
  assertMember(target, accountId);
  if (action === 'ClaimsEdited') await assertClaims(transaction, accountId, userId, claims);
  const details = { claims: claims.map(({ claimType, claimValue }) => ({ claimType, claimValue })) };
  await writeAudit(transaction, auditContextOf(c), { action, targetId: userId, targetName: target.userName, details });
  if (action === 'ClaimsRemoved') return removeClaims(transaction, accountId, userId, claims);
  await writeClaims(transaction, accountId, userId, claims);
  const types = new Set(claims.map(({ claimType }) => claimType));
  return (await listClaims(transaction, accountId, userId)).filter(({ claimType }) => types.has(claimType));
}

/**
 * Requires that the user has a claim of each type in `claims`.
 * @throws {DomainError} not_found when the user lacks such a claim.
 */
async function assertClaims(
  transaction: Transaction,
  accountId: number,
  userId: string,
  claims: readonly WrittenClaim[],
): Promise<void> {
  const types = new Set((await listClaims(transaction, accountId, userId)).map(({ claimType }) => claimType));
  const missing = claims.find(({ claimType }) => !types.has(claimType));
  if (missing) throw new DomainError('not_found', `user ${userId} has no claim ${missing.claimType}`);
}

function requireUserId({ userId }: WrittenClaim, root: string): string {
  if (userId) return userId;
  throw invalidInput([{ path: `${root}.userId`, message: 'is required; it must be the id of the user' }]);
}

/**
 * @throws {DomainError} invalid_input when a claim type does not begin with `datapusher.`.
 */
function assertDataPusher(claims: readonly WrittenClaim[], pathOf: (index: number) => string): void {
  const problems = claims.flatMap(({ claimType }, index) =>
    DATA_PUSHER.test(claimType)
      ? []
      : [{ path: pathOf(index), message: `must begin with "datapusher.", got ${JSON.stringify(claimType)}` }],
  );
  if (problems.length > 0) throw invalidInput(problems);
}
