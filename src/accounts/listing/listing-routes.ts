/** Routes that list and search users (§4.3), and routes of saved views. */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { lenientObject, parseInput } from '../../platform/http/lenient.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, type Paging, toPaging, WHOLE } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { answerListing, type ListingServices } from '../../platform/streaming/stream-listing.ts';
import { accountExists } from '../account/account.ts';
import { writeAudit } from '../audit/audit.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import { nameSchema } from '../field-schemas.ts';
import { parsePathNumber } from '../path-number.ts';
import { listUsersOfAccount, listVisibleUsers, type UserListing, type UserSelection } from './list-users.ts';
import {
  filterSchema,
  parseSearchRequest,
  toUserSearch,
  USER_LIST,
  type UserSearch,
  VISIBLE_USER_LIST,
} from './user-search.ts';
import { countViews, createView, deleteView, getView, listViews, saveView, type View } from './views.ts';

/** A saved filter as clients write it. */
export const viewSchema = lenientObject({ name: nameSchema, filter: filterSchema });

/** Query parameters of a listing that takes only the paging parameters (§4.3). */
export const USER_MAPPING_LIST = declareQuery(PAGING, { isListing: true });

export interface UserListingServices extends ListingServices {
  readonly database: Database;
}

/** Routes that list and search users (§4.3), and the routes of the saved views of the account. */
export function listingRoutes(services: UserListingServices): Hono<AccountEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  const listing = (c: Context<AccountEnv>) => answerUsers(c, services);
  const mapping = (c: Context<AccountEnv>) => answerMapping(c, services);
  return new Hono<AccountEnv>()
    .get('/account/usermapping', mapping)
    .get('/account/usermapping/users', mapping)
    .get('/account/users', listing)
    .get('/user/users', listing)
    .post('/account/users', async (c) => {
      const search = parseSearchRequest(await readJsonBody(c.req.raw));
      const { listing, paging } = await searchUsers(database, c.var.caller, search);
      const totalCount = await listing.count(database);
      const rest = { totalCount, pageNumber: search.pageNumber, itemsPerPage: search.itemsPerPage ?? totalCount };
      c.header('Deprecation', 'true');
      const wrap = ['{"users":', `,${JSON.stringify(rest).slice(1)}`] as const;
      return answerListing(c, services, c.var.caller.accountId, listing, paging, wrap);
    })
    .get('/account/users/visibleToMe', manager, async (c) => {
      const { accountIds, ...query } = VISIBLE_USER_LIST.parse(c.req.url);
      const { caller } = c.var;
      const search = toUserSearch(query);
      const listing = listVisibleUsers(await toSelection(database, caller, search), accountIds);
      return answerPage(c, services, listing, toPaging(search));
    })
    .get('/account/usersForAccount/:id', requireRole('ADMIN'), async (c) => {
      const accountId = parsePathNumber(c, 'id');
      const { caller } = c.var;
      await assertAccount(database, accountId);
      const listing = listUsersOfAccount({ scope: { caller, accountId }, level: 'Verbose', filters: [] });
      return answerPage(c, services, listing, toPaging(USER_MAPPING_LIST.parse(c.req.url)));
    })
    .route('/account/users/views', viewRoutes(services));
}

function viewRoutes(services: UserListingServices): Hono<AccountEnv> {
  const { database } = services;
  const parseView = async (c: Context<AccountEnv>) => parseInput(viewSchema, await readJsonBody(c.req.raw));
  return new Hono<AccountEnv>()
    .get('/', async (c) => {
      const { accountId } = c.var.caller;
      if (isTotalWanted(c)) setTotalCount(c, await countViews(database, accountId));
      return answerListing(c, services, accountId, listViews(accountId), WHOLE);
    })
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

/** Changes a view. The change is audited, because every member of the account may use the view. */
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

async function answerUsers(c: Context<AccountEnv>, services: UserListingServices): Promise<Response> {
  const search = toUserSearch(USER_LIST.parse(c.req.url));
  const { listing, paging } = await searchUsers(services.database, c.var.caller, search);
  return answerPage(c, services, listing, paging);
}

async function answerMapping(c: Context<AccountEnv>, services: UserListingServices): Promise<Response> {
  const { caller } = c.var;
  const listing = listUsersOfAccount({ scope: { caller, accountId: caller.accountId }, level: 'Light', filters: [] });
  return answerPage(c, services, listing, toPaging(USER_MAPPING_LIST.parse(c.req.url)));
}

async function answerPage(
  c: Context<AccountEnv>,
  services: UserListingServices,
  listing: UserListing,
  paging: Paging,
): Promise<Response> {
  if (isTotalWanted(c)) setTotalCount(c, await listing.count(services.database));
  return answerListing(c, services, c.var.caller.accountId, listing, paging);
}

/**
 * @throws {DomainError} permission_denied when a caller other than an ADMIN names an account (§5); not_found for an
 * unknown account or view.
 */
async function searchUsers(
  database: Database,
  caller: Caller,
  search: UserSearch,
): Promise<{ readonly listing: UserListing; readonly paging: Paging }> {
  if (search.accountId !== undefined) {
    if (caller.role !== 'ADMIN')
      throw new DomainError(
        'permission_denied',
        'AccountId requires the role ADMIN; omit AccountId to list the users of your account',
      );
    await assertAccount(database, search.accountId);
  }
  return { listing: listUsersOfAccount(await toSelection(database, caller, search)), paging: toPaging(search) };
}

/** Adds the filter of the saved view to the filter of the search. A USER who asks for level Verbose gets Normal. */
async function toSelection(database: Database, caller: Caller, search: UserSearch): Promise<UserSelection> {
  const { filter, viewId, displayLevel } = search;
  const view = viewId === undefined ? [] : [(await getView(database, caller, viewId)).filter];
  return {
    scope: { caller, accountId: search.accountId ?? caller.accountId },
    level: displayLevel === 'Verbose' && caller.role === 'USER' ? 'Normal' : displayLevel,
    filters: [filter, ...view],
  };
}

async function assertAccount(database: Database, accountId: number): Promise<void> {
  if (!(await accountExists(database, accountId))) {
    throw new DomainError('not_found', `account ${accountId} does not exist`);
  }
}
