/**
 * Saves the declaration of a variable: checks the references of the declaration, replaces the schedules of the variable
 * and its edges in the graph of calculations, and keeps the declaration in the history, all in one transaction. The
 * graph has no cycle, except that a variable may read its own past (R-H1).
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { readReach } from '../../identity/caller/site-reach.ts';
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { invalidInput, parseInput } from '../../platform/http/lenient.ts';
import type { Declarations } from '../../structure/structure-routes.ts';
import { replaceSchedules } from '../schedule/schedules.ts';
import { type AcceptedReferences, findLastSaved, isSameDeclaration, referencesOf } from './accepted-references.ts';
import { findReferenceProblems } from './check-references.ts';
import { type Declaration, type InputDeclaration, SAVED_DECLARATION_SCHEMA } from './declaration.ts';
import { keepSave } from './declaration-history.ts';
import { presentVariables } from './declaration-problems.ts';
import { findCycle } from './find-cycle.ts';
import { replaceFormEdges } from './form-edges.ts';
import { lockGraph, openGraphTurns } from './graph-turns.ts';
import { findGraphCycle, saveDeclarations } from './save-declarations.ts';
import { settleDeclaration } from './settle-declaration.ts';

const ROOT = '$.calculated';
/** Maximum number of variables listed in the error about a cycle. The error leaves out the middle of a longer cycle. */
const MAX_NAMED = 20;

/**
 * Creates the functions by which `structure/` saves and shows declarations (R-H1). `save` throws what `saveDeclaration`
 * throws, and {DomainError} invalid_input for a declaration that does not fit the schema.
 */
export function openDeclarations(database: Database): Declarations {
  const turns = openGraphTurns(database);
  return {
    inTurn: turns.run,
    settleDates: settleDeclaration,
    save: async (transaction, caller, variableId, calculated) => {
      if (calculated === undefined) return;
      if (calculated === null) {
        await saveDeclaration(transaction, caller, variableId, undefined);
        await keepSave(transaction, caller, variableId, {});
        return;
      }
      const saved = await findLastSaved(transaction, variableId);
      if (isSameDeclaration(saved, calculated)) return;
      const { note, ...declaration } = parseInput(SAVED_DECLARATION_SCHEMA, calculated, ROOT);
      await saveDeclaration(transaction, caller, variableId, declaration, referencesOf(saved));
      await keepSave(transaction, caller, variableId, { declaration, note, calculated });
    },
    present: presentVariables,
    lockGraph,
    saveAll: saveDeclarations,
    findCycle: findGraphCycle,
  };
}

/**
 * Checks the declaration of a variable, and replaces the edges and schedules of the variable (R-H1). Does not store the
 * declaration. If `declaration` is defined, call this function inside `GraphTurns.run`.
 * @param declaration undefined when the variable is no longer calculated.
 * @param accepted the references to skip in the check. Default: none, so all references are checked.
 * @throws {DomainError} the errors of `checkDeclaration`: invalid_input and calculation_cycle.
 * @throws {GraphBusyError} when there is a declaration and another transaction is changing the graph.
 */
export async function saveDeclaration(
  transaction: Transaction,
  caller: Caller,
  variableId: number,
  declaration: Declaration | undefined,
  accepted?: AcceptedReferences,
): Promise<void> {
  const formulas = declaration?.calculatedVariableFormulas ?? [];
  if (declaration) {
    await lockGraph(transaction, caller.accountId);
    await checkDeclaration(transaction, caller, variableId, declaration, accepted);
  }
  await replaceEdges(
    transaction,
    variableId,
    formulas.flatMap(({ variables }) => variables),
  );
  await replaceFormEdges(transaction, caller.accountId, [{ variableId, formulas }]);
  await replaceSchedules(transaction, variableId, formulas);
}

/**
 * Checks the references of a declaration, and that the declaration closes no cycle. Changes nothing (R-H1).
 * @param accepted tells which references are not checked. Default: all are checked.
 * @throws {DomainError} invalid_input with the first 100 problems that `findReferenceProblems` returns;
 *   calculation_cycle when the variable would trigger itself or the declaration would close a cycle.
 */
export async function checkDeclaration(
  queryable: Queryable,
  caller: Caller,
  variableId: number,
  { calculatedVariableFormulas: formulas }: Declaration,
  accepted?: AcceptedReferences,
): Promise<void> {
  const reader = { accountId: caller.accountId, reach: readReach(caller) };
  const problems = await findReferenceProblems(queryable, reader, formulas, ROOT, accepted);
  if (problems.length > 0) throw invalidInput(problems);
  const inputs = formulas.flatMap(({ variables }) => variables);
  assertNoOwnTrigger(inputs, variableId);
  const inputIds = inputs.map((input) => input.variableId);
  const cycle = await findCycle(queryable, variableId, inputIds);
  if (cycle) throw new DomainError('calculation_cycle', `variables ${describePath(cycle)} would form a cycle`);
}

function describePath(ids: readonly number[]): string {
  if (ids.length <= MAX_NAMED) return ids.join(' -> ');
  const half = MAX_NAMED / 2;
  return [...ids.slice(0, half), `(${ids.length - MAX_NAMED} more)`, ...ids.slice(-half)].join(' -> ');
}

function assertNoOwnTrigger(inputs: readonly InputDeclaration[], variableId: number): void {
  if (!inputs.some((input) => input.variableId === variableId && input.canBeUsedAsATrigger)) return;
  throw new DomainError(
    'calculation_cycle',
    `variable ${variableId} is an input of itself and would trigger itself; set canBeUsedAsATrigger of this input to false`,
  );
}

/** Replaces the edges of a variable in the graph. An input that no longer exists gets no edge. */
async function replaceEdges(
  transaction: Transaction,
  variableId: number,
  inputs: readonly InputDeclaration[],
): Promise<void> {
  await transaction.query('delete from variable_input where variable_id = $1', [variableId]);
  await transaction.query(
    `insert into variable_input (variable_id, input_variable_id, is_trigger)
     select $1, input_id, bool_or(is_trigger) from unnest($2::int[], $3::boolean[]) input (input_id, is_trigger)
     join variable on variable.id = input_id
     group by input_id`,
    [variableId, inputs.map((input) => input.variableId), inputs.map((input) => input.canBeUsedAsATrigger)],
  );
}
