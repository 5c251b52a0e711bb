/**
 * Ends database sessions whose client process was suspended or crashed while it sent rows (COPY FROM STDIN). Such a
 * session counts as active, so `idle_in_transaction_session_timeout` does not end it, and its locks would block other
 * sessions until its statement times out. The transaction is rolled back; the next sweep of the database finds the
 * unfinished work, which is then repeated.
 */
import type { Queryable } from './database.ts';

/**
 * A session that waits for rows from its client is ended when it has received no byte for this number of milliseconds.
 */
export const SILENCE_MS = 5000;

const FIND_WAITING = `
  select activity.pid, coalesce(copy.bytes_processed, 0)::int8 as bytes
  from pg_stat_activity activity left join pg_stat_progress_copy copy on copy.pid = activity.pid
  where activity.datname = current_database() and activity.usename = current_user
    and activity.application_name like 'tidemark%' and activity.state = 'active'
    and activity.wait_event_type = 'Client' and activity.wait_event = 'ClientRead'`;

interface Waiting {
  readonly pid: number;
  readonly bytes: number;
}

/** @returns a function to call about every second; it resolves to the process ids of the sessions it ended. */
export function createStalledSessionEnder(database: Queryable): () => Promise<readonly number[]> {
  let known = new Map<number, { readonly bytes: number; readonly sinceMs: number }>();
  return async () => {
    const { rows } = await database.query<Waiting>(FIND_WAITING);
    const now = performance.now();
    known = new Map(
      rows.map(({ pid, bytes }) => {
        const before = known.get(pid);
        return [pid, before?.bytes === bytes ? before : { bytes, sinceMs: now }];
      }),
    );
    const stalled = [...known].filter(([, { sinceMs }]) => now - sinceMs >= SILENCE_MS).map(([pid]) => pid);
    if (stalled.length > 0)
      await database.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [stalled]);
    return stalled;
  };
}
