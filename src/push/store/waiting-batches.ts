/**
 * The queue of accepted batches that wait for the ingester (src/ingest). A barrier (`openPushBarrier`) waits until the
 * pushes that were accepted before the barrier are written.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts';
import { readBytea } from '../../platform/database/read-bytea.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';
import { STAMP_COLUMNS, stampsLiteral } from '../../points/origins/record-origin.ts';
import { variableSet } from '../../points/variable-set-codec.ts';
import type { WriteResult } from '../../points/write/write-points.ts';

/** Maximum number of readings in a small batch. A year of quarter-hourly readings is a large batch. */
export const SMALL_BATCH_ROWS = 20_000;

const TAKE_BATCHES = `
  select ids, operation_ids as "operationIds", readings, is_more_waiting as "isMoreWaiting",
         "waitedSec", "takenDate", "requestId"
  from take_push_batches($1, $2, ${SMALL_BATCH_ROWS}, $3, ${TUPLE_BYTES}) taken
  left join lateral (
    select extract(epoch from clock_timestamp() - accepted_date)::float8 as "waitedSec", now() as "takenDate",
           coalesce(member_request_ids[1], request_id) as "requestId"
    from push_operation where push_operation.id = taken.operation_ids[1]
  ) first on true`;

export interface TakenBatches {
  /**
   * Ids of the batches, in the order of acceptance. `ids` and `operationIds` hold 64-bit integers, which the driver
   * returns as texts.
   */
  readonly ids: readonly string[];
  readonly operationIds: readonly string[];
  readonly readings: number;
  readonly isMoreWaiting: boolean;
  /** Number of seconds since the first of the taken batches was accepted; null when no batch was taken. */
  readonly waitedSec: number | null;
  /** Request id of the first push (R-A10); null when no batch was taken. */
  readonly requestId: string | null;
  /** Start of the transaction that took the batches; null when no batch was taken. */
  readonly takenDate: string | null;
}

/**
 * Locks the next batches of an account, in the order of acceptance, until the end of the transaction. Leaves out
 * batches that another transaction has locked, and later batches that share a variable with them (R-D6). Takes either
 * only small batches (SMALL_BATCH_ROWS) or only large batches.
 * @param maxRows maximum number of readings of all locked batches together; a single batch may have more.
 * @param isSmallOnly true to skip large batches.
 * @throws {Error} when the database returns no row.
 */
export async function takeBatches(
  transaction: Transaction,
  accountId: number,
  maxRows: number,
  isSmallOnly: boolean,
): Promise<TakenBatches> {
  const { rows } = await transaction.query<TakenBatches>(TAKE_BATCHES, [accountId, maxRows, isSmallOnly]);
  if (!rows[0]) throw new Error('take_push_batches returned no row');
  return rows[0];
}

/** @returns the COPY tuples of each batch, in the order in which the batches were accepted. */
export function readBatchRows(transaction: Transaction, ids: readonly number[]) {
  const text = `select rows from push_batch where id = any('{${ids.join()}}'::int8[]) order by place, id`;
  return readBytea(transaction, text);
}

/** The batches whose points a transaction has written. */
export interface WrittenBatches {
  readonly ids: readonly number[];
  readonly operationIds: readonly number[];
  /** The COPY tuples of each batch, in the order of `ids`. */
  readonly batches: readonly Buffer[];
}

/**
 * Ends the operations of batches after `transaction` has written their points. Records the operations as the origin of
 * the points, and removes the batches. `takeBatches` must have locked the batches.
 */
export async function endBatches(
  transaction: Transaction,
  accountId: number,
  { ids, operationIds, batches }: WrittenBatches,
  { stamps }: Pick<WriteResult, 'stamps'>,
): Promise<void> {
  const [batchIds, operations] = [ids, operationIds].map((list) => `'{${list.join()}}'::int8[]`);
  const remove = `delete from push_batch where id = any(${batchIds})`;
  // The arrays must follow the order of the readings: by batch and, in each batch, by operation.
  const record = `
    with written as (${remove} returning place, id, operation_ids, reading_counts), part as (
      select array_agg(part.id order by place, written.id, number) as ids,
             array_agg(count order by place, written.id, number) as counts
      from written cross join lateral unnest(operation_ids, reading_counts) with ordinality part (id, count, number)
    )
    insert into write_origin (${STAMP_COLUMNS}, account_id, operation_ids, reading_counts)
    select ${STAMP_COLUMNS}, ${accountId}, ids, counts from ${stampsLiteral(stamps, batches)} cross join part where ids is not null`;
  await transaction.query(
    `select end_push_operations(${operations}, 'Completed', null, ${batchIds}); ${stamps.length === 0 ? remove : record}`,
  );
}

/**
 * Marks queued operations as Processing (R-D7). On a busy machine this update may run late. The start of an operation
 * is therefore not the current time but `takenDate`, or the acceptance date of the operation if that date is later.
 * @param takenDate start of the transaction that writes the readings.
 */
export async function markProcessing(
  queryable: Queryable,
  operationIds: readonly number[],
  takenDate: string,
): Promise<void> {
  await queryable.query(
    `update push_operation set state = 'Processing', started_date = greatest(accepted_date, $2::timestamptz)
     where id = any($1::int8[]) and state = 'Queued'`,
    [operationIds, takenDate],
  );
}

/**
 * Completes an operation that has no batch, and appends the event DataPushCompleted (R-D7). Call this function in the
 * last transaction that writes points of the operation.
 * @param variableIds ids of the variables of the operation, for the filters of webhooks.
 */
export async function completeOperation(
  transaction: Transaction,
  operationId: number,
  variableIds: Iterable<number>,
): Promise<void> {
  await transaction.query(`select end_push_operations(array[$1::int8], 'Completed', null, '{}', $2::int4multirange)`, [
    operationId,
    variableSet(variableIds),
  ]);
}

/**
 * @returns the ids of the accounts with waiting batches that are not set aside. The sweeper wakes these accounts,
 * because a wake-up can be lost.
 */
export async function findWaitingAccounts(database: Database): Promise<readonly number[]> {
  const { rows } = await database.query<{ accountId: number }>(
    'select distinct account_id as "accountId" from push_batch where set_aside_date is null',
  );
  return rows.map(({ accountId }) => accountId);
}

const POLL_INTERVAL_MS = 50;

// A barrier ignores batches that are set aside: these are not written until an operator acts.
const FIND_LAST = `
  select max(place) as place from push_batch where account_id = $1 and set_aside_date is null`;
const FIND_WAITING = `
  select coalesce(bool_or(variables is null or variables && $3::int4multirange), false) as "isBlocked"
  from push_batch where account_id = $1 and set_aside_date is null and place <= $2 having count(*) > 0`;

/**
 * Remembers which pushes of an account have been accepted by the time of the call.
 * @returns a function that waits until every remembered push to any of `variableIds` is written, and then resolves to
 * true (R-D6). It resolves to false when `signal` aborts before that.
 */
export async function openPushBarrier(
  queryable: Queryable,
  accountId: number,
  signal: AbortSignal,
): Promise<(variableIds: Iterable<number>) => Promise<boolean>> {
  const { rows } = await queryable.query<{ place: number | null }>(FIND_LAST, [accountId]);
  let place = rows[0]?.place ?? null;
  return async (variableIds) => {
    if (place === null) return true;
    const values = [accountId, place, variableSet(variableIds)];
    for (;;) {
      const waiting = await queryable.query<{ isBlocked: boolean }>(FIND_WAITING, values);
      if (waiting.rows.length === 0) place = null;
      if (!waiting.rows[0]?.isBlocked) return true;
      if (signal.aborted) return false;
      await wait(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  };
}
