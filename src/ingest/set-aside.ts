/**
 * A batch that cannot be written must not hold up those behind it for ever, and must not be lost either. One that carries
 * several pushes is taken apart first, so that only the one to blame is left behind. After a few attempts, alone in its
 * transaction, that one is set aside: its operation is Failed and says why, its readings are kept.
 *
 * Two ingesters may be at the same account, one after the other. So the failed one is looked at again under their lock, and
 * by its id: the next may have written it meanwhile, and what it is writing must be neither taken apart nor set aside.
 */
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { TUPLE_BYTES } from '../points/copy-codec.ts';
import { lockIngest } from './ingest-account.ts';

const MAX_ATTEMPTS = 5;
const MAX_REASON_CHARACTERS = 1000;

const FIRST = `
  select id from push_batch where account_id = $1 and set_aside_date is null order by place, id limit 1`;

const NOTE = `
  update push_batch
  set attempts = attempts + 1,
      set_aside_date = case when attempts + 1 >= $2 and cardinality(operation_ids) <= 1 then clock_timestamp() end
  where id = $1
  returning id, operation_ids as "operationIds", attempts`;

// Of one place, ids are the order; they ascend with the operations.
const TAKE_APART = `
  with whole as (delete from push_batch where id = $1 returning *)
  insert into push_batch (account_id, place, operation_ids, reading_counts, rows, deadline)
  select account_id, place, array[operation_id], array[count],
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
 * Notes that a batch could not be written, which is the first of its account unless others have dealt with it.
 * @param batchId undefined: the failure came before any was taken, and is nobody's.
 * @returns whether it was set aside now.
 */
export async function noteFailedBatch(
  database: Database,
  accountId: number,
  batchId: number | undefined,
  error: unknown,
): Promise<boolean> {
  if (batchId === undefined) return false;
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS);
  return withTransaction(database, (transaction) => note(transaction, accountId, batchId, reason));
}

async function note(transaction: Transaction, accountId: number, batchId: number, reason: string): Promise<boolean> {
  await lockIngest(transaction, accountId);
  const first = await transaction.query<{ id: number }>(FIRST, [accountId]);
  if (first.rows[0]?.id !== batchId) return false;
  await transaction.query('select part_push_operations($1)', [accountId]);
  const { rows } = await transaction.query<NotedBatch>(NOTE, [batchId, MAX_ATTEMPTS]);
  const [batch] = rows;
  if (!batch) return false;
  if (batch.operationIds.length > 1) await transaction.query(TAKE_APART, [batch.id]);
  if (batch.operationIds.length > 1 || batch.attempts < MAX_ATTEMPTS) return false;
  await transaction.query(`select end_push_operations($1::int8[], 'Failed', $2)`, [batch.operationIds, reason]);
  return true;
}
