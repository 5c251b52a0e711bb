/**
 * Routes of one user of the account (§4.2). A route with a fixed path, such as `/account/user/create`, must be mounted
 * before `/account/user/:userId`, which would also match the fixed path.
 */
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { type Transaction, withTransaction } from '../../platform/database/database.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { answerWhole } from '../../platform/http/listing-response.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { integerParameter } from '../../platform/http/query-parameters.ts';
import { writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { featuresSchema, lockSchema, siteIdsSchema, sitesSchema } from '../field-schemas.ts';
import { type FeatureKind, listUserFeatures, saveUserFeatures } from '../members/features.ts';
import type { AccountServices } from '../services.ts';
import { createMember, deleteUser, requestPasswordReset, saveLock, saveUser } from './save-user.ts';
import { assertMember, getTargetUser, lockTargetUser, type TargetUser } from './target-user.ts';
import { getUserInfo } from './user-info.ts';
import { userSchema } from './user-members.ts';
import { removeUserSites, writeUserSites } from './user-sites.ts';

type Handler = (c: Context<AccountEnv>) => Promise<Response>;

const MAX_DELAY_HOURS = 72;

export const CREATE_USER_QUERY = declareQuery({
  delayToSendEmail: integerParameter('Hours to wait before the email with the temporary password is sent.', {
    min: 0,
    max: MAX_DELAY_HOURS,
    default: 0,
  }),
});

/** Routes of one user (§4.2). Mount behind bearer authentication. */
export function userRoutes(services: AccountServices): Hono<AccountEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  const change = (work: ChangeWork) => changeHandler(services, work);
  return new Hono<AccountEnv>()
    .post('/account/user/create', manager, (c) => postCreate(c, services))
    .get('/account/user/:userId', manager, async (c) => {
      const { userId } = await getTargetUser(database, c.var.caller, idOf(c));
      return c.json(await getUserInfo(database, scopeOf(c), userId));
    })
    .post('/account/user/:userId', manager, (c) => postUser(c, services))
    .delete(
      '/account/user/:userId',
      manager,
      change((transaction, c) => deleteUser(transaction, services.directory, auditContextOf(c), idOf(c))),
    )
    .get('/account/user/:userId/features', manager, featuresOf(services, 'Feature'))
    .post('/account/user/:userId/features', manager, saveFeatures(services, 'Feature'))
    .get('/account/user/:userId/secondaryAccesses', manager, featuresOf(services, 'SecondaryAccess'))
    .post('/account/user/:userId/secondaryAccesses', manager, saveFeatures(services, 'SecondaryAccess'))
    .post('/account/user/:userId/lock', manager, async (c) => {
      const lock = await readBody(c, lockSchema);
      return change((transaction) => saveLock(transaction, services.directory, auditContextOf(c), idOf(c), lock))(c);
    })
    .post('/account/user/:userId/resetpassword', manager, async (c) => {
      const answer = await change((transaction) =>
        requestPasswordReset(transaction, services.directory, auditContextOf(c), idOf(c)),
      )(c);
      services.wakeMail();
      return answer;
    })
    .post('/account/user/:userId/sites', manager, async (c) => {
      const sites = await readBody(c, sitesSchema);
      return changeMember(services, c, async (transaction, target) => {
        await writeUserSites(transaction, c.var.caller.accountId, target.userId, sites);
        return { action: 'SitesGranted', details: { sites } };
      });
    })
    .delete('/account/user/:userId/sites', manager, async (c) => {
      const siteIds = await readBody(c, siteIdsSchema);
      return changeMember(services, c, async (transaction, target) => {
        await removeUserSites(transaction, c.var.caller.accountId, target.userId, siteIds);
        return { action: 'SitesRevoked', details: { siteIds } };
      });
    });
}

type ChangeWork = (transaction: Transaction, c: Context<AccountEnv>) => Promise<void>;

/**
 * Returns a handler that runs `work` in a transaction, and then invalidates the cached access of the user in the URL.
 */
function changeHandler({ database, accessInvalidation }: AccountServices, work: ChangeWork): Handler {
  return async (c) => {
    await withTransaction(database, (transaction) => work(transaction, c));
    await accessInvalidation.publish([idOf(c)]);
    return c.body(null, 200);
  };
}

type MemberWork = (
  transaction: Transaction,
  target: TargetUser,
) => Promise<{
  readonly action: Parameters<typeof writeAudit>[2]['action'];
  readonly details: Record<string, unknown>;
}>;

/**
 * Changes data of the user whom the path names, and audits the change. The user must be a member of the caller's
 * account.
 */
function changeMember(services: AccountServices, c: Context<AccountEnv>, work: MemberWork): Promise<Response> {
  return changeHandler(services, async (transaction) => {
    const target = await lockTargetUser(transaction, c.var.caller, idOf(c));
    assertMember(target, c.var.caller.accountId);
    const change = await work(transaction, target);
    await writeAudit(transaction, auditContextOf(c), {
      ...change,
      targetId: target.userId,
      targetName: target.userName,
    });
  })(c);
}

async function postCreate(c: Context<AccountEnv>, services: AccountServices): Promise<Response> {
  const { delayToSendEmail: delayHours } = CREATE_USER_QUERY.parse(c.req.url);
  const written = await readBody(c, userSchema);
  const userId = await withTransaction(services.database, (transaction) =>
    createMember(transaction, services.directory, auditContextOf(c), written, delayHours),
  );
  services.wakeMail();
  // The answer has no body (§4.2); `Location` names the new user.
  c.header('Location', `/account/user/${userId}`);
  return c.body(null, 200);
}

async function postUser(c: Context<AccountEnv>, services: AccountServices): Promise<Response> {
  const written = await readBody(c, userSchema);
  const info = await withTransaction(services.database, async (transaction) => {
    await saveUser(transaction, services.directory, auditContextOf(c), idOf(c), written);
    return getUserInfo(transaction, scopeOf(c), idOf(c));
  });
  await services.accessInvalidation.publish([idOf(c)]);
  return c.json(info);
}

function featuresOf({ database }: AccountServices, kind: FeatureKind): Handler {
  return async (c) => {
    const { userId } = await getTargetUser(database, c.var.caller, idOf(c));
    return answerWhole(c, await listUserFeatures(database, c.var.caller.accountId, userId, kind));
  };
}

function saveFeatures(services: AccountServices, kind: FeatureKind): Handler {
  const action = kind === 'Feature' ? 'FeaturesChanged' : 'SecondaryAccessesChanged';
  return async (c) => {
    const written = await readBody(c, featuresSchema);
    return changeMember(services, c, async (transaction, { userId }) => {
      await saveUserFeatures(transaction, c.var.caller.accountId, userId, kind, written);
      return { action, details: { features: written } };
    });
  };
}

async function readBody<Schema extends z.ZodType>(c: Context<AccountEnv>, schema: Schema): Promise<z.output<Schema>> {
  return parseInput(schema, await readJsonBody(c.req.raw));
}

function idOf(c: Context<AccountEnv>): string {
  return c.req.param('userId') ?? '';
}

function scopeOf(c: Context<AccountEnv>) {
  return { caller: c.var.caller, accountId: c.var.caller.accountId };
}
