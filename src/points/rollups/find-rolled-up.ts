/**
 * Finds, among the variables of a read, those whose early points have been rolled up (retention). For dates before
 * `rawFromMicros`, a read of points returns only the points that are still stored. A read of aggregates can also
 * include rollups (`withRollups`), but not when it selects points by VersionTag or tags or asks for every version.
 */
import type { Queryable } from '../../platform/database/database.ts';
import type { Micros, PointSelection } from '../point.ts';
import { instantLiteral, integerArrayLiteral } from '../read/sql-literal.ts';

/** A variable, and an instant. All points of the variable that have been rolled up are before the instant. */
export interface RawBoundary {
  readonly variableId: number;
  readonly rawFromMicros: Micros;
}

/**
 * @param transaction the snapshot from which the rows are read.
 * @returns the variables of the selection whose `rawFromMicros` is later than the `fromMicros` of the selection, sorted
 * by `rawFromMicros`, latest first.
 */
export async function findRolledUp(
  transaction: Queryable,
  selection: Pick<PointSelection, 'variableIds' | 'fromMicros'>,
): Promise<readonly RawBoundary[]> {
  const { rows } = await transaction.query<RawBoundary>(selectRolledUp(selection));
  return rows;
}

/** Returns the statement of `findRolledUp`. It uses a partial index, which is empty without retention. */
export function selectRolledUp({
  variableIds,
  fromMicros = Number.NEGATIVE_INFINITY,
}: Pick<PointSelection, 'variableIds' | 'fromMicros'>): string {
  return `
  select variable_id as "variableId", (extract(epoch from raw_from) * 1000000)::int8 as "rawFromMicros"
  from series where variable_id = any(${integerArrayLiteral(variableIds)}) and raw_from is not null
    and raw_from > ${instantLiteral(fromMicros)}
  order by raw_from desc, variable_id`;
}
