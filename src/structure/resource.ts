/**
 * What sites, sources and variables have in common: a table whose columns are fields of the interface, belonging to an
 * account and a site. Reading, creating and changing them is set-based SQL over an allow-list of columns. What GET
 * returns is accepted by POST and PUT: unknown and read-only members are ignored, and members that are absent from a
 * PUT keep their value, so that a client which knows fewer fields loses nothing; null clears.
 */
import type { z } from 'zod';
import type { Caller } from '../identity/caller/caller.ts';
import { isReached, readReach } from '../identity/caller/site-reach.ts';
import type { Queryable, Transaction } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { applyOperations, parseOperations, withMemberNames } from '../platform/http/json-patch.ts';
import { lenientObject, parseInput } from '../platform/http/lenient.ts';
import type { Paging } from '../platform/http/paging.ts';
import { nameOf } from './catalogue/enumerations.ts';

export interface Field {
  readonly column: string;
  /** Of a written value; accepts null where the column does. */
  readonly schema: z.ZodType;
  /** An enumeration: stored as number, written as name. */
  readonly members?: Readonly<Record<string, number>>;
  /** Stored as JSON. */
  readonly isJson?: true;
  /** How a customFilter compares it; absent where it cannot. */
  readonly filterType?: 'text' | 'number' | 'boolean' | 'texts';
}

export interface Resource {
  readonly kind: 'Site' | 'Source' | 'Variable';
  readonly table: 'site' | 'source' | 'variable';
  /** Everything after `from`; the table's own columns are qualified by its name. */
  readonly from: string;
  /** The SQL expression of the site a row belongs to: what site access is checked against. */
  readonly siteId: string;
  /** What events tell of a row besides `id` and `name`: where it belongs, by SQL expression. */
  readonly place: Readonly<Record<string, string>>;
  /** Members a client may write. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Members that are only read: name → SQL expression. */
  readonly derived: Readonly<Record<string, string>>;
  /** Names a new one must have. */
  readonly required: readonly string[];
}

export type ResourceObject = Readonly<Record<string, unknown>> & {
  readonly id: number;
};

/** Restricts a listing to ids: the condition around an `int[]` parameter, and the ids. */
export interface Filter {
  readonly condition: (parameter: string) => string;
  readonly ids: readonly number[];
}

/** A further condition; pushes its parameters. */
export type CustomCondition = (values: unknown[]) => string;

interface Page {
  readonly items: readonly ResourceObject[];
  readonly totalCount: number;
}

/** Lists what the caller may see, in id order. An empty list of ids is no filter. */
export async function listResources(
  queryable: Queryable,
  resource: Resource,
  caller: Caller,
  filters: readonly Filter[],
  paging: Paging,
  custom?: CustomCondition,
): Promise<Page> {
  const values: unknown[] = [];
  const conditions = visibility(resource, caller, values);
  for (const { condition, ids } of filters) {
    if (ids.length > 0) conditions.push(condition(`$${values.push(ids)}::int[]`));
  }
  if (custom) conditions.push(custom(values));
  const where = conditions.join(' and ');
  const total = await queryable.query<{ count: number }>(
    `select count(*) as count from ${resource.from} where ${where}`,
    values,
  );
  const limit = paging.limit === undefined ? '' : ` limit $${values.push(paging.limit)}`;
  const { rows } = await queryable.query<Record<string, unknown>>(
    `select ${columnList(resource)} from ${resource.from} where ${where}
     order by ${resource.table}.id${limit} offset $${values.push(paging.offset)}`,
    values,
  );
  return {
    items: rows.map((row) => toObject(resource, row)),
    totalCount: total.rows[0]?.count ?? 0,
  };
}

/** @throws DomainError not_found, also for what belongs to another account or to a site the caller may not see. */
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

/** Reads a body for a new one. @throws DomainError invalid_input. */
export function parseNew(resource: Resource, body: unknown): Record<string, unknown> {
  return parseInput(writableSchema(resource, resource.required), body);
}

/** Reads a body that changes some members. @throws DomainError invalid_input. */
export function parseChange(resource: Resource, body: unknown): Record<string, unknown> {
  return parseInput(writableSchema(resource, []), body);
}

/**
 * Applies a JSON Patch (RFC 6902), all or nothing, to the members of `current`.
 * @returns every writable member as it shall be.
 * @throws DomainError conflict when a `test` fails, invalid_input for anything else.
 */
export function parsePatch(resource: Resource, current: ResourceObject, body: unknown): Record<string, unknown> {
  const operations = withMemberNames(parseOperations(body), Object.keys(resource.fields));
  const patched = applyOperations(current, operations);
  // What the patch removed is cleared.
  const whole = Object.fromEntries(Object.keys(resource.fields).map((name) => [name, patched[name] ?? null]));
  return parseInput(writableSchema(resource, Object.keys(resource.fields)), whole);
}

/**
 * Lets one transaction at a time change or delete it.
 * @param strength `no key update` still lets others refer to it.
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

/** Inserts one and announces it. @returns its id. */
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
  if (id === undefined) throw new Error(`${resource.kind} was not inserted`);
  await announce(transaction, resource, 'Created', accountId, [id]);
  return id;
}

/** Changes the given members of one whose existence and visibility the caller has checked, and announces it. */
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
    // A cleared member takes the default of its column, which is null unless the column may not be.
    return `${field.column} = ${value === null ? 'default' : `$${values.push(toColumn(field, value))}`}`;
  });
  const isMovable = Object.keys(resource.place).some((name) => members[name] !== undefined);
  const former = isMovable ? await readPlace(transaction, resource, id) : {};
  await transaction.query(
    `update ${resource.table} set ${assignments.join(', ')} where id = $1 and account_id = $2`,
    values,
  );
  const current = isMovable ? await readPlace(transaction, resource, id) : {};
  await announce(transaction, resource, 'Updated', accountId, [id], planFormer(former, current));
}

/** Deletes rows that nothing refers to any more, and announces each, as it was. */
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

function writableSchema(resource: Resource, required: readonly string[]) {
  return lenientObject(writableShape(resource, required));
}

/** The members of a body; those that are not required may be left out. */
export function writableShape(resource: Resource, required: readonly string[]): Readonly<Record<string, z.ZodType>> {
  const shape = Object.entries(resource.fields).map(([name, { schema }]) => {
    return [name, required.includes(name) ? schema : schema.optional()] as const;
  });
  return Object.fromEntries(shape);
}

/**
 * Writes the events with what they tell: a webhook may be for one site alone, and what was deleted, or moved, can no longer
 * be asked where it belonged.
 * @param former what is told besides: where the only row belonged before.
 */
async function announce(
  transaction: Transaction,
  resource: Resource,
  what: 'Created' | 'Updated' | 'Deleted',
  accountId: number,
  ids: readonly number[],
  former: Place = {},
): Promise<void> {
  const type = `${resource.kind}${what}`;
  await transaction.query(
    `insert into outbox_event (account_id, type, payload)
     select $1, $2, ${placeObject(resource, { id: `${resource.table}.id`, name: `${resource.table}.name` })} || $4::jsonb
     from ${resource.from} where ${resource.table}.id = any($3::int[]) and ${resource.table}.account_id = $1
     order by ${resource.table}.id`,
    [accountId, type, ids, JSON.stringify(former)],
  );
}

type Place = Readonly<Record<string, number>>;

async function readPlace(transaction: Transaction, resource: Resource, id: number): Promise<Place> {
  const { rows } = await transaction.query<{ place: Place }>(
    `select ${placeObject(resource)} as place from ${resource.from} where ${resource.table}.id = $1`,
    [id],
  );
  return rows[0]?.place ?? {};
}

/** What has changed of a place, as it was: `formerSiteId` for `siteId`. */
function planFormer(former: Place, current: Place): Place {
  const moved = Object.entries(former).filter(([name, value]) => current[name] !== value);
  return Object.fromEntries(
    moved.map(([name, value]) => [`former${name.charAt(0).toUpperCase()}${name.slice(1)}`, value]),
  );
}

function placeObject(resource: Resource, more: Readonly<Record<string, string>> = {}): string {
  const members = Object.entries({ ...more, ...resource.place }).map(
    ([name, expression]) => `'${name}', ${expression}`,
  );
  return `jsonb_build_object(${members.join(', ')})`;
}

/** Conditions for what the caller may see (R-B9); pushes their parameters. */
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

/** Expressions of the source a row belongs to. */
const SOURCE_IDS: Readonly<Record<Resource['kind'], string | undefined>> = {
  Site: undefined,
  Source: 'source.id',
  Variable: 'variable.source_id',
};

function columnList(resource: Resource): string {
  const fields = Object.entries(resource.fields).map(
    ([name, { column }]) => `${resource.table}.${column} as "${name}"`,
  );
  const derived = Object.entries(resource.derived).map(([name, expression]) => `${expression} as "${name}"`);
  return [`${resource.table}.id`, ...fields, ...derived].join(', ');
}

function toObject(resource: Resource, row: Readonly<Record<string, unknown>>): ResourceObject {
  const members = Object.entries(row).map(([name, value]) => {
    const names = resource.fields[name]?.members;
    return [name, names ? nameOf(names, value as number | null) : value];
  });
  return Object.fromEntries(members) as ResourceObject;
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
