/** Routes of sites, sources and variables (R-A6, R-C4–C7). All users may read; MANAGER and ADMIN may also write. */
import { Hono } from 'hono';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type Database, type Queryable, type Transaction, withTransaction } from '../platform/database/database.ts';
import { setDateZones } from '../platform/dates/date-zone-header.ts';
import type { ErrorDetail } from '../platform/errors.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { type AuditRemoval, deleteHandler, deletionRoutes } from './deletion/deletion-routes.ts';
import { assertFormValues } from './forms/check-values.ts';
import { getResource, insertResource, type ResourceObject } from './resource.ts';
import { parseNew } from './resource-input.ts';
import {
  anyOf,
  type BeforeChange,
  changeHandler,
  itemHandler,
  type ListingParts,
  listHandler,
  parsePathId,
  type Settle,
  type Transact,
} from './resource-routes.ts';
import { deleteSite, SITE, SITE_LEVELS } from './site.ts';
import { deleteSources, SOURCE, SOURCE_LEVELS } from './source.ts';
import { SITE_ITEM, SITE_LIST, SOURCE_ITEM, SOURCE_LIST, VARIABLE_ITEM, VARIABLE_LIST } from './structure-queries.ts';
import { deleteVariables, VARIABLE, VARIABLE_LEVELS } from './variable.ts';
import { assertUniqueInSource, repeatAfterConflict } from './variable-conflicts.ts';
import { HAS_PROBLEMS } from './variable-problems.ts';

/**
 * Operations on the declarations of calculated variables. `calculation` implements this interface, because `structure`
 * cannot import `calculation`.
 */
export interface Declarations {
  /**
   * Runs `work` in a transaction in which `work` may call `save`. Calls of one account run one at a time, even in
   * different processes; in one process, they run in FIFO order. When another transaction holds the lock of the graph,
   * `work` is rolled back and tried again. A waiting call holds no connection.
   * @throws {DomainError} dependency_unavailable when earlier calls take longer than the maximum wait.
   */
  inTurn<Result>(accountId: number, work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Validates the declaration and replaces the variable's edges in the dependency graph, in the transaction that saves
   * the variable. Call `save` within `inTurn`, unless `calculated` is null or undefined.
   * @param calculated declaration as received; undefined keeps the stored declaration.
   * @throws {DomainError} invalid_input when the declaration is invalid; calculation_cycle when the variable would
   * trigger itself or close a cycle; dependency_unavailable when another transaction holds the lock of the graph.
   */
  save(transaction: Transaction, caller: Caller, variableId: number, calculated: unknown): Promise<void>;
  /**
   * Converts the dates of a declaration to instants if they have no time zone or are in epoch milliseconds (R-A11).
   * @param calculated declaration of the calculated variable, as the client sent it.
   */
  settleDates(
    queryable: Queryable,
    sourceId: unknown,
    calculated: unknown,
  ): Promise<{ readonly calculated: unknown; readonly dateZones: readonly string[] }>;
  /**
   * Prepares variables for answers: converts `calculated` to the format that clients read (R-C12), and adds `problems`
   * where a variable has problems.
   */
  present(
    queryable: Queryable,
    accountId: number,
    variables: readonly ResourceObject[],
  ): Promise<readonly ResourceObject[]>;
  /**
   * Locks the graph of calculations of an account until the end of the transaction.
   * @throws {DomainError} dependency_unavailable immediately when another transaction holds the lock.
   */
  lockGraph(transaction: Transaction, accountId: number): Promise<void>;
  /**
   * Checks the declarations, and saves each declaration that has no problems. The variables must be stored already.
   * Call `lockGraph` before the first call, and `findCycle` after the last call. An unchanged declaration is not saved
   * again.
   * @returns the problems (paths begin with `$.calculated`), and the ids of the variables whose declaration was saved.
   */
  saveAll(
    transaction: Transaction,
    caller: Caller,
    given: readonly NewDeclaration[],
  ): Promise<{ readonly problems: readonly DeclarationProblem[]; readonly changedIds: readonly number[] }>;
  /**
   * @returns the ids of variables that form a cycle, with the first id repeated at the end; undefined when the graph of
   * the account has no cycle.
   */
  findCycle(transaction: Transaction, accountId: number): Promise<readonly number[] | undefined>;
}

/** A declaration to be saved; `calculated` is null when the variable is no longer calculated. */
export interface NewDeclaration {
  readonly variableId: number;
  readonly sourceId: number;
  readonly calculated: unknown;
}

export interface DeclarationProblem extends ErrorDetail {
  readonly variableId: number;
}

type Env = CallerEnv & RequestIdEnv;

interface Parts extends ListingParts {
  readonly declarations: Declarations;
  readonly audit: AuditRemoval;
}

const manager = requireRole('MANAGER');

/** Routes of sites, sources and variables (R-A6, R-C4–C7). All users may read; MANAGER and ADMIN may also write. */
export function structureRoutes(parts: Parts): Hono<Env> {
  return new Hono<Env>()
    .route('/sites', sitesRoutes(parts))
    .route('/sources', sourcesRoutes(parts))
    .route('/variables', variablesRoutes(parts))
    .route('/', deletionRoutes(parts.database));
}

function sitesRoutes(parts: Parts): Hono<Env> {
  const { database, audit } = parts;
  const filters = {
    siteIds: anyOf('site.id'),
    sourceIds: (ids: string) => `site.id in (select site_id from source where id = any(${ids}))`,
    variableIds: (ids: string) =>
      `site.id in (select s.site_id from source s join variable v on v.source_id = s.id where v.id = any(${ids}))`,
  };
  return new Hono<Env>()
    .get(
      '/',
      listHandler(parts, SITE, {
        query: SITE_LIST,
        levels: SITE_LEVELS,
        filters,
      }),
    )
    .get('/:id', itemHandler(database, SITE, SITE_LEVELS, SITE_ITEM))
    .post('/', manager, async (c) => {
      const members = parseNew(SITE, await readJsonBody(c.req.raw));
      const { accountId } = c.var.caller;
      const id = await withTransaction(database, async (transaction) => {
        await assertFormValues(transaction, accountId, 'Site', members.clientData);
        const timeZoneId = members.timeZoneId ?? (await accountTimeZone(transaction, accountId));
        return insertResource(transaction, SITE, accountId, {
          ...members,
          timeZoneId,
        });
      });
      return c.json(id);
    })
    .on(['PUT', 'PATCH'], '/:id', manager, changeHandler(database, SITE))
    .delete('/:id', manager, deleteHandler({ database, audit }, SITE, deleteSite));
}

function sourcesRoutes(parts: Parts): Hono<Env> {
  const { database, declarations, audit } = parts;
  const filters = {
    sourceIds: anyOf('source.id'),
    siteIds: anyOf('source.site_id'),
    variableIds: (ids: string) => `source.id in (select source_id from variable where id = any(${ids}))`,
  };
  const assertSite: BeforeChange = async (transaction, caller, _id, { siteId }) => {
    if (typeof siteId === 'number') await getResource(transaction, SITE, caller, siteId);
  };
  return new Hono<Env>()
    .get(
      '/',
      listHandler(parts, SOURCE, {
        query: SOURCE_LIST,
        levels: SOURCE_LEVELS,
        filters,
        site: SITE,
      }),
    )
    .get('/:id', itemHandler(database, SOURCE, SOURCE_LEVELS, SOURCE_ITEM))
    .post('/', manager, async (c) => {
      const members = parseNew(SOURCE, await readJsonBody(c.req.raw));
      const { caller } = c.var;
      const source = await withTransaction(database, async (transaction) => {
        await getResource(transaction, SITE, caller, members.siteId as number);
        await assertFormValues(transaction, caller.accountId, 'Source', members.clientData);
        const id = await insertResource(transaction, SOURCE, caller.accountId, members);
        return getResource(transaction, SOURCE, caller, id);
      });
      return c.json(source);
    })
    .on(['PUT', 'PATCH'], '/:id', manager, changeHandler(database, SOURCE, { beforeChange: assertSite }))
    .delete(
      '/:id',
      manager,
      deleteHandler({ database, audit }, SOURCE, (transaction, accountId, id, hard) =>
        deleteSources(transaction, accountId, [id], hard),
      ),
    )
    .on(
      ['PUT', 'PATCH'],
      '/:sourceId/variables/:id',
      manager,
      changeHandler(database, VARIABLE, {
        settle: settleDates(declarations),
        beforeChange: saveVariable(declarations),
        transact: takeTurns(database, declarations),
        present: declarations.present,
      }),
    )
    .delete(
      '/:sourceId/variables/:id',
      manager,
      deleteHandler({ database, audit }, VARIABLE, (transaction, accountId, id, hard) =>
        deleteVariables(transaction, accountId, [id], hard),
      ),
    );
}

function variablesRoutes(parts: Parts): Hono<Env> {
  const { database, declarations } = parts;
  const filters = {
    variableIds: anyOf('variable.id'),
    sourceIds: anyOf('variable.source_id'),
    siteIds: anyOf('source.site_id'),
  };
  const list = {
    query: VARIABLE_LIST,
    levels: VARIABLE_LEVELS,
    filters,
    present: declarations.present,
    hasProblems: HAS_PROBLEMS,
  };
  const inTurn = takeTurns(database, declarations);
  const pathFilter = {
    name: 'sourceId',
    resource: SOURCE,
    condition: anyOf('variable.source_id'),
  };
  return new Hono<Env>()
    .get('/', listHandler(parts, VARIABLE, list))
    .get('/source/:sourceId', listHandler(parts, VARIABLE, { ...list, pathFilter }))
    .get('/:id', itemHandler(database, VARIABLE, VARIABLE_LEVELS, VARIABLE_ITEM, declarations.present))
    .post('/source/:sourceId', manager, async (c) => {
      const sourceId = parsePathId(c, 'sourceId');
      const given = parseNew(VARIABLE, withSource(await readJsonBody(c.req.raw), sourceId));
      const { caller } = c.var;
      const { calculated, dateZones } = await declarations.settleDates(database, sourceId, given.calculated);
      const members = { ...given, ...(calculated !== undefined && { calculated }) };
      const variable = await inTurn(caller, members, async (transaction) => {
        await getResource(transaction, SOURCE, caller, sourceId);
        await assertUniqueInSource(transaction, { ...members, sourceId });
        await assertFormValues(transaction, caller.accountId, 'Variable', given.clientData);
        const id = await insertResource(transaction, VARIABLE, caller.accountId, members);
        await declarations.save(transaction, caller, id, members.calculated);
        return getResource(transaction, VARIABLE, caller, id);
      });
      setDateZones(c, dateZones);
      const [presented] = await declarations.present(database, caller.accountId, [variable]);
      return c.json(presented);
    });
}

function settleDates(declarations: Declarations): Settle {
  return async (transaction, current, members) => {
    const sourceId = members.sourceId ?? current.sourceId;
    const { calculated, dateZones } = await declarations.settleDates(transaction, sourceId, members.calculated);
    return { members: { ...members, ...(calculated !== undefined && { calculated }) }, dateZones };
  };
}

function saveVariable(declarations: Declarations): BeforeChange {
  return async (transaction, caller, id, members) => {
    if (typeof members.sourceId === 'number') await getResource(transaction, SOURCE, caller, members.sourceId);
    await assertUniqueInSource(transaction, { ...members, id });
    await declarations.save(transaction, caller, id, members.calculated);
  };
}

/**
 * @returns a `Transact` that calls `inTurn` if the body could declare a calculation. After a conflict with a concurrent
 *   request, the `Transact` repeats `work`.
 */
function takeTurns(database: Database, declarations: Declarations): Transact {
  return (caller, body, work) =>
    repeatAfterConflict(() =>
      mayDeclare(body) ? declarations.inTurn(caller.accountId, work) : withTransaction(database, work),
    );
}

/**
 * @returns true when the body could contain a declaration. A JSON Patch always could, because a patch writes the whole
 *   resource again.
 */
function mayDeclare(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if (Array.isArray(body)) return true;
  return Object.entries(body).some(([name, value]) => name.toLowerCase() === 'calculated' && value != null);
}

/** Sets `sourceId` in the body to the source id of the path. Drops the client's `sourceId`, in any letter case. */
function withSource(body: unknown, sourceId: number): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const others = Object.entries(body).filter(([name]) => name.toLowerCase() !== 'sourceid');
  return { ...Object.fromEntries(others), sourceId };
}

async function accountTimeZone(transaction: Transaction, accountId: number): Promise<string> {
  const { rows } = await transaction.query<{ timeZoneId: string }>(
    'select time_zone_id as "timeZoneId" from account where id = $1',
    [accountId],
  );
  const [account] = rows;
  if (!account) throw new Error(`account ${accountId} does not exist`);
  return account.timeZoneId;
}
