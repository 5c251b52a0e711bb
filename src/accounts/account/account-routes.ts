/** The routes of the current account (§4.1) and of its audit trail. */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { assertRole, type Caller } from '../../identity/caller/caller.ts';
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { withTransaction } from '../../platform/database/database.ts';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { INSTANT_RULE, parseInstant } from '../../platform/dates/date-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { answerWhole, isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { parsePaging } from '../../platform/http/paging.ts';
import { parseQuery, type Query, queryChoice, queryEnumeration, queryError } from '../../platform/http/query-string.ts';
import {
  AUDIT_ACTIONS,
  AUDIT_SCOPES,
  type AuditScope,
  countAudit,
  listAudit,
  MAX_AUDIT_PAGE,
  writeAudit,
} from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { listAccountFeatures } from '../members/features.ts';
import { parsePathNumber } from '../path-number.ts';
import type { AccountServices } from '../services.ts';
import {
  ACCOUNT_DISPLAY_LEVEL,
  ACCOUNT_LEVELS,
  ACCOUNT_MEMBERS,
  type AccountMember,
  accountSchema,
  getAccount,
  isAllowedOn,
  listAccounts,
  saveAccount,
} from './account.ts';

/** Entries without paging: the newest. */
const AUDIT_PAGE = 1000;

export function accountRoutes(services: AccountServices): Hono<AccountEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<AccountEnv>()
    .get('/account', async (c) => {
      const query = parseQuery(c.req.url);
      const level = queryEnumeration(query, 'displayLevel', ACCOUNT_DISPLAY_LEVEL) ?? 'Normal';
      return c.json(await getAccount(database, c.var.caller, parseFieldMask(query) ?? ACCOUNT_LEVELS[level]));
    })
    .put('/account', manager, (c) => putAccount(c, services))
    .get('/account/features', manager, async (c) =>
      answerWhole(c, await listAccountFeatures(database, c.var.caller.accountId, 'Feature')),
    )
    .get('/account/secondaryAccesses', manager, async (c) =>
      answerWhole(c, await listAccountFeatures(database, c.var.caller.accountId, 'SecondaryAccess')),
    )
    .get('/account/audit', manager, (c) => getAudit(c, services))
    .get('/account/user/accounts', async (c) => answerWhole(c, await listAccounts(database, c.var.caller)))
    .post('/account/user/active-account/:accountId', (c) => postActiveAccount(c, services));
}

async function putAccount(c: Context<AccountEnv>, { database }: AccountServices): Promise<Response> {
  const mask = parseFieldMask(parseQuery(c.req.url));
  const written = parseInput(accountSchema, limitTo(await readJsonBody(c.req.raw), mask));
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

async function getAudit(c: Context<AccountEnv>, { database }: AccountServices): Promise<Response> {
  const query = parseQuery(c.req.url);
  const filter = {
    from: queryInstant(query, 'from'),
    to: queryInstant(query, 'to'),
    userId: queryText(query, 'userId'),
    targetId: queryText(query, 'targetId'),
    action: queryChoice(query, 'action', AUDIT_ACTIONS),
  };
  const scope = toScope(c.var.caller, query);
  const entries = await listAudit(database, scope, filter, auditPage(query));
  if (isTotalWanted(c)) setTotalCount(c, await countAudit(database, scope, filter));
  return c.json(entries);
}

/** The trail never ends, and a page is held in memory. @throws DomainError invalid_input. */
function auditPage(query: Query): { readonly limit: number; readonly offset: number } {
  const { limit = AUDIT_PAGE, offset } = parsePaging(query);
  if (limit <= MAX_AUDIT_PAGE) return { limit, offset };
  throw queryError('itemsPerPage', `must be at most ${MAX_AUDIT_PAGE}, got ${limit}`);
}

/** @throws DomainError permission_denied for more than the own account, which is the operator's to read. */
function toScope(caller: Caller, query: Query): AuditScope {
  const scope = queryChoice(query, 'scope', AUDIT_SCOPES) ?? 'Account';
  if (scope === 'Account') return { kind: 'account', accountId: caller.accountId };
  assertRole(caller, 'ADMIN');
  return { kind: scope === 'All' ? 'all' : 'operator' };
}

function queryInstant(query: Query, name: string): string | undefined {
  // A plus sign that was not encoded arrives as a space.
  const text = query.find(name)?.replace(' ', '+');
  const instant = text === undefined ? undefined : parseInstant(text);
  if (text === undefined || instant !== undefined) return instant;
  throw queryError(name, `${INSTANT_RULE}, got ${JSON.stringify(text)}`);
}

/** What no stored text can be is refused, as everywhere else. */
function queryText(query: Query, name: string): string | undefined {
  const text = query.find(name);
  if (text === undefined || isStorableText(text)) return text;
  throw queryError(name, STORABLE_RULE);
}

/** Members named by `fieldMask`, repeated or separated by commas, in any case. @throws DomainError invalid_input. */
function parseFieldMask(query: Query): readonly AccountMember[] | undefined {
  const names = query.all('fieldMask').flatMap((value) => value.split(',').flatMap((part) => part.trim() || []));
  if (names.length === 0) return undefined;
  const wanted = names.map((name) => {
    const member = ACCOUNT_MEMBERS.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    if (member) return member;
    throw queryError('fieldMask', `must name members of an account, got ${JSON.stringify(name)}`);
  });
  return ACCOUNT_MEMBERS.filter((member) => wanted.includes(member));
}

/** Before it is checked: clients fill in what they name, and leave the rest as it comes. */
function limitTo(body: unknown, mask: readonly AccountMember[] | undefined): unknown {
  if (!mask || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const names = new Set(mask.map((member) => member.toLowerCase()));
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.has(name.toLowerCase())));
}

export interface ProfileOptions {
  readonly directory: UserDirectory;
  /** Addresses the page may return to, exactly; the first is the default. */
  readonly returnUrls: readonly string[];
}

/** What callers do about their own password, at the issuer (§4.6, R-B13). */
export function profileRoutes({ directory, returnUrls }: ProfileOptions): Hono<AccountEnv> {
  return new Hono<AccountEnv>()
    .get('/user/updatePasswordLink', (c) => {
      const wanted = parseQuery(c.req.url).find('returnUrl');
      const returnUrl = wanted ?? returnUrls[0] ?? '';
      if (!returnUrls.includes(returnUrl)) {
        throw queryError('returnUrl', 'must be an address on the list of the service (RETURN_URLS)');
      }
      return c.json({ link: directory.updatePasswordLink(c.var.caller.userName, returnUrl) });
    })
    .all('/user/password', () => {
      throw new DomainError(
        'gone',
        'passwords are no longer changed through the API: GET /user/updatePasswordLink gives the page to go to',
      );
    });
}
