/**
 * Handles batches whose data cannot be written. Such a batch must neither block later batches nor get lost. A batch of
 * several pushes is split first, so that only the faulty push is affected. After MAX_ATTEMPTS failed attempts to write
 * a batch of one push, the batch is set aside as a dead letter: ingesters skip it, its operation is Failed with the
 * reason, and its readings are kept (R-K3). `retryBatches` queues it again. Faults of the service, such as an
 * unreachable database, do not count as attempts (R-A15), so callers must not call `noteFailedBatch` for them.
 *
 * Several transactions may write batches of one account. So `noteFailedBatch` locks the failed batch and checks that it
 * is still in the queue, because another transaction may have written it meanwhile.
 */
import { type Database, type Queryable, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { sqlStateOf } from '../../platform/database/dependency-error.ts';
import { DomainError } from '../../platform/errors.ts';
import { TUPLE_BYTES } from '../../points/copy-codec.ts';

const MAX_ATTEMPTS = 5;
const MAX_REASON_CHARACTERS = 1000;

const LOCK = `
  select from push_batch where account_id = $1 and id = $2 and set_aside_date is null for update`;

const NOTE = `
  update push_batch
  set attempts = attempts + 1,
      set_aside_date = case when attempts + 1 >= $2 and cardinality(operation_ids) <= 1 then clock_timestamp() end
  where id = $1
  returning id, operation_ids as "operationIds", attempts`;

// Splits a batch into one batch per operation. The new batches keep the `place` (position in the queue) and the
// variables of the whole batch; batches with the same place are ordered by id, which is the order of the operations.
const SPLIT = `
  with whole as (delete from push_batch where id = $1 returning *)
  insert into push_batch (account_id, place, operation_ids, reading_counts, variables, rows, deadline)
  select account_id, place, array[operation_id], array[count], variables,
         substring(rows from (${TUPLE_BYTES} * (total - count) + 1)::int for ${TUPLE_BYTES} * count), deadline
  from (
    select whole.*, part.operation_id, part.count, sum(part.count) over (order by ordinal) as total, ordinal
    from whole, unnest(operation_ids, reading_counts) with ordinality part (operation_id, count, ordinal)
  ) parts
  order by ordinal`;

interface NotedBatch {
  readonly id: number;
  readonly operationIds: readonly string[];
  readonly attempts: number;
}

/**
 * Counts a failed attempt to write a queued batch of an account. A batch of several pushes is split into one batch per
 * push at its first failed attempt. A batch of one push becomes a dead letter after MAX_ATTEMPTS failed attempts (R-K3,
 * R-A15).
 * @param batchId undefined when the error occurred before a batch was read from the queue, so no batch is at fault.
 * @returns true when this call made the batch a dead letter.
 */
export async function noteFailedBatch(
  database: Database,
  accountId: number,
  batchId: number | undefined,
  error: unknown,
): Promise<boolean> {
  if (batchId === undefined) return false;
  const reason = describeFailure(error).slice(0, MAX_REASON_CHARACTERS);
  return withTransaction(database, (transaction) => note(transaction, accountId, batchId, reason));
}

/**
 * Returns the reason that clients see. The reason contains no message from the database, because such a message may
 * contain values of other pushes and names of tables.
 */
function describeFailure(error: unknown): string {
  if (error instanceof DomainError) return error.message;
  const state = sqlStateOf(error);
  const cause = state === undefined ? 'an internal error' : `the database refused the readings with SQLSTATE ${state}`;
  return `the readings could not be written: ${cause}; the service keeps the push, so replay the operation to try again`;
}

async function note(transaction: Transaction, accountId: number, batchId: number, reason: string): Promise<boolean> {
  if ((await transaction.query(LOCK, [accountId, batchId])).rowCount === 0) return false;
  await transaction.query('select part_push_batch($1)', [batchId]);
  const { rows } = await transaction.query<NotedBatch>(NOTE, [batchId, MAX_ATTEMPTS]);
  const [batch] = rows;
  if (!batch) return false;
  if (batch.operationIds.length > 1) await transaction.query(SPLIT, [batch.id]);
  if (batch.operationIds.length > 1 || batch.attempts < MAX_ATTEMPTS) return false;
  await transaction.query(`select end_push_operations($1::int8[], 'Failed', $2, $3::int8[])`, [
    batch.operationIds,
    reason,
    [batch.id],
  ]);
  return true;
}

const RETRY = `
  with taken as (
    update push_batch set set_aside_date = null, attempts = 0
    where set_aside_date is not null and ($1::int8[] is null or operation_ids && $1) and ($2::int is null or account_id = $2)
    returning account_id, operation_ids
  ), retried as (
    update push_operation set state = 'Queued', failure = null, started_date = null, completed_date = null,
                              announced_date = null
    where id in (select unnest(operation_ids) from taken)
    returning accepted_elements as elements, accepted_readings as readings
  )
  select (select coalesce(sum(elements), 0) from retried)::int as elements,
         (select coalesce(sum(readings), 0) from retried)::int as readings,
         (select count(*) from taken)::int as batches, array(select distinct account_id from taken) as "accountIds"`;

export interface RetriedBatches {
  readonly batches: number;
  readonly elements: number;
  readonly readings: number;
  /** Ids of the accounts for which the caller must wake the ingester. */
  readonly accountIds: readonly number[];
}

/**
 * Puts dead letters (batches set aside after failed attempts) back into the queue at their old `place`. Their
 * operations become Queued. When such an operation ends, its end is announced again (R-D7, R-A15).
 * @param filter an empty filter selects the batches of all accounts.
 */
export async function retryBatches(
  queryable: Queryable,
  { operationIds, accountId }: { readonly operationIds?: readonly number[]; readonly accountId?: number },
): Promise<RetriedBatches> {
  const { rows } = await queryable.query<RetriedBatches>(RETRY, [operationIds ?? null, accountId ?? null]);
  return rows[0] ?? { batches: 0, elements: 0, readings: 0, accountIds: [] };
}
