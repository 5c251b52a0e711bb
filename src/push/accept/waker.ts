/**
 * Wakes the ingester in the background, for one or more accounts per call. The pause between calls grows with the rate
 * of pushes, so the ingester writes many small pushes in few transactions. If a call fails, the ingester's sweeper
 * finds the batches.
 */
import type { Log } from '../../platform/log.ts';

export interface Waker {
  wake(accountId: number): void;
  /** Resolves when all wake-ups requested so far were sent or failed. */
  close(): Promise<void>;
}

// During a pause, pushes wait for one common transaction of the ingester, because a transaction costs much more than
// storing a small push. At 2,000 pushes per second, the pause is about 10 ms.
const MIN_PAUSE_MS = 5;
const PAUSE_PER_PUSH_MS = 0.2;
const MAX_PAUSE_MS = 100;

/**
 * Opens a waker, which wakes the ingester in the background.
 * @param wakeAll wakes the ingester for the given accounts; the waker makes one call at a time.
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
    // Do not `await` between the last check of `wanted` and this line. Otherwise an account that `wake` adds during the
    // `await` could wait until the next push.
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
