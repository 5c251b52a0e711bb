/** Routes that list and search users (§4.3), and those of saved views. */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { lenientObject, parseInput } from '../../platform/http/lenient.ts';
import { answerWhole, isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOffset, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { accountExists } from '../account/account.ts';
import { writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { nameSchema } from '../field-schemas.ts';
import { parsePathNumber } from '../path-number.ts';
import { listUsersOfAccount, listVisibleUsers, type UserListing, type UserPage } from './list-users.ts';
import {
  filterSchema,
  parseSearchRequest,
  toUserSearch,
  USER_LIST,
  type UserSearch,
  VISIBLE_USER_LIST,
} from './user-search.ts';
import { createView, deleteView, getView, listViews, saveView, type View } from './views.ts';

/** A saved filter as written. */
export const viewSchema = lenientObject({ name: nameSchema, filter: filterSchema });

/** These listings have no query of their own (§4.3) but paging. */
export const USER_MAPPING_LIST = declareQuery(PAGING, { isListing: true });

/** Routes that list and search users, and their saved views (§4.3). */
export function listingRoutes(database: Database): Hono<AccountEnv> {
  const manager = requireRole('MANAGER');
  const listing = (c: Context<AccountEnv>) => answerListing(c, database);
  const mapping = (c: Context<AccountEnv>) => answerMapping(c, database);
  return new Hono<AccountEnv>()
    .get('/account/usermapping', mapping)
    .get('/account/usermapping/users', mapping)
    .get('/account/users', listing)
    .get('/user/users', listing)
    .post('/account/users', async (c) => {
      const search = parseSearchRequest(await readJsonBody(c.req.raw));
      const { users, totalCount = users.length } = await searchUsers(database, c.var.caller, search, true);
      c.header('Deprecation', 'true');
      const itemsPerPage = search.itemsPerPage ?? totalCount;
      return c.json({ users, totalCount, pageNumber: search.pageNumber, itemsPerPage });
    })
    .get('/account/users/visibleToMe', manager, async (c) => {
      const { accountIds, ...query } = VISIBLE_USER_LIST.parse(c.req.url);
      const { caller } = c.var;
      const listing = await toListing(database, caller, toUserSearch(query), isTotalWanted(c));
      return answerPage(c, await listVisibleUsers(database, listing, accountIds));
    })
    .get('/account/usersForAccount/:id', requireRole('ADMIN'), async (c) => {
      const accountId = parsePathNumber(c, 'id');
      const { caller } = c.var;
      await assertAccount(database, accountId);
      const listing = { scope: { caller, accountId }, level: 'Verbose', filters: [], ...pagingOf(c) } as const;
      return answerPage(c, await listUsersOfAccount(database, listing));
    })
    .route('/account/users/views', viewRoutes(database));
}

function viewRoutes(database: Database): Hono<AccountEnv> {
  const parseView = async (c: Context<AccountEnv>) => parseInput(viewSchema, await readJsonBody(c.req.raw));
  return new Hono<AccountEnv>()
    .get('/', async (c) => answerWhole(c, await listViews(database, c.var.caller)))
    .post('/', async (c) => {
      const written = await parseView(c);
      const work = (transaction: Transaction) => createView(transaction, c.var.caller, written);
      return c.json(await changeView(c, database, 'ViewCreated', work));
    })
    .get('/:id', async (c) => c.json(await getView(database, c.var.caller, c.req.param('id'))))
    .put('/:id', async (c) => {
      const written = await parseView(c);
      const work = (transaction: Transaction) => saveView(transaction, c.var.caller, c.req.param('id'), written);
      return c.json(await changeView(c, database, 'ViewUpdated', work));
    })
    .delete('/:id', async (c) => {
      const work = (transaction: Transaction) => deleteView(transaction, c.var.caller, c.req.param('id'));
      await changeView(c, database, 'ViewDeleted', work);
      return c.body(null, 200);
    });
}

/** Changes a view and writes it to the audit trail, because all members of the account use views. */
function changeView(
  c: Context<AccountEnv>,
  database: Database,
  action: 'ViewCreated' | 'ViewUpdated' | 'ViewDeleted',
  work: (transaction: Transaction) => Promise<View>,
): Promise<View> {
  return withTransaction(database, async (transaction) => {
    const view = await work(transaction);
    await writeAudit(transaction, auditContextOf(c), { action, targetId: view.id, targetName: view.name });
    return view;
  });
}

async function answerListing(c: Context<AccountEnv>, database: Database): Promise<Response> {
  const search = toUserSearch(USER_LIST.parse(c.req.url));
  return answerPage(c, await searchUsers(database, c.var.caller, search, isTotalWanted(c)));
}

async function answerMapping(c: Context<AccountEnv>, database: Database): Promise<Response> {
  const { caller } = c.var;
  const scope = { caller, accountId: caller.accountId };
  const listing = { scope, level: 'Light', filters: [], ...pagingOf(c) } as const;
  return answerPage(c, await listUsersOfAccount(database, listing));
}

function pagingOf(c: Context<AccountEnv>): Pick<UserListing, 'limit' | 'offset' | 'isCounted'> {
  return { ...toPaging(USER_MAPPING_LIST.parse(c.req.url)), isCounted: isTotalWanted(c) };
}

function answerPage(c: Context<AccountEnv>, { users, totalCount }: UserPage): Response {
  if (totalCount !== undefined) setTotalCount(c, totalCount);
  return c.json(users);
}

/** @throws {DomainError} permission_denied when a caller other than an ADMIN names an account (§5); not_found */
async function searchUsers(
  database: Database,
  caller: Caller,
  search: UserSearch,
  isCounted: boolean,
): Promise<UserPage> {
  if (search.accountId !== undefined) {
    if (caller.role !== 'ADMIN')
      throw new DomainError(
        'permission_denied',
        'AccountId requires the role ADMIN; omit it to list the users of your account',
      );
    await assertAccount(database, search.accountId);
  }
  return listUsersOfAccount(database, await toListing(database, caller, search, isCounted));
}

/** Adds the filter of the view. Level Verbose is for managers: a USER gets Normal. */
async function toListing(
  database: Database,
  caller: Caller,
  search: UserSearch,
  isCounted: boolean,
): Promise<UserListing> {
  const { filter, viewId, displayLevel, pageNumber, itemsPerPage } = search;
  const view = viewId === undefined ? [] : [(await getView(database, caller, viewId)).filter];
  return {
    scope: { caller, accountId: search.accountId ?? caller.accountId },
    level: displayLevel === 'Verbose' && caller.role === 'USER' ? 'Normal' : displayLevel,
    filters: [filter, ...view],
    limit: itemsPerPage,
    offset: pageOffset(itemsPerPage ?? 0, pageNumber),
    isCounted,
  };
}

async function assertAccount(database: Database, accountId: number): Promise<void> {
  if (!(await accountExists(database, accountId))) {
    throw new DomainError('not_found', `account ${accountId} does not exist`);
  }
}
