/** Deletes files beyond their retention, with content and row errors, and the remains of interrupted uploads. */
import type { Database } from '../../platform/database/database.ts';

// An upload that is incomplete after this many hours was interrupted.
const MAX_UPLOAD_HOURS = 6;
const FILES_PER_PASS = 10;

/** Deletes at most 10 files, so that locks stay short. @returns number of files deleted; call again until it is 0. */
export async function purgeFiles(database: Database, retentionDays: number): Promise<number> {
  const { rowCount } = await database.query(
    `delete from stored_file where id in (
       select id from stored_file
       where state in ('Completed', 'Failed') and uploaded_date < now() - $1 * interval '1 day'
          or state = 'Uploading' and uploaded_date < now() - $2 * interval '1 hour'
       limit $3 for update skip locked)`,
    [retentionDays, MAX_UPLOAD_HOURS, FILES_PER_PASS],
  );
  return rowCount ?? 0;
}
