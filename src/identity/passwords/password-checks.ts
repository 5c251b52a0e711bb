/**
 * Limits concurrent password checks of a process (R-B11, R-A14), because each check occupies a core and a thread. For
 * each client network, only one password is checked at a time. One thread of libuv's pool always stays free for other
 * work. One core stays free too, if the machine has several.
 */
import { availableParallelism } from 'node:os';
import { openFairSemaphore } from '../../platform/shares/fair-semaphore.ts';

// The default size of libuv's thread pool. All checks of a process share the pool, so the checks share one semaphore.
const POOL_THREADS = 4;
const MAX_WAIT_MS = 10_000;
const CHECK_MS = 40;

const turns = openFairSemaphore<string>({
  resource: 'concurrent password checks',
  holder: 'client network',
  permits: Math.max(1, Math.min(POOL_THREADS, availableParallelism()) - 1),
  permitsPerAccount: 1,
  waitersPerAccount: MAX_WAIT_MS / CHECK_MS,
  maxWaitMs: MAX_WAIT_MS,
});

/**
 * Runs `check`; the client networks take turns (R-A14).
 * @param network network of the client.
 * @throws {DomainError} when the network waits too long or has too many waiters. The code is rate_limited if another
 *   check of this network is running, otherwise dependency_unavailable.
 */
export async function checkInTurn<Result>(network: string, check: () => Promise<Result>): Promise<Result> {
  const leave = await turns.enter(network);
  try {
    return await check();
  } finally {
    leave();
  }
}
