/** Waits for the database when a process starts: an orchestrator may start both at the same time (R-K3). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { throttle } from '../throttle.ts';
import type { Queryable } from './database.ts';
import { isDependencyError } from './dependency-error.ts';

const RETRY_MS = 500;
const WARN_INTERVAL_MS = 60_000;

/**
 * Resolves once the database answers.
 * @throws the error of the database when waiting cannot help, such as a wrong password; the reason of `signal` on a stop.
 */
export async function waitForDatabase(database: Queryable, log: Log, signal: AbortSignal): Promise<void> {
  const warn = throttle(WARN_INTERVAL_MS, (error: unknown) =>
    log.warn({ err: error }, 'the database is unreachable; the start continues when it answers'),
  );
  for (;;) {
    signal.throwIfAborted();
    try {
      await database.query('select 1');
      return;
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      warn(error);
    }
    await pause(RETRY_MS, undefined, { signal });
  }
}
