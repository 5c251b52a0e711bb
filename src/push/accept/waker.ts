/**
 * Wakes the ingester for accounts in the background. At most one call is in flight; accounts that are added
 * meanwhile share the next call. The first wake-up is immediate. The pause between calls grows with the rate of
 * pushes, so that thousands of small pushes per second are written in few large transactions. If a wake-up fails,
 * the ingester's sweeper finds the batches of the account.
 */
import type { Log } from '../../platform/log.ts';

export interface Waker {
  wake(accountId: number): void;
  /** Resolves when all wake-ups requested so far are sent. */
  close(): Promise<void>;
}

// A transaction of the ingester costs much more than storing a small push. At 2,000 pushes per second, the pause is
// about 10 ms.
const MIN_PAUSE_MS = 5;
const PAUSE_PER_PUSH_MS = 0.2;
const MAX_PAUSE_MS = 100;

/**
 * Opens the background waker of ingesters.
 * @param wakeAll wakes the ingester for accounts; at most one call is in flight.
 */
export function openWaker(wakeAll: (accountIds: readonly number[]) => Promise<unknown>, log: Log): Waker {
  const wanted = new Set<number>();
  let pushes = 0;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (wanted.size > 0) {
      const accountIds = [...wanted];
      wanted.clear();
      await wakeAll(accountIds).catch((error: unknown) => {
        log.warn({ err: error, accountIds }, 'the ingester could not be woken; its next sweep finds the batches');
      });
      const pauseMs = Math.min(MIN_PAUSE_MS + pushes * PAUSE_PER_PUSH_MS, MAX_PAUSE_MS);
      pushes = 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    // There must be no `await` between the last check of `wanted` and this line: `wake` could add an account in that
    // time, and no call would follow for it.
    running = undefined;
  };
  return {
    wake: (accountId) => {
      wanted.add(accountId);
      pushes += 1;
      running ??= run();
    },
    close: async () => {
      await running;
    },
  };
}
