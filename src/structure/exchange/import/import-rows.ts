/** The rows of an import as clients read them, each with the action that the import took or plans. */
import type { Queryable } from '../../../platform/database/database.ts';
import type { Listing } from '../../../platform/streaming/stream-listing.ts';
import { nameOf } from '../../catalogue/enumerations.ts';
import { KINDS, LIST_NAMES, type ListName } from '../document/kinds.ts';

export const ACTIONS = ['Created', 'Changed', 'Left'] as const;
export type RowAction = (typeof ACTIONS)[number];

/** A row of an import, with what the import does to the row's resource. */
export type ImportedRow = {
  readonly kind: ListName;
  /** Where the row is: JSON path, or sheet and row number. */
  readonly place: string;
  readonly action: RowAction;
  /** Id of the resource. When the action is Created, the id is null until the import has created the resource. */
  readonly id: number | null;
  /** Present only in a row with the action Changed. Maps each changed member to its former and its new value. */
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
};

export interface RowFilter {
  readonly kind: ListName | undefined;
  readonly action: RowAction | undefined;
}

interface StoredRow extends Omit<ImportedRow, 'changes'> {
  readonly changes: NonNullable<ImportedRow['changes']> | null;
}

/** SQL expression for the position of a row's list in LIST_NAMES, from 0. */
const PLACE = `case kind ${LIST_NAMES.map((name, index) => `when '${name}' then ${index}`).join(' ')} end`;
const SELECTED = `from structure_import_row where import_id = $1 and action is not null
  and ($2::text is null or kind = $2) and ($3::text is null or action = $3)`;
const ROW_BYTES = 300;

/**
 * Lists the rows of an import in the order of the imported document. The listing key combines the position of the row's
 * list and the `ordinal` of the row.
 */
export function listImportRows(id: string, { kind, action }: RowFilter): Listing<number, ImportedRow> {
  return {
    keys: `select (${PLACE})::int8 * 2147483648 + ordinal as key, ${ROW_BYTES} + coalesce(octet_length(changes::text), 0) as bytes
      ${SELECTED} order by key`,
    values: [id, kind ?? null, action ?? null],
    read: async (queryable, keys) => {
      const { rows } = await queryable.query<StoredRow>(
        `select kind, place, action, changes,
                case when action <> 'Created' or (select state = 'Completed' and not is_what_if from structure_import where id = $1)
                     then target_id end as id
         from structure_import_row
         where import_id = $1 and (kind, ordinal) in (select * from unnest($2::text[], $3::int[]))
         order by (${PLACE}), ordinal`,
        [id, keys.map((key) => LIST_NAMES[Math.floor(key / 2_147_483_648)]), keys.map((key) => key % 2_147_483_648)],
      );
      return rows.map(toRow);
    },
  };
}

/** Counts the rows that `listImportRows` lists. */
export async function countImportRows(queryable: Queryable, id: string, { kind, action }: RowFilter): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(`select count(*) as count ${SELECTED}`, [
    id,
    kind ?? null,
    action ?? null,
  ]);
  return rows[0]?.count ?? 0;
}

function toRow({ changes, ...row }: StoredRow): ImportedRow {
  if (changes === null) return row;
  if (row.kind === 'catalogues' || row.kind === 'forms') return { ...row, changes };
  const { fields } = KINDS[row.kind].resource;
  const named = Object.entries(fields).flatMap(([name, { column, members }]) => {
    const change = changes[column];
    if (!change) return [];
    const show = (value: unknown) => (members ? nameOf(members, value as number | null) : value);
    return [[name, { from: show(change.from), to: show(change.to) }]];
  });
  return { ...row, changes: Object.fromEntries(named) };
}
