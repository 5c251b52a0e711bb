/** Finds, counts and deletes the rejected elements that are kept for a replay (R-D8). */
import type { Queryable } from '../../platform/database/database.ts';
import type { Paging } from '../../platform/http/paging.ts';
import type { Rejection } from '../push-answer.ts';

export interface KeptRejection extends Rejection {
  readonly operationId: number;
  /** The rejected element as JSON. */
  readonly element: string;
}

/** @returns one page of the rejected elements, ordered by operation and by position in the body (R-D8). */
export async function findRejections(
  queryable: Queryable,
  operationIds: readonly number[],
  { limit, offset }: Paging,
): Promise<readonly KeptRejection[]> {
  const { rows } = await queryable.query<KeptRejection>(
    `select operation_id as "operationId", place as index, code, message, element
     from push_rejection where operation_id = any($1::int8[]) order by operation_id, place limit $2 offset $3`,
    [operationIds, limit ?? null, offset],
  );
  return rows;
}

/** Limits of one push. */
interface ReplayLimits {
  readonly maxElements: number;
  readonly maxReadings: number;
  readonly maxBytes: number;
}

/**
 * @returns the first rejected elements that together fit into one push (R-D8). An upper bound for the readings of an
 * element is the number of its `{`. When the first element alone exceeds a limit, returns only this element.
 */
export async function findReplayable(
  queryable: Queryable,
  operationIds: readonly number[],
  { maxElements, maxReadings, maxBytes }: ReplayLimits,
): Promise<readonly KeptRejection[]> {
  const { rows } = await queryable.query<KeptRejection>(
    `select "operationId", index, code, message, element from (
       select operation_id as "operationId", place as index, code, message, element,
              row_number() over first_ones as number, sum(octet_length(element) + 1) over first_ones as bytes,
              sum(length(element) - length(replace(element, '{', ''))) over first_ones as readings
       from push_rejection where operation_id = any($1::int8[])
       window first_ones as (order by operation_id, place) order by operation_id, place limit $2
     ) kept
     where (bytes < $3 and readings <= $4) or number = 1`,
    [operationIds, maxElements, maxBytes, maxReadings],
  );
  return rows;
}

/**
 * @returns the number of deleted elements. A concurrent replay may already have deleted some of `rejections` (R-D8).
 */
export async function deleteRejections(queryable: Queryable, rejections: readonly KeptRejection[]): Promise<number> {
  const { rowCount } = await queryable.query(
    `delete from push_rejection using unnest($1::int8[], $2::int[]) taken (operation_id, place)
     where push_rejection.operation_id = taken.operation_id and push_rejection.place = taken.place`,
    [rejections.map(({ operationId }) => operationId), rejections.map(({ index }) => index)],
  );
  return rowCount ?? 0;
}

/** @returns the total number of rejected elements of the operations in `operationIds` (R-D8). */
export async function countRejections(queryable: Queryable, operationIds: readonly number[]): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    'select count(*) as count from push_rejection where operation_id = any($1::int8[])',
    [operationIds],
  );
  return rows[0]?.count ?? 0;
}

/** @returns the rejections as JSON text; each element is inserted as stored, without parsing it (R-D8). */
export function toRejectionsBody(rejections: readonly KeptRejection[]): string {
  const items = rejections.map(({ index, code, message, element }) => {
    return `${JSON.stringify({ index, code, message }).slice(0, -1)},"element":${element}}`;
  });
  return `[${items.join()}]`;
}
