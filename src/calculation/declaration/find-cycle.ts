/**
 * Searches for the cycle that a declaration would close (R-H1). The stored graph has no cycle, so a new cycle contains
 * the declared variable and one of its new inputs. The search goes upstream from these inputs and visits each variable
 * once.
 */
import type { Queryable } from '../../platform/database/database.ts';

// Searches for a cycle through the variable $1. A variable may read its own past, so edges to itself do not count. If
// there is no cycle, returns no rows. Otherwise, returns one row for each variable that a variable upstream of $1
// reads: the column `id` has the variable that is read, the column `reader` has the smallest id of the upstream
// variables that read `id`. `offset 0` keeps the planner from building a hash table for each round of the recursion.
const READERS = `
  with recursive added (id) as materialized (
    select unnest($2::int[]) except select input_variable_id from variable_input where variable_id = $1 except select $1
  ),
  upstream (id) as (
    select id from added where exists (select from variable_input where input_variable_id = $1 and variable_id <> $1)
    union
    select edge.input_variable_id from upstream cross join lateral (
      select input_variable_id from variable_input where variable_id = upstream.id offset 0
    ) edge
    where upstream.id <> $1
  )
  select edge.input_variable_id as id, min(upstream.id) as reader from upstream cross join lateral (
    select input_variable_id from variable_input where variable_id = upstream.id offset 0
  ) edge
  where exists (select from upstream where id = $1) and upstream.id not in ($1, edge.input_variable_id)
  group by edge.input_variable_id`;

/**
 * Searches for a cycle that the variable would close with its new inputs (R-H1).
 * @param inputIds all inputs of the new declaration. The search starts only from inputs that the stored declaration
 * does not have.
 * @returns the ids of the variables in the cycle, from the variable through its readers back to itself; undefined when
 * there is no cycle.
 */
export async function findCycle(
  queryable: Queryable,
  variableId: number,
  inputIds: readonly number[],
): Promise<readonly number[] | undefined> {
  const { rows } = await queryable.query<{ id: number; reader: number }>(READERS, [variableId, inputIds]);
  if (rows.length === 0) return undefined;
  const readers = new Map(rows.map(({ id, reader }) => [id, reader]));
  const path = [variableId];
  for (let id = readers.get(variableId); id !== undefined; id = readers.get(id)) path.push(id);
  return [...path, variableId];
}
