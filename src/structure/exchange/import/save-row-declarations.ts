/**
 * Saves the declarations of the rows of an import, except unchanged declarations. First finds the sites, sources,
 * variables and units that the formulas of the changed declarations name.
 */
import type { Transaction } from '../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import { WHOLE } from '../../../platform/http/paging.ts';
import { readBatches } from '../../../platform/streaming/stream-listing.ts';
import { readResources } from '../../resource.ts';
import { readOwnNames } from '../document/catalogue-members.ts';
import { KINDS } from '../document/kinds.ts';
import { toRows, type View } from '../export/read-rows.ts';
import { readOccurrences } from '../export/resource-keys.ts';
import type { ApplyRef, ApplyServices, DeclarationRow } from './apply-context.ts';
import { resolveReferences } from './resolve-references.ts';
import { MAX_PROBLEMS } from './stage-rows.ts';

/** SQL condition that is true for rows that set a declaration or clear a stored declaration. */
export const HAS_DECLARATION = `r.kind = 'variables' and r.calculated is not null and (r.calculated <> 'null'
  or exists (select from variable where variable.id = r.target_id and variable.calculated is not null))`;

/** Upper estimate of the bytes of memory that a row takes in addition to its declaration. */
const ROW_BYTES = 500;

/** @returns the ids of the variables whose declaration changed, and at most 1,000 problems. */
export async function saveRowDeclarations(
  services: ApplyServices,
  transaction: Transaction,
  applied: ApplyRef,
): Promise<{ readonly ids: readonly number[]; readonly problems: readonly ErrorDetail[] }> {
  const { caller, id } = applied;
  const occurrences = await readOccurrences(transaction, caller);
  const view = { caller, occurrences, names: await readOwnNames(transaction, caller.accountId) };
  const ids: number[] = [];
  const problems: ErrorDetail[] = [];
  const listing = {
    keys: `select ordinal as key, ${ROW_BYTES} + octet_length(calculated::text) as bytes from structure_import_row r
      where import_id = $1 and ${HAS_DECLARATION} order by ordinal`,
    values: [id],
    read: async (_queryable: unknown, ordinals: readonly number[]) => readRows(transaction, id, ordinals),
  };
  for await (const rows of readBatches<number, DeclarationRow>(transaction, listing, WHOLE)) {
    const result = await saveBatch(services, transaction, applied, view, rows);
    ids.push(...result.ids);
    problems.push(...result.problems);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return { ids, problems: problems.slice(0, MAX_PROBLEMS) };
}

async function readRows(transaction: Transaction, id: string, ordinals: readonly number[]) {
  const { rows } = await transaction.query<DeclarationRow>(
    `select ordinal, place, action, site_id as "siteId", source_id as "sourceId", target_id as "targetId", calculated
     from structure_import_row where import_id = $1 and kind = 'variables' and ordinal = any($2::int[]) order by ordinal`,
    [id, ordinals],
  );
  return rows;
}

async function saveBatch(
  { declarations, onChanged }: ApplyServices,
  transaction: Transaction,
  applied: ApplyRef,
  view: View,
  rows: readonly DeclarationRow[],
): Promise<{ readonly ids: readonly number[]; readonly problems: readonly ErrorDetail[] }> {
  const stored = await readStored(declarations, transaction, view, rows);
  const different = rows.filter((row) => canonical(row.calculated) !== canonical(stored.get(row.targetId) ?? null));
  const resolved = await resolveReferences(transaction, applied, different);
  const saved = await declarations.saveAll(transaction, applied.caller, resolved.declarations);
  const byVariable = new Map(rows.map((row) => [row.targetId, row]));
  const changed = saved.changedIds.flatMap((variableId) => byVariable.get(variableId) ?? []);
  const marked = changed.filter(({ action }) => action !== 'Created');
  await onChanged(
    marked.map(({ ordinal, targetId, calculated }) => ({
      ordinal,
      from: stored.get(targetId) ?? null,
      to: calculated,
    })),
  );
  const problems = saved.problems.map(({ variableId, path, message }) => {
    const place = byVariable.get(variableId)?.place ?? '$';
    return { path: path.replace('$.calculated', applied.pathOf(place, 'calculated')), message };
  });
  return { ids: saved.changedIds, problems: [...resolved.problems, ...problems] };
}

/**
 * @returns variable id → stored declaration, for the variables that the import did not create. The declarations
 * contain business keys in place of ids.
 */
async function readStored(
  declarations: ApplyServices['declarations'],
  transaction: Transaction,
  view: View,
  rows: readonly DeclarationRow[],
): Promise<ReadonlyMap<number, unknown>> {
  const ids = rows.filter(({ action }) => action !== 'Created').map(({ targetId }) => targetId);
  if (ids.length === 0) return new Map();
  const { resource } = KINDS.variables;
  const selection = { resource, where: 'variable.id = any($1::int[])', values: [ids] };
  const items = await readResources(transaction, selection, Object.keys(resource.fields), WHOLE);
  const shown = await toRows(declarations, transaction, view, KINDS.variables, items);
  return new Map(items.map((item, index) => [item.id, shown[index]?.calculated]));
}

/** @returns a JSON text for comparison: the members of objects are sorted, and members that are null are left out. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const members = Object.entries(member).filter(([, one]) => one !== null && one !== undefined);
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
