/** Handlers shared by sites, sources and variables: list, read, change by PUT or JSON Patch (R-A6, R-A7, R-C4–C6). */
import type { Context, Handler } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type Database, type Queryable, type Transaction, withTransaction } from '../platform/database/database.ts';
import { setDateZones } from '../platform/dates/date-zone-header.ts';
import { DomainError } from '../platform/errors.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import { isTotalWanted, setTotalCount } from '../platform/http/listing-response.ts';
import { type PAGING, type Paging, toPaging } from '../platform/http/paging.ts';
import type { QueryValues } from '../platform/http/query.ts';
import { MAX_INT4 } from '../platform/limits.ts';
import { answerListing, type ListingServices } from '../platform/streaming/stream-listing.ts';
import { compileFilter } from './filter/custom-filter.ts';
import { limitFilterTime } from './filter/filter-time.ts';
import { assertFormValues, withFormProblems } from './forms/check-values.ts';
import {
  type CustomCondition,
  countResources,
  getResource,
  hasLargeMembers,
  listResources,
  lockResource,
  type Resource,
  type ResourceObject,
  type ResourceSelection,
  readResources,
  readResourcesWithin,
  selectResources,
  updateResource,
} from './resource.ts';
import { parseChange, parsePatch } from './resource-input.ts';
import type { Levels } from './structure-queries.ts';

interface ItemQuery<Level extends string> {
  parse(address: string): { readonly displayLevel: Level };
}

interface ListQuery<Level extends string, Filter extends string> {
  parse(address: string): {
    readonly displayLevel: Level;
    readonly customFilter: string | undefined;
    readonly hasProblems?: boolean | undefined;
  } & QueryValues<typeof PAGING> &
    Readonly<Record<Filter, readonly number[]>>;
}

export interface ListOptions<Level extends string, Filter extends string> {
  readonly query: ListQuery<Level, NoInfer<Filter>>;
  readonly levels: Levels<Level>;
  /**
   * For each HTTP query parameter that takes ids: a function that takes the SQL placeholder of these ids (an `int[]`)
   * and returns the SQL condition.
   */
  readonly filters: Readonly<Record<Filter, (parameter: string) => string>>;
  /** Resource that `Site{…}` of a customFilter refers to. The listing must join the table of this resource. */
  readonly site?: Resource;
  /**
   * Path parameter with the id of a resource. `condition` filters the listing by this id. The answer is 404 unless the
   * resource exists and is visible to the caller.
   */
  readonly pathFilter?: {
    readonly name: string;
    readonly resource: Resource;
    readonly condition: (parameter: string) => string;
  };
  readonly present?: Present;
  /** SQL condition that is true for the rows that the query parameter `hasProblems=true` selects. */
  readonly hasProblems?: string;
}

/** Turns stored resources of an account into what clients read. */
export type Present = (
  queryable: Queryable,
  accountId: number,
  items: readonly ResourceObject[],
) => Promise<readonly ResourceObject[]>;

/** Runs in the transaction of a change, before the change is written; may throw a DomainError to refuse it. */
export type BeforeChange = (
  transaction: Transaction,
  caller: Caller,
  id: number,
  members: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** Runs `work` in a transaction; may delay `work`, or repeat it in a new transaction. */
export type Transact = <Result>(
  caller: Caller,
  body: unknown,
  work: (transaction: Transaction) => Promise<Result>,
) => Promise<Result>;

/**
 * Converts the dates of the changed members to instants.
 * @returns the converted members, and the time zones that were applied to dates without an offset (R-A11).
 */
export type Settle = (
  transaction: Transaction,
  current: ResourceObject,
  members: Readonly<Record<string, unknown>>,
) => Promise<{ readonly members: Readonly<Record<string, unknown>>; readonly dateZones: readonly string[] }>;

interface ChangeOptions {
  readonly settle?: Settle;
  readonly beforeChange?: BeforeChange;
  readonly transact?: Transact;
  readonly present?: Present;
}

const asStored: Present = async (_queryable, _accountId, items) => items;
const asGiven: Settle = async (_transaction, _current, members) => ({ members, dateZones: [] });

/** @returns a function that builds the SQL condition that `column` has one of the values of a parameter. */
export const anyOf = (column: string) => (parameter: string) => `${column} = any(${parameter})`;

export interface ListingParts extends ListingServices {
  readonly database: Database;
  /** Time limit of a statement with a customFilter. Default: 10 s. */
  readonly maxFilterTimeMs?: number;
}

/** A page of at most this many rows is read by one query; a larger page or a whole listing is streamed. */
const ROWS_AT_ONCE = 1000;
/**
 * Rows with JSON members have these smaller limits, because one JSON member can take a megabyte. A page that exceeds
 * either limit is streamed.
 */
const LARGE_ROWS_AT_ONCE = 100;
const LARGE_BYTES_AT_ONCE = 1 << 20;

/**
 * @returns the handler of `GET` of a listing. The handler filters and pages the resources, and selects the members of
 * the display level (R-A7). It sets `x-total-count` when the client asks for the total. It throws a DomainError:
 * invalid_input for a malformed query or a customFilter that takes too long; not_found when the resource of
 * `pathFilter` does not exist or is not visible to the caller.
 */
export function listHandler<Level extends string, Filter extends string>(
  services: ListingParts,
  resource: Resource,
  options: ListOptions<Level, Filter>,
): Handler<CallerEnv> {
  const { database, maxFilterTimeMs } = services;
  const limited = limitFilterTime(database, maxFilterTimeMs);
  return async (c) => {
    const query = options.query.parse(c.req.url);
    const filters = (Object.keys(options.filters) as Filter[]).map((name) => ({
      condition: options.filters[name],
      ids: query[name] as readonly number[],
    }));
    const { pathFilter } = options;
    if (pathFilter) {
      const id = parsePathId(c, pathFilter.name);
      await getResource(database, pathFilter.resource, c.var.caller, id);
      filters.push({ condition: pathFilter.condition, ids: [id] });
    }
    const { displayLevel } = query;
    const { caller } = c.var;
    const selection = selectResources(resource, caller, filters, customConditions(resource, options, query));
    const queryable = query.customFilter === undefined ? database : limited;
    if (isTotalWanted(c)) setTotalCount(c, await countResources(queryable, selection));
    const members = options.levels[displayLevel];
    const { present = asStored } = options;
    const show = async (source: Queryable, items: readonly ResourceObject[]) => {
      const presented = await present(source, caller.accountId, items);
      const shown = await showFormProblems(source, resource, caller.accountId, members, presented);
      return shown.map((item) => selectMembers(item, members));
    };
    const paging = toPaging(query);
    const items = await readAtOnce(queryable, selection, members, paging);
    if (items) return c.json(await show(database, items));
    const { read, ...listing } = listResources(selection, members);
    const readShown = async (source: Queryable, ids: readonly number[]) => show(source, await read(source, ids));
    const parts = { ...services, database: queryable };
    return answerListing(c, parts, caller.accountId, { ...listing, read: readShown }, paging);
  };
}

/** Reads a page with one query. @returns undefined when the page may be too large for one query. */
async function readAtOnce(
  queryable: Queryable,
  selection: ResourceSelection,
  members: readonly string[],
  paging: Paging,
): Promise<readonly ResourceObject[] | undefined> {
  const { limit = Number.POSITIVE_INFINITY } = paging;
  if (hasLargeMembers(selection.resource, members)) {
    if (limit > LARGE_ROWS_AT_ONCE) return undefined;
    return readResourcesWithin(queryable, selection, members, paging, LARGE_BYTES_AT_ONCE);
  }
  return limit > ROWS_AT_ONCE ? undefined : readResources(queryable, selection, members, paging);
}

function customConditions<Level extends string, Filter extends string>(
  resource: Resource,
  { site, hasProblems }: ListOptions<Level, Filter>,
  query: { readonly customFilter: string | undefined; readonly hasProblems?: boolean | undefined },
): readonly CustomCondition[] {
  const { customFilter: text, hasProblems: isBroken } = query;
  const conditions: CustomCondition[] = [];
  if (text !== undefined) conditions.push((values) => compileFilter(text, resource, site, values));
  if (hasProblems && isBroken !== undefined) conditions.push(() => `${isBroken ? '' : 'not '}${hasProblems}`);
  return conditions;
}

/**
 * @returns the handler of `GET` of one resource. The handler throws a DomainError: not_found, or invalid_input for an
 * unknown display level.
 */
export function itemHandler<Level extends string>(
  database: Database,
  resource: Resource,
  levels: Levels<Level>,
  query: ItemQuery<Level>,
  present: Present = asStored,
): Handler<CallerEnv> {
  return async (c) => {
    const { displayLevel } = query.parse(c.req.url);
    const { caller } = c.var;
    const items = [await getResource(database, resource, caller, parsePathId(c, 'id'))];
    const members = levels[displayLevel];
    const presented = await present(database, caller.accountId, items);
    const [item = {}] = await showFormProblems(database, resource, caller.accountId, members, presented);
    return c.json(selectMembers(item, members));
  };
}

/** Adds `formProblems` to each resource whose values violate a form, if the display level shows `formProblems`. */
async function showFormProblems(
  queryable: Queryable,
  { kind }: Resource,
  accountId: number,
  members: readonly string[],
  items: readonly ResourceObject[],
): Promise<readonly ResourceObject[]> {
  return members.includes('formProblems') ? withFormProblems(queryable, accountId, kind, items) : items;
}

/**
 * @returns the handler of PUT and PATCH. PUT changes only the members in the body; PATCH applies RFC 6902 (R-A6, R-C4).
 * The handler throws a DomainError (not_found, invalid_input, conflict) or the errors of `options`. A failed `test` of
 * a patch is a conflict.
 */
export function changeHandler(database: Database, resource: Resource, options: ChangeOptions = {}): Handler<CallerEnv> {
  const { beforeChange = async () => {}, present = asStored, settle = asGiven } = options;
  const { transact = ((_caller, _body, work) => withTransaction(database, work)) as Transact } = options;
  return async (c) => {
    const id = parsePathId(c, 'id');
    const body = await readJsonBody(c.req.raw);
    const { caller } = c.var;
    const dateZones = await transact(caller, body, async (transaction) => {
      await lockResource(transaction, resource, caller, id, 'no key update');
      const current = await getResource(transaction, resource, caller, id);
      assertInPath(c, resource, current);
      const isPatch = c.req.method === 'PATCH';
      // A patch applies to the JSON object that GET returns for the resource.
      const [shown = current] = isPatch ? await present(transaction, caller.accountId, [current]) : [];
      const given = isPatch ? parsePatch(resource, shown, body) : parseChange(resource, body);
      const { members, dateZones: zones } = await settle(transaction, current, given);
      await beforeChange(transaction, caller, id, members);
      await assertFormValues(transaction, caller.accountId, resource.kind, members.clientData, current.clientData);
      await updateResource(transaction, resource, caller.accountId, id, members);
      return zones;
    });
    setDateZones(c, dateZones);
    return c.body(null, 204);
  };
}

/**
 * Reads an id from the path. @throws {DomainError} not_found when the segment is not an integer from 1 to 2147483647.
 */
export function parsePathId(c: Context, name: string): number {
  const text = c.req.param(name) ?? '';
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_INT4) throw new DomainError('not_found', `${c.req.path} does not exist`);
  return id;
}

/**
 * Checks that the item belongs to the source that the path names; does nothing when the path names no source.
 * @throws {DomainError} not_found when the item belongs to another source.
 */
export function assertInPath(c: Context, resource: Resource, item: ResourceObject): void {
  if (c.req.param('sourceId') === undefined || item.sourceId === parsePathId(c, 'sourceId')) return;
  throw new DomainError(
    'not_found',
    `${resource.kind} ${item.id} does not belong to source ${c.req.param('sourceId')}`,
  );
}

/** Picks members of a resource, in the order of `names`. An undefined member is absent from the JSON. */
export function selectMembers(
  item: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const selected: Record<string, unknown> = {};
  for (const name of names) selected[name] = item[name];
  return selected;
}
