/**
 * Writes the entries that an account adds to the catalogues (R-C8). Built-in entries and entries of other accounts are
 * never changed.
 */
import { z } from 'zod';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { invalidInput, lenientObject, parseInput } from '../../platform/http/lenient.ts';
import { FIRST_OWN_ID, type OwnCatalogue } from './own-catalogues.ts';
import { isOffered } from './units.ts';

/** The JSON object that clients receive for an entry that an account added to a catalogue. */
export type OwnEntry = Readonly<Record<string, unknown>> & { readonly id: number; readonly name: string };

/** Maximum number of entries that an account may add to one catalogue. */
export const MAX_ENTRIES = 1000;
const MAX_NAMED_USES = 5;
const UNIQUE_VIOLATION = '23505';

/**
 * @param isNew when true, every member that has no fallback is required.
 * @returns the schema of an entry to be written.
 */
export function entrySchema({ members }: OwnCatalogue, isNew: boolean) {
  const shape = Object.entries(members).map(([name, { schema, fallback }]): [string, z.ZodType] => {
    if (isNew && fallback === undefined) return [name, schema];
    return [name, z.preprocess((value) => value ?? undefined, schema.optional())];
  });
  return lenientObject(Object.fromEntries(shape));
}

/** Adds an entry. @throws {DomainError} invalid_input; conflict when the name is taken or the catalogue is full. */
export async function addEntry(
  transaction: Transaction,
  accountId: number,
  catalogue: OwnCatalogue,
  body: unknown,
): Promise<OwnEntry> {
  const given = parseInput(entrySchema(catalogue, true), body);
  const members = Object.entries(catalogue.members).map(([name, member]) => {
    const value = given[name] ?? member.fallback;
    return { name, member, value };
  });
  await assertFamily(transaction, accountId, given.unitFamilyId);
  await assertRoom(transaction, accountId, catalogue);
  await assertNotBuiltIn(transaction, catalogue, String(given.name));
  const columns = ['id', 'account_id', ...(catalogue.catalogue ? ['catalogue'] : [])];
  const fixed = [accountId, ...(catalogue.catalogue ? [catalogue.catalogue] : [])];
  const values = [...fixed, ...members.map(({ member, value }) => toStored(member.stored, value))];
  const { rows } = await refuseTaken(catalogue, given.name, () =>
    transaction.query<{ id: number }>(
      `insert into ${catalogue.table} (${[...columns, ...members.map(({ member }) => member.column)].join(', ')})
       values (nextval('own_entry_id'), ${values.map((_, index) => `$${index + 1}`).join(', ')}) returning id`,
      values,
    ),
  );
  const shown = Object.fromEntries(members.map(({ name, value }) => [name, value]));
  return { id: rows[0]?.id as number, ...shown } as OwnEntry;
}

/**
 * Changes an entry; absent members keep their value.
 * @throws {DomainError} not_found; invalid_input; conflict for a built-in entry, a taken name, or a change of a fixed
 * member.
 */
export async function changeEntry(
  transaction: Transaction,
  accountId: number,
  catalogue: OwnCatalogue,
  id: number,
  body: unknown,
): Promise<OwnEntry> {
  const stored = await getOwn(transaction, accountId, catalogue, id);
  const given = parseInput(entrySchema(catalogue, false), body);
  const changes = Object.entries(catalogue.members).flatMap(([name, member]) => {
    const value = given[name];
    if (value === undefined || toStored(member.stored, value) === stored[name]) return [];
    if (member.isFixed) {
      const rule = `${name} of a ${catalogue.label} cannot change, because it decides how stored values are converted`;
      const message = `${rule}; add a new ${catalogue.label} instead`;
      throw new DomainError('conflict', message, [{ path: `$.${name}`, message }]);
    }
    return [{ column: member.column, value: toStored(member.stored, value) }];
  });
  if (changes.length === 0) return stored;
  if (given.name !== undefined) await assertNotBuiltIn(transaction, catalogue, String(given.name));
  const assignments = changes.map(({ column }, index) => `${column} = $${index + 2}`).join(', ');
  await refuseTaken(catalogue, given.name, () =>
    transaction.query(`update ${catalogue.table} set ${assignments} where id = $1`, [
      id,
      ...changes.map(({ value }) => value),
    ]),
  );
  return { ...stored, ...(typeof given.name === 'string' && { name: given.name }) };
}

/**
 * Deletes an entry.
 * @throws {DomainError} not_found; conflict for a built-in entry; conflict for an entry in use, with a message that
 * names the uses.
 */
export async function deleteEntry(
  transaction: Transaction,
  accountId: number,
  catalogue: OwnCatalogue,
  id: number,
): Promise<OwnEntry> {
  const stored = await getOwn(transaction, accountId, catalogue, id);
  const { rows } = await transaction.query<{ kind: string; id: string }>(
    `select kind, id from (${catalogue.uses}) used order by kind desc, length(id), id limit ${MAX_NAMED_USES + 1}`,
    [accountId, id],
  );
  if (rows.length > 0) {
    const named = rows.slice(0, MAX_NAMED_USES).map((use) => `${use.kind} ${use.id}`);
    const more = rows.length > MAX_NAMED_USES ? ' and others' : '';
    throw new DomainError(
      'conflict',
      `${catalogue.label} ${id} is used by ${named.join(', ')}${more}; remove every use first`,
    );
  }
  await transaction.query(`delete from ${catalogue.table} where id = $1 and account_id = $2`, [id, accountId]);
  return stored;
}

/** Reads an entry of the account and locks it. @throws {DomainError} not_found; conflict for a built-in entry. */
async function getOwn(
  transaction: Transaction,
  accountId: number,
  catalogue: OwnCatalogue,
  id: number,
): Promise<OwnEntry> {
  const { table, members, label, builtIn } = catalogue;
  const columns = Object.entries(members).map(([name, { column }]) => `${column} as "${name}"`);
  const { rows } = await transaction.query<OwnEntry & { readonly accountId: number | null }>(
    `select id, account_id as "accountId", ${columns.join(', ')} from ${table}
     where id = $1 and (account_id is null or account_id = $2) ${catalogue.catalogue ? 'and catalogue = $3' : ''} for update`,
    [id, accountId, ...(catalogue.catalogue ? [catalogue.catalogue] : [])],
  );
  const [row] = rows;
  const isBuiltIn = row ? row.accountId === null : id < FIRST_OWN_ID && builtIn?.some((entry) => entry.id === id);
  if (isBuiltIn) throw new DomainError('conflict', `${label} ${id} is built in and cannot be changed or deleted`);
  if (!row) throw new DomainError('not_found', `${label} ${id} does not exist`);
  const { accountId: _accountId, ...entry } = row;
  return entry as OwnEntry;
}

async function assertFamily(queryable: Queryable, accountId: number, familyId: unknown): Promise<void> {
  if (familyId === undefined) return;
  const { rows } = await queryable.query(
    `select from unit_family where id = $1 and ${isOffered('unit_family', '$2')} for key share`,
    [familyId, accountId],
  );
  if (rows.length > 0) return;
  throw invalidInput([
    { path: '$.unitFamilyId', message: `must be the id of a family that GET /unitFamily lists, got ${familyId}` },
  ]);
}

async function assertRoom(queryable: Queryable, accountId: number, { table, catalogue, label }: OwnCatalogue) {
  const { rows } = await queryable.query<{ count: number }>(
    `select count(*) as count from ${table} where account_id = $1 ${catalogue ? 'and catalogue = $2' : ''}`,
    [accountId, ...(catalogue ? [catalogue] : [])],
  );
  if ((rows[0]?.count ?? 0) < MAX_ENTRIES) return;
  throw new DomainError(
    'conflict',
    `an account may add at most ${MAX_ENTRIES} entries of the kind ${label}; delete one of the added entries first`,
  );
}

/**
 * Refuses the name of a built-in entry, in any letter case. An account's entry and a built-in entry can still have the
 * same name, because a later release may add a built-in entry with a name that an account already uses.
 */
async function assertNotBuiltIn(queryable: Queryable, { table, builtIn, label }: OwnCatalogue, name: string) {
  const isTaken = builtIn
    ? builtIn.some((entry) => entry.name.toLowerCase() === name.toLowerCase())
    : table !== 'catalogue_entry' &&
      (await queryable.query(`select from ${table} where account_id is null and lower(name) = lower($1)`, [name])).rows
        .length > 0;
  if (isTaken) throw taken(label, name);
}

async function refuseTaken<Result>(
  { label }: OwnCatalogue,
  name: unknown,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if ((error as { readonly code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw taken(label, String(name));
  }
}

function taken(label: string, name: string): DomainError {
  const message = `name of the ${label} must be unique, ignoring letter case; ${JSON.stringify(name)} is taken`;
  return new DomainError('conflict', message, [{ path: '$.name', message }]);
}

function toStored(stored: Readonly<Record<string, number>> | undefined, value: unknown): unknown {
  return stored ? stored[value as string] : value;
}
