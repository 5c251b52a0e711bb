/**
 * Periodic upkeep: announces time-outs of operations (R-D7), and deletes old operations (R-D8) and old rows of
 * `write_origin`.
 */
import { type Database, withTransaction } from '../../platform/database/database.ts';

const BATCHES_PER_PASS = 1000;
const OPERATIONS_PER_PASS = 5000;

/**
 * Announces operations that did not end within their time-out, each operation once; a call
 * announces a limited number (R-D7).
 * @returns true when the function must be called again.
 */
export async function announceLateOperations(database: Database): Promise<boolean> {
  return withTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ count: number }>('select announce_late_push_operations($1) as count', [
      BATCHES_PER_PASS,
    ]);
    return (rows[0]?.count ?? 0) > 0;
  });
}

const ORIGINS_PER_PASS = 10_000;

/**
 * Deletes old rows of `write_origin`: rows of pushes that are older than `days` days, and rows of files that are older
 * than `fileDays` days. One call deletes a limited number of rows.
 * @returns the number of deleted rows; 0 when no row is left to delete.
 */
export async function purgeOldOrigins(database: Database, days: number, fileDays: number): Promise<number> {
  const { rowCount } = await database.query(
    `delete from write_origin where ctid = any(array(
       select ctid from write_origin
       where version_timestamp < now() - make_interval(days => least($1::int, $2::int))
         and version_timestamp < now() - make_interval(days => case when file_id is null then $1::int else $2::int end)
       limit $3))`,
    [days, fileDays, ORIGINS_PER_PASS],
  );
  return rowCount ?? 0;
}

/**
 * Deletes ended operations that were accepted more than `days` days ago, with their rejected elements (R-D8). One call
 * deletes a limited number of operations. Keeps operations whose batch is set aside.
 * @returns the number of deleted operations; 0 when no operation is left to delete.
 */
export async function purgeOldOperations(database: Database, days: number): Promise<number> {
  const { rowCount } = await database.query(
    `delete from push_operation where id in (
       select id from push_operation
       where accepted_date < now() - make_interval(days => $1) and state in ('Completed', 'Rejected', 'Failed')
         and not exists (select from push_batch where set_aside_date is not null and push_operation.id = any(operation_ids))
       limit $2)`,
    [days, OPERATIONS_PER_PASS],
  );
  return rowCount ?? 0;
}
