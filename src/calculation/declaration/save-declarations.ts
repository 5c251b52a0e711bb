/**
 * Saves the declarations of many variables. Makes the same checks as `save-declaration.ts`, except for the search for
 * cycles, which the caller makes once after the last save. Most SQL statements here handle all variables at once,
 * because an import may have thousands of variables.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable, Transaction } from '../../platform/database/database.ts';
import { DomainError, type ErrorDetail } from '../../platform/errors.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import type { DeclarationProblem, NewDeclaration } from '../../structure/structure-routes.ts';
import { replaceSchedules } from '../schedule/schedules.ts';
import { isSameDeclaration, referencesOf } from './accepted-references.ts';
import { findProblemsOf, findVisible } from './check-references.ts';
import { type Declaration, hashDeclaration, SAVED_DECLARATION_SCHEMA } from './declaration.ts';
import { replaceFormEdges } from './form-edges.ts';
import { settleDeclaration } from './settle-declaration.ts';

const ROOT = '$.calculated';

interface Parsed {
  readonly variableId: number;
  /**
   * The declaration as stored: the JSON of the client, with instants in place of local dates and epoch milliseconds.
   * Null means that the variable is not calculated.
   */
  readonly calculated: unknown;
  readonly declaration: Declaration | undefined;
  readonly note: string | null | undefined;
  readonly saved: SavedDeclaration | undefined;
}

interface SavedDeclaration {
  readonly hash: string | null;
  readonly calculated: unknown;
}

/**
 * Checks declarations, and saves each one that has no problem, together with its edges, schedules and history. The
 * variables must exist, and the caller must have locked the account's graph (`lockGraph`). Does not search for cycles:
 * call `findGraphCycle` after the last save. A declaration that has no note and equals the saved declaration of its
 * variable is not saved again.
 * @returns the problems, and the ids of the variables whose declaration was saved.
 */
export async function saveDeclarations(
  transaction: Transaction,
  caller: Caller,
  given: readonly NewDeclaration[],
): Promise<{ readonly problems: readonly DeclarationProblem[]; readonly changedIds: readonly number[] }> {
  const saved = await findSaved(transaction, given);
  const problems: DeclarationProblem[] = [];
  const parsed: Parsed[] = [];
  for (const { variableId, sourceId, calculated } of given) {
    const last = saved.get(variableId);
    if (calculated === null ? !last?.calculated : isSameDeclaration(last?.calculated, calculated)) continue;
    const result = await parse(transaction, sourceId, calculated);
    if ('details' in result) problems.push(...result.details.map((detail) => ({ variableId, ...detail })));
    else parsed.push({ ...result, variableId, saved: last });
  }
  problems.push(...(await findBroken(transaction, caller, parsed)));
  const broken = new Set(problems.map(({ variableId }) => variableId));
  const sound = parsed.filter(({ variableId }) => !broken.has(variableId));
  await store(transaction, caller, sound);
  return { problems, changedIds: sound.map(({ variableId }) => variableId) };
}

async function findSaved(
  queryable: Queryable,
  given: readonly NewDeclaration[],
): Promise<ReadonlyMap<number, SavedDeclaration>> {
  const { rows } = await queryable.query<SavedDeclaration & { readonly id: number }>(
    `select variable.id, variable.calculated,
            (select declaration_hash from declaration_save where variable_id = variable.id order by id desc limit 1) as hash
     from variable where variable.id = any($1::int[])`,
    [given.map(({ variableId }) => variableId)],
  );
  return new Map(rows.map(({ id, ...saved }) => [id, saved]));
}

type ParseResult = Pick<Parsed, 'calculated' | 'declaration' | 'note'> | { readonly details: readonly ErrorDetail[] };

async function parse(queryable: Queryable, sourceId: number, given: unknown): Promise<ParseResult> {
  if (given === null) return { calculated: null, declaration: undefined, note: undefined };
  const { calculated } = await settleDeclaration(queryable, sourceId, given);
  try {
    const { note, ...declaration } = parseInput(SAVED_DECLARATION_SCHEMA, calculated, ROOT);
    return { calculated, declaration, note };
  } catch (error) {
    if (error instanceof DomainError && error.details) return { details: error.details };
    throw error;
  }
}

/** Finds invalid references in declarations, and inputs through which a variable would trigger itself. */
async function findBroken(
  transaction: Transaction,
  caller: Caller,
  parsed: readonly Parsed[],
): Promise<readonly DeclarationProblem[]> {
  const formulasOf = ({ declaration }: Parsed) => declaration?.calculatedVariableFormulas ?? [];
  const reader = { accountId: caller.accountId, reach: readReach(caller) };
  const visible = await findVisible(transaction, reader, parsed.flatMap(formulasOf));
  const problems: DeclarationProblem[] = [];
  for (const one of parsed) {
    const { variableId, saved } = one;
    const formulas = formulasOf(one);
    const accepted = referencesOf(saved?.calculated);
    const found = await findProblemsOf(transaction, visible, formulas, ROOT, accepted);
    problems.push(...found.map((detail) => ({ variableId, ...detail })));
    for (const [formula, { variables }] of formulas.entries()) {
      const input = variables.findIndex((one) => one.variableId === variableId && one.canBeUsedAsATrigger);
      if (input < 0) continue;
      const path = `${ROOT}.calculatedVariableFormulas[${formula}].variables[${input}].canBeUsedAsATrigger`;
      problems.push({ variableId, path, message: 'must be false for an input that is the variable itself' });
    }
  }
  return problems;
}

async function store(transaction: Transaction, caller: Caller, sound: readonly Parsed[]): Promise<void> {
  if (sound.length === 0) return;
  await storeTexts(transaction, caller, sound);
  const ids = sound.map(({ variableId }) => variableId);
  const edges = sound.flatMap(({ variableId, declaration }) =>
    (declaration?.calculatedVariableFormulas ?? []).flatMap(({ variables }) =>
      variables.map((input) => [variableId, input.variableId, input.canBeUsedAsATrigger] as const),
    ),
  );
  await transaction.query('delete from variable_input where variable_id = any($1::int[])', [ids]);
  await transaction.query(
    `insert into variable_input (variable_id, input_variable_id, is_trigger)
     select edge.id, input_id, bool_or(is_trigger) from unnest($1::int[], $2::int[], $3::boolean[]) edge (id, input_id, is_trigger)
     join variable on variable.id = input_id
     group by edge.id, input_id`,
    [0, 1, 2].map((column) => edges.map((edge) => edge[column])),
  );
  const formulasOf = ({ declaration }: Parsed) => declaration?.calculatedVariableFormulas ?? [];
  const forms = sound.map((one) => ({ variableId: one.variableId, formulas: formulasOf(one) }));
  await replaceFormEdges(transaction, caller.accountId, forms);
  const { rows } = await transaction.query<{ id: number }>(
    'select distinct variable_id as id from calculation_schedule where variable_id = any($1::int[])',
    [ids],
  );
  const scheduled = new Set(rows.map(({ id }) => id));
  for (const { variableId, declaration } of sound) {
    const formulas = declaration?.calculatedVariableFormulas ?? [];
    if (scheduled.has(variableId) || formulas.some(({ schedule }) => schedule))
      await replaceSchedules(transaction, variableId, formulas);
  }
}

async function storeTexts(transaction: Transaction, caller: Caller, sound: readonly Parsed[]): Promise<void> {
  const { accountId, userId, userName, actor } = caller;
  const texts = sound.map(({ calculated }) => (calculated === null ? null : JSON.stringify(calculated)));
  const ids = sound.map(({ variableId }) => variableId);
  await transaction.query(
    `update variable set calculated = given.calculated from unnest($1::int[], $2::jsonb[]) given (id, calculated)
     where variable.id = given.id and variable.account_id = $3`,
    [ids, texts, accountId],
  );
  const kept = sound
    .map((one, index) => ({
      ...one,
      text: texts[index],
      hash: one.declaration ? hashDeclaration(one.declaration) : null,
    }))
    // A removal (`hash` is null) reaches this point only when the variable has a declaration. The last save of that
    // declaration may have no hash either.
    .filter(({ note, hash, saved }) => note || hash === null || hash !== saved?.hash);
  await transaction.query(
    `insert into declaration_save (account_id, variable_id, saved_date, user_id, user_name, actor_user_id, actor_user_name,
       note, declaration_hash, calculated)
     select $1, id, clock_timestamp(), $2, $3, $4, $5, note, hash, calculated
     from unnest($6::int[], $7::text[], $8::text[], $9::jsonb[]) given (id, note, hash, calculated)`,
    [
      ...[accountId, userId, userName, actor?.userId ?? null, actor?.userName ?? null],
      kept.map(({ variableId }) => variableId),
      kept.map(({ note }) => note || null),
      kept.map(({ hash }) => hash),
      kept.map(({ text }) => text),
    ],
  );
}

const EDGES_PER_FETCH = 50_000;

/**
 * Searches all variables of an account and their inputs for a cycle. A variable that is its own input does not count as
 * a cycle (R-H1).
 * @returns the ids of the variables in a cycle, each followed by one of its inputs; the last id repeats the first.
 * Undefined when there is no cycle.
 */
export async function findGraphCycle(
  transaction: Transaction,
  accountId: number,
): Promise<readonly number[] | undefined> {
  await transaction.query(
    `declare edges no scroll cursor for
     select variable_id, input_variable_id from variable_input join variable on variable.id = variable_id
     where variable.account_id = $1 and variable_id <> input_variable_id`,
    [accountId],
  );
  const inputs = new Map<number, number[]>();
  for (;;) {
    const { rows } = await transaction.query<{ variable_id: number; input_variable_id: number }>(
      `fetch ${EDGES_PER_FETCH} from edges`,
    );
    for (const { variable_id: id, input_variable_id: inputId } of rows) {
      const list = inputs.get(id);
      if (list) list.push(inputId);
      else inputs.set(id, [inputId]);
    }
    if (rows.length < EDGES_PER_FETCH) break;
  }
  await transaction.query('close edges');
  return searchCycle(inputs);
}

/**
 * Searches depth-first for a cycle. Uses an array as the stack instead of recursion, because a chain of inputs may be
 * longer than the call stack allows.
 */
function searchCycle(inputs: ReadonlyMap<number, readonly number[]>): readonly number[] | undefined {
  const done = new Set<number>();
  for (const start of inputs.keys()) {
    const path: number[] = [];
    const onPath = new Set<number>();
    const stack: { readonly id: number; next: number }[] = [{ id: start, next: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1) as { readonly id: number; next: number };
      if (top.next === 0) {
        if (onPath.has(top.id)) return [...path.slice(path.indexOf(top.id)), top.id];
        if (done.has(top.id)) {
          stack.pop();
          continue;
        }
        path.push(top.id);
        onPath.add(top.id);
      }
      const input = inputs.get(top.id)?.[top.next];
      top.next += 1;
      if (input !== undefined) {
        stack.push({ id: input, next: 0 });
        continue;
      }
      stack.pop();
      path.pop();
      onPath.delete(top.id);
      done.add(top.id);
    }
  }
  return undefined;
}
