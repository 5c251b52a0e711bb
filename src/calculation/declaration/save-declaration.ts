/**
 * Saving a variable checks its declared inputs and replaces its edges in the graph of calculations, and its schedules, in
 * the same transaction. The graph has no cycle, except that a variable may read its own past (R-H1).
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { invalidInput, parseInput } from '../../platform/http/lenient.ts';
import type { Declarations } from '../../structure/structure-routes.ts';
import { replaceSchedules } from '../schedule/schedules.ts';
import { findReferenceProblems } from './check-references.ts';
import { DECLARATION_SCHEMA, type Declaration, type InputDeclaration } from './declaration.ts';

// First key of the advisory locks that let one transaction at a time change the graph of an account: two declarations
// saved at once could each be free of cycles and close one together.
const GRAPH_LOCK_CLASS = 0x6772;
const ROOT = '$.calculated';

/** Hook of `structure/`: called when a variable is saved. */
export const declarations: Declarations = {
  save: async (transaction, caller, variableId, calculated) => {
    if (calculated === undefined) return;
    const declaration = calculated === null ? undefined : parseInput(DECLARATION_SCHEMA, calculated, ROOT);
    await saveDeclaration(transaction, caller, variableId, declaration);
  },
};

/**
 * @param declaration undefined when the variable is no longer calculated.
 * @throws {DomainError} invalid_input with one detail for each input, unit and form owner that does not exist;
 *   calculation_cycle when the variable would trigger itself or close a cycle.
 */
export async function saveDeclaration(
  transaction: Transaction,
  caller: Caller,
  variableId: number,
  declaration: Declaration | undefined,
): Promise<void> {
  await transaction.query('select pg_advisory_xact_lock($1, $2)', [GRAPH_LOCK_CLASS, caller.accountId]);
  const formulas = declaration?.calculatedVariableFormulas ?? [];
  const problems = await findReferenceProblems(transaction, caller, formulas, ROOT);
  if (problems.length > 0) throw invalidInput(problems);
  const inputs = formulas.flatMap(({ variables }) => variables);
  assertNoOwnTrigger(inputs, variableId);
  await replaceEdges(transaction, variableId, inputs);
  await assertNoCycle(transaction, variableId);
  await replaceSchedules(transaction, variableId, formulas);
}

function assertNoOwnTrigger(inputs: readonly InputDeclaration[], variableId: number): void {
  if (!inputs.some((input) => input.variableId === variableId && input.canBeUsedAsATrigger)) return;
  throw new DomainError(
    'calculation_cycle',
    `variable ${variableId} would trigger itself: set canBeUsedAsATrigger to false`,
  );
}

async function replaceEdges(
  transaction: Transaction,
  variableId: number,
  inputs: readonly InputDeclaration[],
): Promise<void> {
  await transaction.query('delete from variable_input where variable_id = $1', [variableId]);
  await transaction.query(
    `insert into variable_input (variable_id, input_variable_id, is_trigger)
     select $1, input_id, bool_or(is_trigger) from unnest($2::int[], $3::boolean[]) input (input_id, is_trigger)
     group by input_id`,
    [variableId, inputs.map((input) => input.variableId), inputs.map((input) => input.canBeUsedAsATrigger)],
  );
}

async function assertNoCycle(queryable: Queryable, variableId: number): Promise<void> {
  const { rows } = await queryable.query<{ path: readonly number[] }>(
    `with recursive upstream (id, path) as (
       select input_variable_id, array[$1::int, input_variable_id] from variable_input
       where variable_id = $1 and input_variable_id <> $1
       union all
       select edge.input_variable_id, upstream.path || edge.input_variable_id
       from upstream join variable_input edge on edge.variable_id = upstream.id
       where edge.input_variable_id <> upstream.id and upstream.id <> $1
         and (edge.input_variable_id = $1 or edge.input_variable_id <> all(upstream.path))
     )
     select path from upstream where id = $1 limit 1`,
    [variableId],
  );
  const [cycle] = rows;
  if (!cycle) return;
  throw new DomainError('calculation_cycle', `variables ${[...cycle.path].reverse().join(' -> ')} would form a cycle`);
}
