/**
 * Leases on session advisory locks. The server ends a session that is silent for LEASE_MS and so releases its locks: a
 * process that is stopped, gone or cut off does not keep them. Work of the holder is fenced by using the same session:
 * once the lease is lost, none of it can be committed.
 */
import type { Connection } from './database.ts';

const LEASE_MS = 6000;
const RENEWAL_MS = 2000;

const TAKE = `select pg_try_advisory_lock($1, $2) as "isLocked", set_config('idle_session_timeout', $3, false)`;
const RELEASE = `select pg_advisory_unlock($1, $2), set_config('idle_session_timeout', '0', false)`;
const RESET = `select set_config('idle_session_timeout', '0', false)`;

/**
 * Runs `work` while this session holds the advisory lock (`lockClass`, `key`). The lease is renewed in the background.
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
  // Ignores a failed renewal: `work` uses the same session, so its next statement fails too.
  const timer = setInterval(() => void connection.query('select 1').catch(() => {}), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await connection.query(RELEASE, [lockClass, key]);
  }
}
