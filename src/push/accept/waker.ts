/**
 * Wakes the ingester for accounts, without anybody waiting for it and with at most one call under way: what comes
 * meanwhile is woken together. The first is woken at once; the more comes, the longer the pause, so that thousands of
 * small pushes a second are written in a few large portions. A wake-up that fails is left to the ingester's sweeper.
 */
import type { Log } from '../../platform/log.ts';

export interface Waker {
  wake(accountId: number): void;
  /** Waits for the wake-ups asked for so far. */
  close(): Promise<void>;
}

// A portion costs as much as some hundred small pushes. Up to 2,000 pushes a second wait 10 ms at the most.
const MIN_PAUSE_MS = 5;
const PAUSE_PER_PUSH_MS = 0.2;
const MAX_PAUSE_MS = 100;

export function openWaker(wakeAll: (accountIds: readonly number[]) => Promise<unknown>, log: Log): Waker {
  const wanted = new Set<number>();
  let pushes = 0;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (wanted.size > 0) {
      const accountIds = [...wanted];
      wanted.clear();
      await wakeAll(accountIds).catch((error: unknown) => {
        log.warn({ err: error, accountIds }, 'the ingester was not woken; its sweeper finds the batch');
      });
      const pauseMs = Math.min(MIN_PAUSE_MS + pushes * PAUSE_PER_PUSH_MS, MAX_PAUSE_MS);
      pushes = 0;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    // In the same step as the last look at what is wanted.
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
