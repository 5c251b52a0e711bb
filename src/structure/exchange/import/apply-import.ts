/**
 * Writes a planned import in the caller's transaction. A what-if import is written too, because the plan cannot find
 * all problems. The caller then rolls the transaction back.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Transaction } from '../../../platform/database/database.ts';
import { DomainError, type ErrorDetail } from '../../../platform/errors.ts';
import { announce } from '../../resource.ts';
import { isOfAccount, KIND_NAMES, KINDS, type Kind } from '../document/kinds.ts';
import { NEW_COLUMNS } from '../document/parse-row.ts';
import type { ApplyRef, ApplyServices } from './apply-context.ts';
import { checkRowValues } from './check-row-values.ts';
import { writeForms } from './definitions/import-forms.ts';
import { writeEntries } from './definitions/write-entries.ts';
import { HAS_DECLARATION, saveRowDeclarations } from './save-row-declarations.ts';

/** The account's structure changed after the import was planned. The importer then plans the import again. */
export class StalePlan extends Error {
  override readonly name = 'StalePlan';
}

const GRAPH_WAIT_MS = 20_000;
const GRAPH_PAUSE_MS = 100;
const IDS_PER_EVENT = 10_000;

/**
 * Writes the planned rows.
 * @returns at most 1,000 problems of form values or of declarations. If there are problems, the caller must roll the
 *   transaction back.
 * @throws {StalePlan} when a resource or form to be changed has been deleted since the import was planned.
 */
export async function applyImport(
  services: ApplyServices,
  transaction: Transaction,
  applied: ApplyRef,
): Promise<readonly ErrorDetail[]> {
  const { accountId } = applied.caller;
  await writeEntries(transaction, applied.id, accountId);
  // Writes forms before it checks form values, because a value may belong to a form that the same document defines.
  const deleted = await writeForms(transaction, applied.id, accountId);
  if (deleted > 0)
    throw new StalePlan(
      `other requests deleted forms that the import would change; number of deleted forms: ${deleted}`,
    );
  const broken = await checkRowValues(transaction, applied);
  if (broken.length > 0) return broken;
  for (const name of KIND_NAMES) await writeRows(transaction, KINDS[name], applied);
  const { rows } = await transaction.query(
    `select from structure_import_row r where import_id = $1 and ${HAS_DECLARATION} limit 1`,
    [applied.id],
  );
  const changedIds =
    rows.length > 0 ? await writeDeclarations(services, transaction, applied) : { problems: [], ids: [] };
  if (changedIds.problems.length > 0) return changedIds.problems;
  for (const name of KIND_NAMES) {
    await announceRows(transaction, KINDS[name], applied, name === 'variables' ? changedIds.ids : []);
  }
  return [];
}

async function writeRows(transaction: Transaction, kind: Kind, { id, caller }: ApplyRef): Promise<void> {
  const { name, resource, fields } = kind;
  const { table } = resource;
  const columns = fields.flatMap((field) => resource.fields[field]?.column ?? []);
  const counted = async (text: string, values: readonly unknown[]) => {
    const { rowCount } = await transaction.query(text, [...values]);
    return rowCount ?? 0;
  };
  const planned = await countPlanned(transaction, id, name);
  const changed = `structure_import_row r join ${table} t on t.id = r.target_id and ${isOfAccount('t', '$2')}
    where r.import_id = $1 and r.kind = '${name}' and r.action = 'Changed' and r.changes - 'calculated' <> '{}'`;
  // Locks the rows before the update: the update also writes the columns that the import does not change, and without
  // the lock it would undo concurrent changes of these columns.
  const locked = await counted(`select from ${changed} order by t.id for no key update of t`, [id, caller.accountId]);
  if (locked !== planned.changed)
    throw new StalePlan(
      `other requests deleted ${name} that the import would change; number of deleted ${name}: ${planned.changed - locked}`,
    );
  // Updates rows first: a source's old default variable must be changed before a new default variable can be inserted.
  await counted(
    `update ${table} set ${columns.map((column) => `${column} = given.${column}`).join(', ')}
     from (select p.* from (select t, r.members from ${changed}) found
           cross join lateral jsonb_populate_record(found.t, found.members) p) given
     where ${table}.id = given.id`,
    [id, caller.accountId],
  );
  const parent = PARENT_COLUMN[name];
  await counted(
    `insert into ${table} (id, account_id, ${[...parent, ...columns].join(', ')})
     select r.target_id, $2, ${[...parent.map((column) => `r.${column}`), ...columns.map((column) => `p.${column}`)].join(', ')}
     from structure_import_row r cross join lateral jsonb_populate_record(null::${table}, ${DEFAULTS[name]} || r.members) p
     where r.import_id = $1 and r.kind = '${name}' and r.action = 'Created' order by r.ordinal`,
    [id, caller.accountId, JSON.stringify(NEW_COLUMNS[name])],
  );
}

const PARENT_COLUMN = { sites: [], sources: ['site_id'], variables: ['source_id'] } as const;

/** SQL for a JSON object that maps columns to the default values of a new resource. */
const DEFAULTS = {
  sites: `$3::jsonb || jsonb_build_object('time_zone_id', (select time_zone_id from account where id = $2))`,
  sources: '$3::jsonb',
  variables: '$3::jsonb',
} as const;

async function countPlanned(transaction: Transaction, id: string, name: string): Promise<{ readonly changed: number }> {
  const { rows } = await transaction.query<{ changed: number }>(
    `select count(*) as changed from structure_import_row
     where import_id = $1 and kind = $2 and action = 'Changed' and changes - 'calculated' <> '{}'`,
    [id, name],
  );
  return rows[0] ?? { changed: 0 };
}

async function writeDeclarations(services: ApplyServices, transaction: Transaction, applied: ApplyRef) {
  const { declarations } = services;
  const { accountId } = applied.caller;
  await waitForGraph(() => declarations.lockGraph(transaction, accountId));
  const saved = await saveRowDeclarations(services, transaction, applied);
  if (saved.problems.length > 0) return saved;
  const cycle = saved.ids.length > 0 ? await declarations.findCycle(transaction, accountId) : undefined;
  if (!cycle) return saved;
  return { ids: [], problems: [await describeCycle(transaction, applied, cycle)] };
}

/**
 * Calls `lock`. When the call fails because the calculation graph is busy, repeats it until it succeeds or about
 * `GRAPH_WAIT_MS` have passed.
 */
async function waitForGraph(lock: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + GRAPH_WAIT_MS;
  for (;;) {
    try {
      return await lock();
    } catch (error) {
      const isBusy = error instanceof DomainError && error.code === 'dependency_unavailable';
      if (!isBusy || performance.now() > deadline) throw error;
    }
    await pause(GRAPH_PAUSE_MS);
  }
}

/** Maximum number of variables that the message about a cycle names. */
const MAX_NAMED = 20;

/** Describes a cycle. Names a variable by its row in the document or, if it has no row there, by its id. */
async function describeCycle(
  transaction: Transaction,
  { id, pathOf }: ApplyRef,
  cycle: readonly number[],
): Promise<ErrorDetail> {
  const { rows } = await transaction.query<{ target: number; place: string }>(
    `select target_id as target, place from structure_import_row
     where import_id = $1 and kind = 'variables' and target_id = any($2::int[])`,
    [id, cycle],
  );
  const places = new Map(rows.map(({ target, place }) => [target, place]));
  const shown = cycle.slice(0, MAX_NAMED).map((variableId) => places.get(variableId) ?? `variable ${variableId}`);
  if (cycle.length > MAX_NAMED) shown.push(`(${cycle.length - MAX_NAMED} more)`);
  const place = places.get(cycle.find((variableId) => places.has(variableId)) ?? 0) ?? '$';
  return { path: pathOf(place, 'calculated'), message: `would form a cycle: ${shown.join(' -> ')}` };
}

/**
 * Announces each created or changed resource once. The events have the same types as the events of a request that
 * creates or changes one resource.
 * @param alsoChanged ids of variables whose declarations the import wrote.
 */
async function announceRows(
  transaction: Transaction,
  { name, resource }: Kind,
  { id, caller }: ApplyRef,
  alsoChanged: readonly number[],
): Promise<void> {
  for (const what of ['Created', 'Changed'] as const) {
    const { rows } = await transaction.query<{ ids: readonly number[] | null }>(
      `select array_agg(target_id order by ordinal) as ids from structure_import_row
       where import_id = $1 and kind = $2 and action = $3`,
      [id, name, what],
    );
    const known = rows[0]?.ids ?? [];
    const created = what === 'Changed' ? await createdAmong(transaction, id, alsoChanged) : new Set<number>();
    const ids =
      what === 'Created' ? known : [...new Set([...known, ...alsoChanged.filter((one) => !created.has(one))])];
    const event = what === 'Created' ? 'Created' : 'Updated';
    for (let start = 0; start < ids.length; start += IDS_PER_EVENT) {
      await announce(transaction, resource, event, caller.accountId, ids.slice(start, start + IDS_PER_EVENT));
    }
  }
}

/**
 * @returns those variables of `ids` that the import created. `announceRows` announces these variables only as created,
 * and not also as changed.
 */
async function createdAmong(
  transaction: Transaction,
  id: string,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await transaction.query<{ id: number }>(
    `select target_id as id from structure_import_row
     where import_id = $1 and kind = 'variables' and action = 'Created' and target_id = any($2::int[])`,
    [id, ids],
  );
  return new Set(rows.map((row) => row.id));
}
