/**
 * Routes for: the account in which the caller works and the accounts that the caller may use (§4.1), the audit trail,
 * the caller's sessions, and the caller's password (§4.6).
 */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { assertRole, type Caller } from '../../identity/caller/caller.ts';
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { withTransaction } from '../../platform/database/database.ts';
import { setDateZones } from '../../platform/dates/date-zone-header.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { answerWhole, isTotalWanted, setTotalCount, setWarning } from '../../platform/http/listing-response.ts';
import { toPaging, WHOLE } from '../../platform/http/paging.ts';
import { answerListing } from '../../platform/streaming/stream-listing.ts';
import { type AuditScope, countAudit, listAudit, writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { shown } from '../field-schemas.ts';
import { listAccountFeatures } from '../members/features.ts';
import { parsePathNumber } from '../path-number.ts';
import type { AccountServices } from '../services.ts';
import {
  ACCOUNT_LEVELS,
  type AccountMember,
  accountSchema,
  countAccounts,
  getAccount,
  isAllowedOn,
  listAccounts,
  saveAccount,
} from './account.ts';
import {
  ACCOUNT_CHANGE_QUERY,
  ACCOUNT_QUERY,
  AUDIT_QUERY,
  MY_ACCOUNTS_QUERY,
  PASSWORD_LINK_QUERY,
} from './account-queries.ts';

/** Default page size of the audit trail, in entries. */
const AUDIT_PAGE = 1000;

/**
 * Routes for the caller's accounts (§4.1), the audit trail, and the caller's sessions. Mount behind bearer
 * authentication.
 */
export function accountRoutes(services: AccountServices): Hono<AccountEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<AccountEnv>()
    .get('/account', async (c) => {
      const { displayLevel, fieldMask = ACCOUNT_LEVELS[displayLevel] } = ACCOUNT_QUERY.parse(c.req.url);
      return c.json(await getAccount(database, c.var.caller, fieldMask));
    })
    .put('/account', manager, (c) => putAccount(c, services))
    .get('/account/features', manager, async (c) =>
      answerWhole(c, await listAccountFeatures(database, c.var.caller.accountId, 'Feature')),
    )
    .get('/account/secondaryAccesses', manager, async (c) =>
      answerWhole(c, await listAccountFeatures(database, c.var.caller.accountId, 'SecondaryAccess')),
    )
    .get('/account/audit', manager, (c) => getAudit(c, services))
    .get('/account/user/accounts', async (c) => {
      const { caller } = c.var;
      const { subscriptionId } = MY_ACCOUNTS_QUERY.parse(c.req.url);
      if (subscriptionId !== undefined) setWarning(c, 'SubscriptionId has no effect: accounts have no subscriptions');
      if (isTotalWanted(c)) setTotalCount(c, await countAccounts(database, caller));
      return answerListing(c, services, caller.accountId, listAccounts(caller), WHOLE);
    })
    .post('/account/user/active-account/:accountId', (c) => postActiveAccount(c, services))
    .post('/user/signOut', (c) => postSignOut(c, services));
}

async function putAccount(c: Context<AccountEnv>, { database }: AccountServices): Promise<Response> {
  const { fieldMask } = ACCOUNT_CHANGE_QUERY.parse(c.req.url);
  const written = parseInput(accountSchema, limitTo(await readJsonBody(c.req.raw), fieldMask));
  const { caller } = c.var;
  const account = await withTransaction(database, async (transaction) => {
    const members = await saveAccount(transaction, caller.accountId, written);
    if (members.length > 0) {
      const targetId = String(caller.accountId);
      await writeAudit(transaction, auditContextOf(c), { action: 'AccountUpdated', targetId, details: { members } });
    }
    return getAccount(transaction, caller, ACCOUNT_LEVELS.Normal);
  });
  return c.json(account);
}

async function postActiveAccount(c: Context<AccountEnv>, services: AccountServices): Promise<Response> {
  const accountId = parsePathNumber(c, 'accountId');
  const { caller } = c.var;
  await withTransaction(services.database, async (transaction) => {
    if (!(await isAllowedOn(transaction, caller, accountId))) {
      throw new DomainError('not_found', `account ${accountId} does not exist`);
    }
    await transaction.query('update app_user set active_account_id = $2 where id = $1', [caller.userId, accountId]);
    await services.directory.setActiveAccount(transaction, caller.userId, accountId);
  });
  await services.accessInvalidation.publish([caller.userId]);
  return c.body(null, 200);
}

/** Ends every session of the caller, on every device. */
async function postSignOut(c: Context<AccountEnv>, services: AccountServices): Promise<Response> {
  const { userId } = c.var.caller;
  await withTransaction(services.database, (transaction) => services.directory.endSessions(transaction, userId));
  await services.accessInvalidation.publish([userId]);
  return c.body(null, 200);
}

async function getAudit(c: Context<AccountEnv>, { database }: AccountServices): Promise<Response> {
  const query = AUDIT_QUERY.parse(c.req.url);
  const { pageNumber, itemsPerPage = AUDIT_PAGE, scope: wanted, from, to, ...others } = query;
  // A date without a zone is UTC, because audit entries belong to no source and so have no local time (R-A11).
  if (from?.isLocal || to?.isLocal) setDateZones(c, ['UTC']);
  const filter = { ...others, from: from && formatInstant(from.micros), to: to && formatInstant(to.micros) };
  const scope = toScope(c.var.caller, wanted);
  const { limit = itemsPerPage, offset } = toPaging({ pageNumber, itemsPerPage });
  const entries = await listAudit(database, scope, filter, { limit, offset });
  if (isTotalWanted(c)) setTotalCount(c, await countAudit(database, scope, filter));
  return c.json(entries);
}

/** @throws {DomainError} permission_denied when a caller without role ADMIN asks for the scope `Operator` or `All`. */
function toScope(caller: Caller, scope: ReturnType<typeof AUDIT_QUERY.parse>['scope']): AuditScope {
  if (scope === undefined || scope === 'Account') return { kind: 'account', accountId: caller.accountId };
  assertRole(caller, 'ADMIN');
  return { kind: scope === 'All' ? 'all' : 'operator' };
}

/**
 * Drops the members that `fieldMask` does not name. Call it before validation, so that dropped values need not be
 * valid.
 */
function limitTo(body: unknown, mask: readonly AccountMember[] | undefined): unknown {
  if (!mask || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const names = new Set(mask.map((member) => member.toLowerCase()));
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.has(name.toLowerCase())));
}

export interface ProfileOptions {
  readonly directory: UserDirectory;
  /** URLs to which the page for changing the password may send the user back. The first URL is the default. */
  readonly returnUrls: readonly string[];
}

/** Routes for the caller's own password (§4.6, R-B13). Passwords are changed only on a page of the issuer. */
export function profileRoutes({ directory, returnUrls }: ProfileOptions): Hono<AccountEnv> {
  return new Hono<AccountEnv>()
    .get('/user/updatePasswordLink', (c) => {
      const { returnUrl = returnUrls[0] ?? '' } = PASSWORD_LINK_QUERY.parse(c.req.url);
      if (!returnUrls.includes(returnUrl)) {
        const rule = 'must be absent, or one of the URLs that the operator listed in the setting RETURN_URLS';
        throw PASSWORD_LINK_QUERY.error('returnUrl', `${rule}, got ${shown(returnUrl)}`);
      }
      return c.json({ link: directory.updatePasswordLink(c.var.caller.userName, returnUrl) });
    })
    .all('/user/password', () => {
      throw new DomainError(
        'gone',
        'passwords are no longer changed through the API; GET /user/updatePasswordLink returns the URL of the page that changes them',
      );
    });
}
