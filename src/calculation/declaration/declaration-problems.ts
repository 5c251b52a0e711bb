/** Finds problems of saved declarations (R-H1), such as an input that was deleted. */
import { readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import type { ResourceObject } from '../../structure/resource.ts';
import { HAS_PROBLEMS } from '../../structure/variable-problems.ts';
import { findReferenceProblems } from './check-references.ts';
import { DECLARATION_SCHEMA } from './declaration.ts';
import { presentDeclarations } from './present-declarations.ts';

const ROOT = '$.calculated';
const ALL = readReach({ sites: 'all' });

/**
 * Converts each `calculated` into the form that clients read (R-C12), and adds `problems` to variables with problems.
 */
export async function presentVariables(
  queryable: Queryable,
  accountId: number,
  variables: readonly ResourceObject[],
): Promise<readonly ResourceObject[]> {
  const shown = await presentDeclarations(queryable, accountId, variables);
  const declared = new Map(variables.flatMap(({ id, calculated }) => (calculated ? [[id, calculated] as const] : [])));
  const problems = await findProblems(queryable, accountId, declared);
  return shown.map((variable) => {
    const found = problems.get(variable.id);
    return found ? { ...variable, problems: found } : variable;
  });
}

/**
 * @param declared the declarations of variables of the account, by variable id.
 * @returns the problems by variable id. Variables without problems are absent.
 */
async function findProblems(
  queryable: Queryable,
  accountId: number,
  declared: ReadonlyMap<number, unknown>,
): Promise<ReadonlyMap<number, readonly ErrorDetail[]>> {
  const problems = new Map<number, readonly ErrorDetail[]>();
  if (declared.size === 0) return problems;
  const { rows } = await queryable.query<{ id: number }>(
    `select id from variable where id = any($1::int[]) and ${HAS_PROBLEMS}`,
    [[...declared.keys()]],
  );
  for (const { id } of rows) {
    const parsed = DECLARATION_SCHEMA.safeParse(declared.get(id));
    if (!parsed.success) continue;
    const reader = { accountId, reach: ALL };
    const found = await findReferenceProblems(queryable, reader, parsed.data.calculatedVariableFormulas, ROOT);
    if (found.length > 0) problems.set(id, found);
  }
  return problems;
}
