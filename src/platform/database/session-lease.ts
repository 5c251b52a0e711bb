/**
 * Leases, held as session advisory locks. The server ends a session that is silent for LEASE_MS, so a crashed or suspended
 * process loses its locks. The holder works in the session of the lock, so the holder cannot commit after the lease has
 * ended.
 */
import type { Connection } from './database.ts';
import { LEASE_MS, RENEWAL_MS } from './row-leases.ts';

const TAKE = `select pg_try_advisory_lock($1, $2) as "isLocked", set_config('idle_session_timeout', $3, false)`;
const RELEASE = `select pg_advisory_unlock($1, $2), set_config('idle_session_timeout', '0', false)`;
const RESET = `select set_config('idle_session_timeout', '0', false)`;

/**
 * Runs `work` while the session of `connection` holds the advisory lock (`lockClass`, `key`). Keeps the session alive
 * while `work` runs.
 * @returns undefined, without running `work`, when another session holds the lock.
 */
export async function withLease<Result>(
  connection: Connection,
  lockClass: number,
  key: number,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const { rows } = await connection.query<{ isLocked: boolean }>(TAKE, [lockClass, key, String(LEASE_MS)]);
  if (!rows[0]?.isLocked) {
    await connection.query(RESET);
    return undefined;
  }
  // Ignores a failed renewal: `work` uses the same session, so the next statement of `work` fails too.
  const timer = setInterval(() => void connection.query('select 1').catch(() => {}), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await connection.query(RELEASE, [lockClass, key]);
  }
}
