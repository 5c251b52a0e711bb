/**
 * A batch that cannot be written must not hold up those behind it for ever, and must not be lost either. After a few
 * attempts, alone in its transaction, it is set aside: its operation is Failed and says why, its readings are kept.
 */
import { type Database, withTransaction } from '../platform/database.ts';

const MAX_ATTEMPTS = 5;
const MAX_REASON_CHARACTERS = 1000;

/**
 * Notes that the first waiting batch of an account could not be written.
 * @returns whether it was set aside now.
 */
export async function noteFailedBatch(database: Database, accountId: number, error: unknown): Promise<boolean> {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_CHARACTERS);
  return withTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ operationId: number; attempts: number }>(
      `update push_batch
       set attempts = attempts + 1,
           set_aside_date = case when attempts + 1 >= $2 then clock_timestamp() end
       where id = (select id from push_batch where account_id = $1 and set_aside_date is null order by place limit 1)
       returning operation_id as "operationId", attempts`,
      [accountId, MAX_ATTEMPTS],
    );
    const [batch] = rows;
    if (!batch || batch.attempts < MAX_ATTEMPTS) return false;
    await transaction.query(
      `update push_operation set state = 'Failed', failure = $2, completed_date = clock_timestamp() where id = $1`,
      [batch.operationId, reason],
    );
    return true;
  });
}
