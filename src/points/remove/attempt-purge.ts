/**
 * Queue of background purges, one entry per variable, processed in the order of request. A purge that fails is retried
 * after a growing delay (one minute to one day), so it does not delay other purges.
 */
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';

export type PurgeTable = 'point_purge' | 'version_purge';

const PURGE_TIMEOUT_MS = 600_000;

const takeFrom = (table: PurgeTable) => `
  select variable_id as "variableId" from ${table} where next_attempt_date <= clock_timestamp()
  order by greatest(requested_date, next_attempt_date), variable_id limit 1 for update skip locked`;

// Statement that delays the retry of a purge: by a minute after the first failure, by twice the last delay after each
// further failure, at most by a day.
const postpone = (table: PurgeTable) => `
  update ${table}
  set attempt_count = attempt_count + 1,
      next_attempt_date = clock_timestamp() + least(interval '1 minute' * 2 ^ least(attempt_count, 20), interval '1 day')
  where variable_id = $1`;

/**
 * Runs one step of the next due purge in its own transaction.
 * @param work returns true when the purge is complete; its queue entry is then deleted.
 * @returns false when no purge is due.
 * @throws the error of `work`; the purge is postponed.
 */
export async function attemptPurge(
  database: Database,
  table: PurgeTable,
  work: (transaction: Transaction, variableId: number) => Promise<boolean>,
): Promise<boolean> {
  let taken: number | undefined;
  const attempt = async (transaction: Transaction): Promise<void> => {
    const { rows } = await transaction.query<{ variableId: number }>(takeFrom(table));
    taken = rows[0]?.variableId;
    if (taken === undefined || !(await work(transaction, taken))) return;
    await transaction.query(`delete from ${table} where variable_id = $1`, [taken]);
  };
  try {
    await withTransaction(database, attempt, { statementTimeoutMs: PURGE_TIMEOUT_MS });
  } catch (error) {
    if (taken !== undefined) await database.query(postpone(table), [taken]);
    throw error;
  }
  return taken !== undefined;
}
