/**
 * Form edges of saved declarations (R-H5). A form edge names a form value and a calculated variable, which runs again
 * when the form value changes.
 */
import type { Transaction } from '../../platform/database/database.ts';
import { parseFormPath } from '../inputs/form-path-rules.ts';
import type { EntityDeclaration, FormulaDeclaration } from './declaration.ts';

/** A variable with the formulas of its saved declaration; without formulas when the variable is not calculated. */
export interface DeclaredVariable {
  readonly variableId: number;
  readonly formulas: readonly FormulaDeclaration[];
}

/**
 * Replaces the form edges of the given variables of one account. A `Site` entity without `siteId` stands for the
 * variable's own site; a `Source` entity without `sourceId` stands for the variable's own source.
 */
export async function replaceFormEdges(
  transaction: Transaction,
  accountId: number,
  variables: readonly DeclaredVariable[],
): Promise<void> {
  await transaction.query('delete from form_input where variable_id = any($1::int[])', [
    variables.map(({ variableId }) => variableId),
  ]);
  const edges = variables.flatMap(({ variableId, formulas }) =>
    formulas
      .flatMap(({ entities }) => entities)
      .filter(({ canBeUsedAsATrigger }) => canBeUsedAsATrigger)
      .map((entity) => ({
        variableId,
        kind: entity.entityType,
        targetId: targetOf(entity),
        path: parseFormPath(entity.path),
      })),
  );
  if (edges.length === 0) return;
  await transaction.query(
    `insert into form_input (account_id, variable_id, kind, target_id, path)
     select distinct $1::int, variable_id, kind, target_id, array(select jsonb_array_elements_text(path))
     from unnest($2::int[], $3::text[], $4::int[], $5::jsonb[]) edge (variable_id, kind, target_id, path)`,
    [
      accountId,
      edges.map(({ variableId }) => variableId),
      edges.map(({ kind }) => kind),
      edges.map(({ targetId }) => targetId),
      edges.map(({ path }) => JSON.stringify(path)),
    ],
  );
}

function targetOf({ entityType, siteId, sourceId }: EntityDeclaration): number | null {
  return (entityType === 'Site' ? siteId : sourceId) ?? null;
}
