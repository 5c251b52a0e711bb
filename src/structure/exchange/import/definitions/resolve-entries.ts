/** In the staged rows of an import, replaces names of catalogue entries with the ids of the entries in the account. */
import type { Transaction } from '../../../../platform/database/database.ts';
import {
  CATALOGUE_MEMBERS,
  type NamedCatalogue,
  readIdsByName,
  unknownName,
} from '../../document/catalogue-members.ts';
import { KIND_NAMES, KINDS } from '../../document/kinds.ts';
import type { ApplyRef } from '../apply-context.ts';
import type { ImportRef } from '../plan-import.ts';
import { MAX_PROBLEMS } from '../stage-rows.ts';

const replace = (name: string) => `
  update structure_import_row r set members = r.members || jsonb_build_object($3::text, entry.id)
  from unnest($4::text[], $5::int[]) entry (name, id)
  where r.import_id = $1 and r.kind = $2 and jsonb_typeof(r.members -> $3) = 'string' and entry.name = ${name}`;
// First compares the exact name, then the lower-case name. The lower-case name alone could miss an entry, because
// JavaScript and the database disagree about the lower case of a few letters.
const REPLACE = [replace('r.members ->> $3'), replace('lower(r.members ->> $3)')];
/** Selects the name and id of each catalogue entry that the import creates. */
const PLANNED = `
  select members ->> 'name' as name, target_id as id from structure_import_row
  where import_id = $1 and kind = 'catalogues' and action = 'Created' and members ->> 'catalogue' = $2`;
const FIND_NAMES = `
  select place, members ->> $3 as name from structure_import_row
  where import_id = $1 and kind = $2 and jsonb_typeof(members -> $3) = 'string' order by ordinal limit ${MAX_PROBLEMS}`;

/**
 * @returns the ids of the catalogue's built-in entries, of the account's entries and of the entries that the import will
 *   create. The keys are the names and the names in lower case.
 */
export async function readPlannedIds(
  transaction: Transaction,
  { id, accountId }: ImportRef,
  catalogue: NamedCatalogue,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await transaction.query<{ name: string; id: number }>(PLANNED, [id, catalogue]);
  const ids = new Map(await readIdsByName(transaction, accountId, catalogue));
  for (const entry of rows) ids.set(entry.name, entry.id).set(entry.name.toLowerCase(), entry.id);
  return ids;
}

/**
 * In the rows of an import, replaces the names of catalogue entries with the ids of the entries. Records a problem for
 * each name that matches no entry, at most MAX_PROBLEMS per member.
 * @returns the number of recorded problems.
 */
export async function resolveEntries(
  transaction: Transaction,
  { id, accountId }: ImportRef,
  pathOf: ApplyRef['pathOf'],
): Promise<number> {
  let problems = 0;
  for (const kind of KIND_NAMES) {
    for (const [member, catalogue] of Object.entries(CATALOGUE_MEMBERS[kind])) {
      const row = [id, kind, KINDS[kind].resource.fields[member]?.column];
      const find = () => transaction.query<{ place: string; name: string }>(FIND_NAMES, row);
      if ((await find()).rows.length === 0) continue;
      const ids = await readPlannedIds(transaction, { id, accountId }, catalogue);
      for (const statement of REPLACE) await transaction.query(statement, [...row, [...ids.keys()], [...ids.values()]]);
      const { rows } = await find();
      await transaction.query(
        `insert into structure_import_problem (import_id, path, message)
         select $1, path, message from unnest($2::text[], $3::text[]) problem (path, message)`,
        [id, rows.map(({ place }) => pathOf(place, member)), rows.map(({ name }) => unknownName(catalogue, name))],
      );
      problems += rows.length;
    }
  }
  return problems;
}
