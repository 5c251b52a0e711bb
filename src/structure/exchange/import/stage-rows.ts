/** Stores the rows of a document, and the problems found while reading it. */
import type { Queryable } from '../../../platform/database/database.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import type { ListName } from '../document/kinds.ts';
import type { StagedBatch } from '../reading/reading-messages.ts';

/** Maximum number of problems that one check reports, and that are stored for one import. */
export const MAX_PROBLEMS = 1000;

/** Removes the rows and problems of an earlier attempt to process the import. */
export async function clearRows(queryable: Queryable, id: string): Promise<void> {
  await queryable.query('delete from structure_import_row where import_id = $1', [id]);
  await queryable.query('delete from structure_import_problem where import_id = $1', [id]);
}

/** Stores a batch of rows and problems. @param ordinals next ordinal per kind of row; each stored row advances it. */
export async function stageBatch(
  queryable: Queryable,
  id: string,
  { rows, problems }: StagedBatch,
  ordinals: Record<ListName, number>,
): Promise<void> {
  if (problems.length > 0) await storeProblems(queryable, id, problems);
  if (rows.length === 0) return;
  await queryable.query(
    `insert into structure_import_row (import_id, kind, ordinal, place, site_key, site_occurrence, source_key, source_occurrence,
       key, occurrence, members, calculated)
     select $1, * from unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::int[], $9::text[], $10::int[],
       $11::jsonb[], $12::jsonb[])`,
    [
      id,
      rows.map(({ kind }) => kind),
      rows.map(({ kind }) => ordinals[kind]++),
      rows.map(({ place }) => place),
      ...(['site', 'source', 'self'] as const).flatMap((name) => [
        rows.map((row) => row[name]?.key ?? null),
        rows.map((row) => row[name]?.occurrence ?? null),
      ]),
      rows.map(({ members }) => members),
      rows.map(({ calculated }) => calculated ?? null),
    ],
  );
}

/** Stores problems of an import until 1,000 are stored for the import, and drops the rest. */
export async function storeProblems(queryable: Queryable, id: string, problems: readonly ErrorDetail[]): Promise<void> {
  await queryable.query(
    `insert into structure_import_problem (import_id, path, message)
     select $1, path, message from unnest($2::text[], $3::text[]) given (path, message)
     limit greatest(0, ${MAX_PROBLEMS} - (select count(*) from structure_import_problem where import_id = $1))`,
    [id, problems.map(({ path }) => path), problems.map(({ message }) => message)],
  );
}
