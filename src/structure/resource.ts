/**
 * Reads, creates, changes and deletes sites, sources and variables. A change keeps the value of each omitted member,
 * because some clients know fewer members. null clears a member.
 */
import type { z } from 'zod';
import type { Caller } from '../identity/caller/caller.ts';
import { isReached, readReach } from '../identity/caller/site-reach.ts';
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { type Paging, WHOLE } from '../platform/http/paging.ts';
import type { Listing } from '../platform/streaming/stream-listing.ts';
import { nameOf } from './catalogue/enumerations.ts';

/** A writable member of a resource. */
export interface Field {
  readonly column: string;
  /** Validates a written value; accepts null when the member can be cleared. */
  readonly schema: z.ZodType;
  /** For a field that takes the names of an enumeration: the number stored for each name. */
  readonly members?: Readonly<Record<string, number>>;
  /** Whether the column holds JSON. */
  readonly isJson?: true;
  /** How a customFilter compares the field; absent when a customFilter cannot compare the field as a whole. */
  readonly filterType?: 'text' | 'number' | 'boolean' | 'texts';
}

/** A kind of resource (sites, sources or variables), as the functions below need it for their SQL. */
export interface Resource {
  readonly kind: 'Site' | 'Source' | 'Variable';
  readonly table: 'site' | 'source' | 'variable';
  /** The SQL after `from`. It gives `table` no alias, because queries qualify columns with the name of the table. */
  readonly from: string;
  /** SQL expression of the site id of a row, for site access. */
  readonly siteId: string;
  /** The parent ids in an event about a row: name of the id (such as `siteId`) → its SQL expression. */
  readonly parents: Readonly<Record<string, string>>;
  /** The members that clients can write. The key is the name of the member. */
  readonly fields: Readonly<Record<string, Field>>;
  /** SQL expression of each read-only member. */
  readonly derived: Readonly<Record<string, string>>;
  /** Members that a POST must have. */
  readonly required: readonly string[];
}

/** A resource as clients read it. */
export type ResourceObject = Readonly<Record<string, unknown>> & {
  readonly id: number;
};

/** Restricts a listing to `ids`. `condition` gets the placeholder of the ids (an `int[]`) and returns SQL. */
export interface Filter {
  readonly condition: (parameter: string) => string;
  readonly ids: readonly number[];
}

/** Builds an SQL condition; pushes its parameters to `values`. */
export type CustomCondition = (values: unknown[]) => string;

/** Selects the resources of a listing, by an SQL condition and its parameters. */
export interface ResourceSelection {
  readonly resource: Resource;
  readonly where: string;
  readonly values: readonly unknown[];
}

/**
 * Selects the resources that the caller may see.
 * @param filters restrictions that must all hold; a filter with an empty list of ids is ignored.
 */
export function selectResources(
  resource: Resource,
  caller: Caller,
  filters: readonly Filter[],
  customs: readonly CustomCondition[] = [],
): ResourceSelection {
  const values: unknown[] = [];
  const conditions = visibility(resource, caller, values);
  for (const { condition, ids } of filters) {
    if (ids.length > 0) conditions.push(condition(`$${values.push(ids)}::int[]`));
  }
  for (const custom of customs) conditions.push(custom(values));
  return { resource, where: conditions.join(' and '), values };
}

/** Counts the selected resources. */
export async function countResources(
  queryable: Queryable,
  { resource, where, values }: ResourceSelection,
): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    `select count(*) as count from ${resource.from} where ${where}`,
    [...values],
  );
  return rows[0]?.count ?? 0;
}

/** Returns true when a member is JSON. A JSON member can take a megabyte. */
export function hasLargeMembers(resource: Resource, members: readonly string[]): boolean {
  return members.some((name) => resource.fields[name]?.isJson);
}

/** Reads one page of the selected resources, in id order. Each resource has its id and the given `members`. */
export async function readResources(
  queryable: Queryable,
  { resource, where, values }: ResourceSelection,
  members: readonly string[],
  { limit, offset }: Paging,
): Promise<readonly ResourceObject[]> {
  const { rows } = await queryable.query<Record<string, unknown>>(
    `select ${columnList(resource, members)} from ${resource.from} where ${where}
     order by ${resource.table}.id limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, limit ?? null, offset],
  );
  return rows.map((row) => toObject(resource, row));
}

/**
 * Like `readResources`, but with a limit on the size of the JSON members. Sends one query.
 * @param maxBytes maximum total size of the JSON members of the page, as text.
 * @returns undefined when the JSON members are larger than `maxBytes`.
 */
export async function readResourcesWithin(
  queryable: Queryable,
  { resource, where, values }: ResourceSelection,
  members: readonly string[],
  { limit, offset }: Paging,
  maxBytes: number,
): Promise<readonly ResourceObject[] | undefined> {
  const names = ['id', ...members.filter((name) => resource.fields[name] || resource.derived[name])];
  const isJson = (name: string): boolean => resource.fields[name]?.isJson === true;
  const bytes = names.filter(isJson).map((name) => `coalesce(octet_length("${name}"::text), 0)`);
  const pageBytes = `sum(${bytes.join(' + ')}) over ()`;
  const [limitAt, offsetAt, maxAt] = [1, 2, 3].map((index) => `$${values.length + index}`);
  const columns = names.map((name) =>
    isJson(name) ? `case when ${pageBytes} <= ${maxAt} then "${name}" end as "${name}"` : `"${name}"`,
  );
  const { rows } = await queryable.query<Record<string, unknown>>(
    `select ${columns.join(', ')}, ${pageBytes} as "pageBytes" from (
       select ${columnList(resource, members)} from ${resource.from} where ${where}
       order by ${resource.table}.id limit ${limitAt} offset ${offsetAt}) page order by id`,
    [...values, limit ?? null, offset, maxBytes],
  );
  if (Number(rows[0]?.pageBytes ?? 0) > maxBytes) return undefined;
  return rows.map((row) => toObject(resource, row, names));
}

/** Estimated bytes of a row without its JSON members. */
const ROW_BYTES = 2000;

/** Lists the selected resources in id order. Each resource has its id and the given `members`. */
export function listResources(
  { resource, where, values }: ResourceSelection,
  members: readonly string[],
): Listing<number, ResourceObject> {
  const json = members.flatMap((name) => {
    const { column, isJson } = resource.fields[name] ?? {};
    return isJson ? ` + coalesce(octet_length(${resource.table}.${column}::text), 0)` : [];
  });
  return {
    keys: `select ${resource.table}.id as key, ${ROW_BYTES}${json.join('')} as bytes from ${resource.from}
      where ${where} order by ${resource.table}.id`,
    values,
    read: (queryable, ids) => {
      const some = { resource, where: `${resource.table}.id = any($1::int[])`, values: [ids] };
      return readResources(queryable, some, members, WHOLE);
    },
  };
}

/**
 * Reads a resource that the caller may see.
 * @throws {DomainError} not_found, including for a resource of another account or of a site the caller may not see
 * (R-B9).
 */
export async function getResource(
  queryable: Queryable,
  resource: Resource,
  caller: Caller,
  id: number,
): Promise<ResourceObject> {
  const values: unknown[] = [id];
  const where = [`${resource.table}.id = $1`, ...visibility(resource, caller, values)].join(' and ');
  const { rows } = await queryable.query<Record<string, unknown>>(
    `select ${columnList(resource)} from ${resource.from} where ${where}`,
    values,
  );
  const [row] = rows;
  if (!row) throw new DomainError('not_found', `${resource.kind} ${id} does not exist`);
  return toObject(resource, row);
}

/**
 * Locks a row until the end of the transaction, so that changes and deletions run one at a time.
 * @param strength `no key update` still allows other transactions to add references to the row.
 */
export async function lockResource(
  transaction: Transaction,
  resource: Resource,
  caller: Caller,
  id: number,
  strength: 'no key update' | 'update',
): Promise<void> {
  await transaction.query(`select from ${resource.table} where id = $1 and account_id = $2 for ${strength}`, [
    id,
    caller.accountId,
  ]);
}

/**
 * Inserts a resource and announces it as an event.
 * @returns its id.
 * @throws {Error} when the insert returns no row.
 */
export async function insertResource(
  transaction: Transaction,
  resource: Resource,
  accountId: number,
  members: Readonly<Record<string, unknown>>,
): Promise<number> {
  const entries = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  const columns = ['account_id', ...entries.map(([name]) => getField(resource, name).column)];
  const values = [accountId, ...entries.map(([name, value]) => toColumn(getField(resource, name), value))];
  const { rows } = await transaction.query<{ id: number }>(
    `insert into ${resource.table} (${columns.join(', ')})
     values (${columns.map((_, index) => `$${index + 1}`).join(', ')}) returning id`,
    values,
  );
  const id = rows[0]?.id;
  if (id === undefined) throw new Error(`the ${resource.kind} was not inserted: the database returned no id`);
  await announce(transaction, resource, 'Created', accountId, [id]);
  return id;
}

/**
 * Changes the given members and announces the change as an event. Before the call, check that the resource exists and
 * is visible. Undefined members keep their value; null clears a member.
 */
export async function updateResource(
  transaction: Transaction,
  resource: Resource,
  accountId: number,
  id: number,
  members: Readonly<Record<string, unknown>>,
): Promise<void> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return;
  const values: unknown[] = [id, accountId];
  const assignments = entries.map(([name, value]) => {
    const field = getField(resource, name);
    // A cleared member takes the default of its column, which is null for nullable columns.
    return `${field.column} = ${value === null ? 'default' : `$${values.push(toColumn(field, value))}`}`;
  });
  const mayMove = Object.keys(resource.parents).some((name) => members[name] !== undefined);
  const former = mayMove ? await readParents(transaction, resource, id) : {};
  await transaction.query(
    `update ${resource.table} set ${assignments.join(', ')} where id = $1 and account_id = $2`,
    values,
  );
  const current = mayMove ? await readParents(transaction, resource, id) : {};
  await announce(transaction, resource, 'Updated', accountId, [id], planFormer(former, current));
}

/** Deletes the given rows and announces each deletion. The caller ensures that no other row references these rows. */
export async function deleteResources(
  transaction: Transaction,
  resource: Resource,
  accountId: number,
  ids: readonly number[],
): Promise<void> {
  await announce(transaction, resource, 'Deleted', accountId, ids);
  await transaction.query(`delete from ${resource.table} where id = any($1::int[]) and account_id = $2`, [
    ids,
    accountId,
  ]);
}

type ResourceEvent = `${Resource['kind']}${'Created' | 'Updated' | 'Deleted'}`;

declare module '../platform/database/outbox.ts' {
  interface OutboxEvents extends Record<ResourceEvent, Readonly<Record<string, unknown>>> {}
}

/**
 * Appends one event per row, with the row's name and parents. Call announce before a deletion, because announce reads
 * the rows.
 * @param former parents of a moved row before the move; the event contains them too. With `former`, `ids` must have
 *   only one id.
 */
export async function announce(
  transaction: Transaction,
  resource: Resource,
  what: 'Created' | 'Updated' | 'Deleted',
  accountId: number,
  ids: readonly number[],
  former: Parents = {},
): Promise<void> {
  const type: ResourceEvent = `${resource.kind}${what}`;
  await transaction.query(
    `insert into outbox_event (account_id, type, payload)
     select $1, $2, ${parentsObject(resource, { id: `${resource.table}.id`, name: `${resource.table}.name` })} || $4::jsonb
     from ${resource.from} where ${resource.table}.id = any($3::int[]) and ${resource.table}.account_id = $1
     order by ${resource.table}.id`,
    [accountId, type, ids, JSON.stringify(former)],
  );
}

type Parents = Readonly<Record<string, number>>;

async function readParents(transaction: Transaction, resource: Resource, id: number): Promise<Parents> {
  const { rows } = await transaction.query<{ parents: Parents }>(
    `select ${parentsObject(resource)} as parents from ${resource.from} where ${resource.table}.id = $1`,
    [id],
  );
  return rows[0]?.parents ?? {};
}

/** Returns the former id of each parent that has changed; the former `siteId` gets the name `formerSiteId`. */
function planFormer(former: Parents, current: Parents): Parents {
  const moved = Object.entries(former).filter(([name, value]) => current[name] !== value);
  return Object.fromEntries(
    moved.map(([name, value]) => [`former${name.charAt(0).toUpperCase()}${name.slice(1)}`, value]),
  );
}

function parentsObject(resource: Resource, more: Readonly<Record<string, string>> = {}): string {
  const members = Object.entries({ ...more, ...resource.parents }).map(
    ([name, expression]) => `'${name}', ${expression}`,
  );
  return `jsonb_build_object(${members.join(', ')})`;
}

/** Returns the SQL conditions for rows that the caller may see (R-B9), and appends their parameters to `values`. */
function visibility(resource: Resource, caller: Caller, values: unknown[]): string[] {
  const conditions = [`${resource.table}.account_id = $${values.push(caller.accountId)}`];
  const { siteIds, sourceIds, shownSiteIds } = readReach(caller);
  if (siteIds === null) return conditions;
  const sourceId = SOURCE_IDS[resource.kind];
  if (sourceId === undefined) {
    return [...conditions, `${resource.siteId} = any($${values.push(shownSiteIds)}::int[])`];
  }
  const [ofSites, ofSources] = [`$${values.push(siteIds)}`, `$${values.push(sourceIds)}`];
  return [...conditions, isReached(resource.siteId, sourceId, ofSites, ofSources)];
}

/** SQL expression of the source id of a row, by kind of resource; undefined for sites, which have no source. */
const SOURCE_IDS: Readonly<Record<Resource['kind'], string | undefined>> = {
  Site: undefined,
  Source: 'source.id',
  Variable: 'variable.source_id',
};

/** @param members members to select besides the id. Default: all. */
function columnList(resource: Resource, members?: readonly string[]): string {
  const isWanted = ([name]: readonly [string, unknown]) => members === undefined || members.includes(name);
  const fields = Object.entries(resource.fields)
    .filter(isWanted)
    .map(([name, { column }]) => `${resource.table}.${column} as "${name}"`);
  const derived = Object.entries(resource.derived)
    .filter(isWanted)
    .map(([name, expression]) => `${expression} as "${name}"`);
  return [`${resource.table}.id`, ...fields, ...derived].join(', ');
}

/**
 * @param names names of the members that the object gets, in this order. Default: all columns of `row`.
 */
function toObject(
  { fields }: Resource,
  row: Readonly<Record<string, unknown>>,
  names: readonly string[] = Object.keys(row),
): ResourceObject {
  const object: Record<string, unknown> = {};
  for (const name of names) {
    const members = fields[name]?.members;
    object[name] = members ? nameOf(members, row[name] as number | null) : row[name];
  }
  return object as ResourceObject;
}

function toColumn(field: Field, value: unknown): unknown {
  if (field.isJson) return JSON.stringify(value);
  return field.members ? field.members[value as string] : value;
}

function getField(resource: Resource, name: string): Field {
  const field = resource.fields[name];
  if (!field) throw new Error(`${resource.kind} has no field ${name}`);
  return field;
}
