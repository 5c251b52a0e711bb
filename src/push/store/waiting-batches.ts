/**
 * The queue of accepted batches that wait for the ingester: lock an account's queue, take the next batches, end their
 * operations, delete them, and wait until they are written. Writing the points between these steps is the work of src/ingest.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts';
import { readBytea } from '../../platform/database/read-bytea.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';

// First key of the advisory locks that serialise the ingest of an account; the second is the account.
const LOCK_CLASS = 0x696e;

/** Maximum number of batches that one transaction takes. */
export const MAX_BATCHES = 1000;

const TAKE_BATCHES = `
  select id, "operationIds", found, count::int as readings, "waitedSec", "takenDate", "requestId"
  from (
    select id, place, operation_ids as "operationIds", length(rows) / ${TUPLE_BYTES} as count,
           sum(length(rows) / ${TUPLE_BYTES}) over (order by place, id) as total, count(*) over () as found
    from (select id, operation_ids, place, rows from push_batch
          where account_id = $1 and set_aside_date is null order by place, id limit ${MAX_BATCHES}) waiting
  ) counted
  left join lateral (
    select extract(epoch from clock_timestamp() - accepted_date)::float8 as "waitedSec", now() as "takenDate",
           coalesce(member_request_ids[1], request_id) as "requestId"
    from push_operation where total = count and push_operation.id = "operationIds"[1]
  ) first on true
  where total <= $2 or total = count
  order by place, id`;

export interface WaitingBatch {
  readonly id: number;
  readonly readings: number;
  /** Seconds since its acceptance; null for all but the first batch. */
  readonly waitedSec: number | null;
  /** Request id of its first push (R-A10); null for all but the first batch. */
  readonly requestId: string | null;
  /** 64-bit integers, which the driver returns as texts. */
  readonly operationIds: readonly string[];
  /** Start of the transaction that takes it; null for all but the first batch. */
  readonly takenDate: string | null;
  /** Number of waiting batches, up to MAX_BATCHES, including those that did not fit. */
  readonly found: number;
}

/** Locks the queue of an account until the end of the transaction; every change of its batches needs this lock. */
export async function lockQueue(transaction: Transaction, accountId: number): Promise<void> {
  await transaction.query('select pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, accountId]);
}

/**
 * Finds the next batches of an account in the order of acceptance (R-D6). Requires `lockQueue`.
 * @param maxRows maximum number of readings; one batch is returned even if it is larger.
 */
export async function takeBatches(
  transaction: Transaction,
  accountId: number,
  maxRows: number,
): Promise<readonly WaitingBatch[]> {
  const { rows } = await transaction.query<WaitingBatch>(TAKE_BATCHES, [accountId, maxRows]);
  return rows;
}

/** @returns the COPY tuples of each batch, in order. */
export function readBatchRows(transaction: Transaction, ids: readonly number[]) {
  const text = `select rows from push_batch where id = any('{${ids.join()}}'::int8[]) order by place, id`;
  return readBytea(transaction, text);
}

/** Removes batches whose points the same transaction writes. Requires `lockQueue`. */
export async function deleteBatches(transaction: Transaction, ids: readonly number[]): Promise<void> {
  await transaction.query('delete from push_batch where id = any($1::int8[])', [ids]);
}

/**
 * Marks operations as being written (R-D7). On a busy machine the mark may be late; its date is the start of the transaction.
 * @param takenDate start of the transaction that writes them.
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

/** Ends operations as Completed and announces them, once each (R-D7). */
export async function completeOperations(transaction: Transaction, operationIds: readonly number[]): Promise<void> {
  await transaction.query(`select end_push_operations($1::int8[], 'Completed', null)`, [operationIds]);
}

/** @returns the accounts with waiting batches, for the sweeper: their wake-up may have been lost. */
export async function findWaitingAccounts(database: Database): Promise<readonly number[]> {
  const { rows } = await database.query<{ accountId: number }>(
    'select distinct account_id as "accountId" from push_batch where set_aside_date is null',
  );
  return rows.map(({ accountId }) => accountId);
}

const POLL_INTERVAL_MS = 50;

// Batches that are set aside wait for an operator and do not block.
const FIND_LAST = `
  select max(place) as place from push_batch where account_id = $1 and set_aside_date is null`;
const IS_WAITING = `
  select from push_batch where account_id = $1 and set_aside_date is null and place <= $2 limit 1`;

/**
 * Waits until the pushes accepted so far are written; does not wait for later ones.
 * @returns false if `signal` aborted first.
 */
export async function awaitPushes(queryable: Queryable, accountId: number, signal: AbortSignal): Promise<boolean> {
  const { rows } = await queryable.query<{ place: number | null }>(FIND_LAST, [accountId]);
  const place = rows[0]?.place ?? null;
  if (place === null) return true;
  while ((await queryable.query(IS_WAITING, [accountId, place])).rowCount !== 0) {
    if (signal.aborted) return false;
    await wait(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  return true;
}
