/** What the ingester does with batches that cannot be written, step by step. */
import { ingestPortion } from '../../src/ingest/ingest-account.ts';
import { noteFailedBatch } from '../../src/ingest/set-aside.ts';
import type { Database } from '../../src/platform/database/database.ts';

/** Writes the batches of an account one by one, and notes what fails, so many times. */
export async function ingestNotingFailures(database: Database, accountId: number, attempts: number): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    let taken: readonly number[] = [];
    const take = (batchIds: readonly number[]) => {
      taken = batchIds;
    };
    try {
      while ((await ingestPortion(database, accountId, 1, take)).batches > 0);
    } catch (error) {
      await noteFailedBatch(database, accountId, taken[0], error);
    }
  }
}

/** The batch that is next. */
export async function firstBatchOf(database: Database, accountId: number): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    'select id from push_batch where account_id = $1 and set_aside_date is null order by place, id limit 1',
    [accountId],
  );
  return rows[0]?.id ?? 0;
}
