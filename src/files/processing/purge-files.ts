/** Removes files whose retention is over, with their bytes and errors, and what is left of uploads that were cut off. */
import type { Database } from '../../platform/database/database.ts';

// Hours after which an upload that is not complete never will be.
const UPLOAD_HOURS = 6;
const FILES_PER_PASS = 10;

/** @returns how many were removed; call again until it is 0. */
export async function purgeFiles(database: Database, retentionDays: number): Promise<number> {
  const { rowCount } = await database.query(
    `delete from stored_file where id in (
       select id from stored_file
       where state in ('Completed', 'Failed') and uploaded_date < now() - $1 * interval '1 day'
          or state = 'Uploading' and uploaded_date < now() - $2 * interval '1 hour'
       limit $3 for update skip locked)`,
    [retentionDays, UPLOAD_HOURS, FILES_PER_PASS],
  );
  return rowCount ?? 0;
}
