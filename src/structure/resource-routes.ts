/** The handlers sites, sources and variables share: list, read, change by PUT or JSON Patch (R-A6, R-A7, R-C4–C6). */
import type { Context, Handler } from 'hono';
import type { CallerEnv } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import { setTotalCount } from '../platform/http/listing-response.ts';
import { parsePaging } from '../platform/http/paging.ts';
import { parseQuery, type Query, queryChoice, queryIds } from '../platform/http/query-string.ts';
import { compileFilter } from './filter/custom-filter.ts';
import {
  getResource,
  listResources,
  lockResource,
  parseChange,
  parsePatch,
  type Resource,
  type ResourceObject,
  updateResource,
} from './resource.ts';

export type Levels<Level extends string> = Readonly<Record<Level, readonly string[]>>;

export interface ListOptions<Level extends string> {
  readonly levels: Levels<Level>;
  readonly defaultLevel: Level;
  /** Query parameter of ids → condition around the ids given. */
  readonly filters: Readonly<Record<string, (parameter: string) => string>>;
  /** What `Site{…}` of a customFilter speaks of; its table must be joined. */
  readonly site?: Resource;
  /** A path parameter that filters too, and names what must exist. */
  readonly pathFilter?: {
    readonly name: string;
    readonly resource: Resource;
    readonly condition: (parameter: string) => string;
  };
}

/** Called inside the transaction of a change, before it is written. */
export type BeforeChange = (
  transaction: Transaction,
  caller: Caller,
  id: number,
  members: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** `column = any(…)` */
export const anyOf = (column: string) => (parameter: string) => `${column} = any(${parameter})`;

export function listHandler<Level extends string>(
  database: Database,
  resource: Resource,
  options: ListOptions<Level>,
): Handler<CallerEnv> {
  return async (c) => {
    const query = parseQuery(c.req.url);
    const level = findLevel(query, options.levels) ?? options.defaultLevel;
    const filters = Object.entries(options.filters).map(([name, condition]) => ({
      condition,
      ids: queryIds(query, name),
    }));
    const { pathFilter } = options;
    if (pathFilter) {
      const id = parsePathId(c, pathFilter.name);
      await getResource(database, pathFilter.resource, c.var.caller, id);
      filters.push({ condition: pathFilter.condition, ids: [id] });
    }
    const text = query.find('customFilter');
    const custom =
      text === undefined ? undefined : (values: unknown[]) => compileFilter(text, resource, options.site, values);
    const page = await listResources(database, resource, c.var.caller, filters, parsePaging(query), custom);
    setTotalCount(c, page.totalCount);
    return c.json(page.items.map((item) => selectMembers(item, options.levels[level])));
  };
}

export function itemHandler<Level extends string>(
  database: Database,
  resource: Resource,
  levels: Levels<Level>,
  defaultLevel: Level,
): Handler<CallerEnv> {
  return async (c) => {
    const level = findLevel(parseQuery(c.req.url), levels) ?? defaultLevel;
    const item = await getResource(database, resource, c.var.caller, parsePathId(c, 'id'));
    return c.json(selectMembers(item, levels[level]));
  };
}

/** PUT keeps what the body leaves out; PATCH applies RFC 6902. Answers 204. */
export function changeHandler(
  database: Database,
  resource: Resource,
  beforeChange: BeforeChange = async () => {},
): Handler<CallerEnv> {
  return async (c) => {
    const id = parsePathId(c, 'id');
    const body = await readJsonBody(c.req.raw);
    const { caller } = c.var;
    await withTransaction(database, async (transaction) => {
      await lockResource(transaction, resource, caller, id, 'no key update');
      const current = await getResource(transaction, resource, caller, id);
      assertInPath(c, resource, current);
      const members = c.req.method === 'PATCH' ? parsePatch(resource, current, body) : parseChange(resource, body);
      await beforeChange(transaction, caller, id, members);
      await updateResource(transaction, resource, caller.accountId, id, members);
    });
    return c.body(null, 204);
  };
}

/** An id in the path. @throws DomainError not_found: what is no id names nothing. */
export function parsePathId(c: Context, name: string): number {
  const text = c.req.param(name) ?? '';
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > 2_147_483_647) throw new DomainError('not_found', `there is nothing at ${c.req.path}`);
  return id;
}

/** A variable addressed under a source must be of that source. @throws DomainError not_found. */
export function assertInPath(c: Context, resource: Resource, item: ResourceObject): void {
  if (c.req.param('sourceId') === undefined || item.sourceId === parsePathId(c, 'sourceId')) return;
  throw new DomainError('not_found', `${resource.kind} ${item.id} is not of source ${c.req.param('sourceId')}`);
}

/** Leaves out what the display level does not show. */
export function selectMembers(item: ResourceObject, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

function findLevel<Level extends string>(query: Query, levels: Levels<Level>): Level | undefined {
  return queryChoice(query, 'displayLevel', Object.keys(levels) as Level[]);
}
