/**
 * Compares the forms of a document with the account's forms, and writes missing and changed forms. A form is found by
 * its `entityType` and its name. If any group differs, the import replaces all groups of the form, like PUT /form/{id}.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../../platform/errors.ts';
import { type EntityType, FORM_LIMITS } from '../../../forms/form-definition.ts';
import { isEntryName, unknownName } from '../../document/catalogue-members.ts';
import type { DocumentGroup, FormRow } from '../../document/form-rows.ts';
import { pathTo } from '../../document/parse-row.ts';
import type { ApplyRef } from '../apply-context.ts';
import type { ImportRef } from '../plan-import.ts';
import { storeProblems } from '../stage-rows.ts';
import { readPlannedIds } from './resolve-entries.ts';

interface StagedForm {
  readonly ordinal: number;
  readonly place: string;
  readonly members: FormRow;
  /** Name in lower case. PostgreSQL computes it with the expression of the unique index `form_name`. */
  readonly lowerName: string;
}

/** A form that the account has, or that the import creates. */
interface KnownForm {
  readonly entityType: EntityType;
  readonly name: string;
  readonly lowerName: string;
  /** Absent when the import creates the form. */
  readonly id?: number;
  readonly groups?: readonly DocumentGroup[];
  /** Path of the row that names the form; undefined until a row names it. */
  readonly place?: string;
}

interface Planned {
  readonly ordinal: number;
  readonly action: 'Created' | 'Changed' | 'Left';
  readonly id: number | null;
  readonly groups: readonly DocumentGroup[] | undefined;
  readonly changes: { readonly groups: { readonly from: unknown; readonly to: unknown } } | null;
}

type Path = readonly [member: string, ...rest: PropertyKey[]];
type Fault = { readonly path: Path; readonly message: string };

const keyOf = ({ entityType, lowerName }: Pick<KnownForm, 'entityType' | 'lowerName'>) => `${entityType} ${lowerName}`;

/** Plans the rows of `forms`. Plan the rows of `catalogues` first. @returns the number of problems. */
export async function planForms(
  transaction: Transaction,
  imported: ImportRef,
  pathOf: ApplyRef['pathOf'],
): Promise<number> {
  const { rows } = await transaction.query<StagedForm>(
    `select ordinal, place, members, lower(members ->> 'name') as "lowerName" from structure_import_row
     where import_id = $1 and kind = 'forms' order by ordinal`,
    [imported.id],
  );
  if (rows.length === 0) return 0;
  const known = await readKnown(transaction, imported.accountId);
  const units = await readPlannedIds(transaction, imported, 'Unit');
  const problems: ErrorDetail[] = [];
  const planned = rows.flatMap((row) => {
    const { groups, faults } = resolveUnits(row.members.groups ?? undefined, units);
    const plan = planForm(row, groups, known);
    const all = 'message' in plan ? [plan, ...faults] : faults;
    for (const { path, message } of all) {
      problems.push({ path: pathTo(row.place, (member) => pathOf(row.place, member), path), message });
    }
    return 'message' in plan ? [] : [plan];
  });
  await storePlans(transaction, imported.id, planned);
  await storeProblems(transaction, imported.id, problems);
  return problems.length;
}

/** @param known map from key to form; the function adds the form of the row, or sets `place` of an existing form. */
function planForm(row: StagedForm, groups: readonly DocumentGroup[] | undefined, known: Map<string, KnownForm>) {
  const { ordinal, place, lowerName, members } = row;
  const { entityType, name } = members;
  const key = keyOf({ entityType, lowerName });
  const found = known.get(key);
  const fault = (member: string, message: string): Fault => ({ path: [member], message });
  if (found?.place !== undefined) return fault('name', `names the same form as ${found.place}`);
  if (found?.id !== undefined) {
    known.set(key, { ...found, place });
    if (found.name !== name) {
      const message = `must be ${JSON.stringify(found.name)}, as the account spells it, got ${JSON.stringify(name)}; clientData is case-sensitive`;
      return fault('name', message);
    }
    const isSame = groups === undefined || isDeepStrictEqual(groups, found.groups);
    const changes = isSame ? null : { groups: { from: found.groups, to: groups } };
    return { ordinal, action: isSame ? 'Left' : 'Changed', id: found.id, groups, changes } satisfies Planned;
  }
  if (groups === undefined)
    return fault('groups', 'is required, because the account has no form with this entityType and name yet');
  const sameKind = [...known.values()].filter((form) => form.entityType === entityType);
  if (sameKind.length >= FORM_LIMITS.formsPerKind) {
    return fault('name', `an account may have at most ${FORM_LIMITS.formsPerKind} forms for each entityType`);
  }
  known.set(key, { entityType, name, lowerName, place });
  return { ordinal, action: 'Created', id: null, groups, changes: null } satisfies Planned;
}

/**
 * Replaces the names of units with ids.
 * @param units ids of units, by name and by lower-case name.
 */
function resolveUnits(given: readonly DocumentGroup[] | undefined, units: ReadonlyMap<string, number>) {
  const faults: Fault[] = [];
  const groups = given?.map((group, groupIndex) => ({
    ...group,
    fields: group.fields.map((field, fieldIndex) => {
      const { unitId } = field;
      if (!isEntryName(unitId)) return field;
      const id = units.get(unitId) ?? units.get(unitId.toLowerCase());
      if (id !== undefined) return { ...field, unitId: id };
      const path: Path = ['groups', groupIndex, 'fields', fieldIndex, 'unitId'];
      faults.push({ path, message: unknownName('Unit', unitId) });
      return field;
    }),
  }));
  return { groups, faults };
}

async function readKnown(transaction: Transaction, accountId: number): Promise<Map<string, KnownForm>> {
  const { rows } = await transaction.query<KnownForm>(
    `select id, entity_type as "entityType", name, lower(name) as "lowerName", groups from form where account_id = $1`,
    [accountId],
  );
  return new Map(rows.map((form) => [keyOf(form), form]));
}

async function storePlans(transaction: Transaction, importId: string, planned: readonly Planned[]): Promise<void> {
  await transaction.query(
    `update structure_import_row r set action = p.action, changes = p.changes, members = r.members || p.more,
            target_id = coalesce(p.id, nextval(pg_get_serial_sequence('form', 'id'))::int)
     from (select * from unnest($2::int[], $3::text[], $4::int[], $5::jsonb[], $6::jsonb[])
             planned (ordinal, action, id, more, changes) order by ordinal) p
     where r.import_id = $1 and r.kind = 'forms' and r.ordinal = p.ordinal`,
    [
      importId,
      planned.map(({ ordinal }) => ordinal),
      planned.map(({ action }) => action),
      planned.map(({ id }) => id),
      planned.map(({ groups }) => JSON.stringify({ groups })),
      planned.map(({ changes }) => changes && JSON.stringify(changes)),
    ],
  );
}

const rowsOf = (action: 'Created' | 'Changed') =>
  `from structure_import_row r where r.import_id = $1 and r.kind = 'forms' and r.action = '${action}'`;

/**
 * Writes the planned forms.
 * @returns the number of forms that are missing because they were deleted after the import was planned.
 * @throws a unique violation when another request has added a form with the same `entityType` and name.
 */
export async function writeForms(transaction: Transaction, importId: string, accountId: number): Promise<number> {
  await transaction.query(
    `insert into form (id, account_id, entity_type, name, groups)
     select r.target_id, $2, r.members ->> 'entityType', r.members ->> 'name', r.members -> 'groups'
     ${rowsOf('Created')} order by r.ordinal`,
    [importId, accountId],
  );
  const { rows } = await transaction.query<{ deleted: number }>(
    `with changed as (
       update form set groups = given.groups, modified_date = clock_timestamp()
       from (select r.target_id as id, r.members -> 'groups' as groups ${rowsOf('Changed')}) given
       where form.id = given.id and form.account_id = $2 returning form.id)
     select (select count(*) ${rowsOf('Changed')}) - (select count(*) from changed) as deleted`,
    [importId, accountId],
  );
  return rows[0]?.deleted ?? 0;
}
