/**
 * Compares the catalogue entries of a document with the built-in entries and the entries of the account. An entry that
 * does not exist yet gets an id. The conversion of a unit never changes, so a different conversion for an existing
 * unit is a problem.
 */
import type { Transaction } from '../../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../../platform/errors.ts';
import { AGGREGATE, nameOf } from '../../../catalogue/enumerations.ts';
import { BUILT_IN_TYPES } from '../../../catalogue/list-types.ts';
import { MAX_ENTRIES } from '../../../catalogue/own-entries.ts';
import { isOffered } from '../../../catalogue/units.ts';
import type { CatalogueName, EntryRow } from '../../document/entry-rows.ts';
import type { ApplyRef } from '../apply-context.ts';
import type { ImportRef } from '../plan-import.ts';
import { storeProblems } from '../stage-rows.ts';

interface StagedEntry {
  readonly ordinal: number;
  readonly place: string;
  readonly members: EntryRow;
  /** Name in lower case as the unique index computes it. `toLowerCase` of JavaScript differs for a few letters. */
  readonly lowerName: string;
  readonly lowerFamily: string | null;
}

/** A catalogue entry that is built in, that the account already has, or that the import creates. */
interface KnownEntry extends Omit<EntryRow, 'unitFamily'> {
  readonly id: number;
  readonly isOwn: boolean;
  readonly familyId?: number | null;
  /** Path of the row that creates the entry; undefined when the entry is built in, or the account already has it. */
  readonly place?: string;
}
type StoredEntry = KnownEntry & { readonly lowerName: string; readonly aggregate: number | null };

interface Planned {
  readonly ordinal: number;
  readonly action: 'Created' | 'Changed' | 'Left';
  readonly id: number;
  /**
   * Members to add to the staged row, because the document does not contain them. For a new entry: `familyId`, the id
   * of its unit family or null.
   */
  readonly more: Readonly<Record<string, unknown>>;
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>> | null;
}

const KNOWN = `
  select 'UnitFamily' as catalogue, id, name, lower(name) as "lowerName", account_id is not null as "isOwn", null as symbol, null::int as "familyId",
         null::float8 as divisor, null::float8 as "offset", null::int as aggregate
  from unit_family where ${isOffered('unit_family', '$1')}
  union all
  select 'Unit', id, name, lower(name), account_id is not null, symbol, unit_family_id, divisor, zero_offset, null
  from unit where ${isOffered('unit', '$1')}
  union all
  select catalogue, id, name, lower(name), true, null, null, null, null, aggregate from catalogue_entry where account_id = $1`;

const keyOf = (catalogue: CatalogueName, lowerName: string) => `${catalogue} ${lowerName}`;

/**
 * Decides for each row of the list `catalogues` whether its entry is created, changed or left unchanged.
 * @returns the number of problems found.
 */
export async function planEntries(
  transaction: Transaction,
  { id, accountId }: ImportRef,
  pathOf: ApplyRef['pathOf'],
): Promise<number> {
  const { rows } = await transaction.query<StagedEntry>(
    `select ordinal, place, members, lower(members ->> 'name') as "lowerName", lower(members ->> 'unitFamily') as "lowerFamily" from structure_import_row where import_id = $1 and kind = 'catalogues' order by ordinal`,
    [id],
  );
  if (rows.length === 0) return 0;
  const known = await readKnown(transaction, accountId);
  const isFamily = ({ members }: StagedEntry) => members.catalogue === 'UnitFamily';
  const ordered = [...rows.filter(isFamily), ...rows.filter((row) => !isFamily(row))];
  const missing = ordered.filter(({ members, lowerName }) => !known.has(keyOf(members.catalogue, lowerName)));
  const ids = await takeIds(transaction, missing.length);
  const problems: ErrorDetail[] = [];
  const planned = ordered.flatMap((row) => {
    const plan = planEntry(row, known, ids);
    if (!('message' in plan)) return [plan];
    problems.push({ path: pathOf(row.place, plan.member), message: plan.message });
    return [];
  });
  await storePlans(transaction, id, planned);
  await storeProblems(transaction, id, problems);
  return problems.length;
}

type Fault = { readonly member: string; readonly message: string };

/**
 * Plans one row. A new entry gets the first id of `ids` and is added to `known`.
 * @param known entries by key.
 * @param ids unused ids.
 */
function planEntry(row: StagedEntry, known: Map<string, KnownEntry>, ids: number[]): Planned | Fault {
  const { catalogue, name, unitFamily } = row.members;
  const key = keyOf(catalogue, row.lowerName);
  const family = row.lowerFamily === null ? undefined : known.get(keyOf('UnitFamily', row.lowerFamily));
  if (unitFamily !== undefined && !family) {
    const rule =
      'must be the name of a built-in unit family, or of a unit family that the account or the document adds';
    return { member: 'unitFamily', message: `${rule}, got ${JSON.stringify(unitFamily)}` };
  }
  const found = known.get(key);
  if (found?.place !== undefined)
    return {
      member: 'name',
      message: `must be unique in the catalogue, ignoring letter case; ${found.place} has the same name`,
    };
  if (found) return compareEntry(row, found, family?.id, known);
  if (catalogue === 'Unit' && !family) {
    return { member: 'unitFamily', message: 'is required, because the account does not have the unit yet' };
  }
  const owned = [...known.values()].filter((entry) => entry.isOwn && entry.catalogue === catalogue);
  if (owned.length >= MAX_ENTRIES) {
    return {
      member: 'name',
      message: `an account may have at most ${MAX_ENTRIES} entries of its own in each catalogue`,
    };
  }
  const id = ids.shift();
  if (id === undefined) throw new Error('no id was reserved for a new catalogue entry');
  known.set(key, { catalogue, name, id, isOwn: true, place: row.place });
  return { ordinal: row.ordinal, action: 'Created', id, more: { familyId: family?.id ?? null }, changes: null };
}

/**
 * Compares a row with an existing entry. Only an entry of the account can change, and only in its symbol and its usual
 * aggregate.
 */
function compareEntry(
  { ordinal, members }: StagedEntry,
  found: KnownEntry,
  familyId: number | undefined,
  known: ReadonlyMap<string, KnownEntry>,
): Planned | Fault {
  const isOther = (given: unknown, stored: unknown) => given !== undefined && given !== stored;
  const fixed = (['unitFamily', 'divisor', 'offset'] as const).find((member) =>
    member === 'unitFamily' ? isOther(familyId, found.familyId) : isOther(members[member], found[member]),
  );
  if (fixed !== undefined) {
    const isFamily = ({ catalogue, id }: KnownEntry) => catalogue === 'UnitFamily' && id === found.familyId;
    const stored = fixed === 'unitFamily' ? [...known.values()].find(isFamily)?.name : found[fixed];
    const rule = `must be ${JSON.stringify(stored)} as in the existing unit, got ${JSON.stringify(members[fixed])}`;
    const advice =
      'the conversion of an existing unit cannot be changed; for another conversion, add a unit with another name';
    return { member: fixed, message: `${rule}; ${advice}` };
  }
  const changed = (['symbol', 'aggregate'] as const).filter((member) => isOther(members[member], found[member]));
  if (!found.isOwn || changed.length === 0) return { ordinal, action: 'Left', id: found.id, more: {}, changes: null };
  const changes = Object.fromEntries(changed.map((member) => [member, { from: found[member], to: members[member] }]));
  return { ordinal, action: 'Changed', id: found.id, more: {}, changes };
}

/** @returns a map from key to entry; an entry of the account replaces a built-in entry with the same key. */
async function readKnown(transaction: Transaction, accountId: number): Promise<Map<string, KnownEntry>> {
  const { rows } = await transaction.query<StoredEntry>(KNOWN, [accountId]);
  const builtIn = Object.entries(BUILT_IN_TYPES).flatMap(([catalogue, entries]) =>
    entries.map(({ id, name }): readonly [string, KnownEntry] => {
      const known = { catalogue: catalogue as CatalogueName, id, name, isOwn: false };
      return [keyOf(known.catalogue, name.toLowerCase()), known];
    }),
  );
  const stored = rows
    .toSorted((a, b) => Number(a.isOwn) - Number(b.isOwn))
    .map(({ lowerName, aggregate, ...row }): readonly [string, KnownEntry] => {
      const usual = nameOf(AGGREGATE, aggregate);
      return [keyOf(row.catalogue, lowerName), { ...row, ...(usual !== null && { aggregate: usual }) }];
    });
  return new Map([...builtIn, ...stored]);
}

async function takeIds(transaction: Transaction, count: number): Promise<number[]> {
  const { rows } = await transaction.query<{ id: number }>(
    `select nextval('own_entry_id')::int as id from generate_series(1, $1::int)`,
    [count],
  );
  return rows.map(({ id }) => id);
}

async function storePlans(transaction: Transaction, importId: string, planned: readonly Planned[]): Promise<void> {
  await transaction.query(
    `update structure_import_row r set action = p.action, target_id = p.id, members = r.members || p.more, changes = p.changes
     from unnest($2::int[], $3::text[], $4::int[], $5::jsonb[], $6::jsonb[]) p (ordinal, action, id, more, changes)
     where r.import_id = $1 and r.kind = 'catalogues' and r.ordinal = p.ordinal`,
    [
      importId,
      planned.map(({ ordinal }) => ordinal),
      planned.map(({ action }) => action),
      planned.map(({ id }) => id),
      planned.map(({ more }) => JSON.stringify(more)),
      planned.map(({ changes }) => changes && JSON.stringify(changes)),
    ],
  );
}
