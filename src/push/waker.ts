/**
 * Wakes the ingester for accounts, without anybody waiting for it and with at most one call under way: what comes
 * meanwhile is woken together. A wake-up that fails is left to the ingester's sweeper.
 */
import type { Log } from '../platform/log.ts';

export interface Waker {
  wake(accountId: number): void;
  /** Waits for the wake-ups asked for so far. */
  close(): Promise<void>;
}

// A wake-up costs more than a small push; so many of them are enough, whatever is pushed.
const PAUSE_MS = 5;

export function openWaker(wakeAll: (accountIds: readonly number[]) => Promise<void>, log: Log): Waker {
  const wanted = new Set<number>();
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (wanted.size > 0) {
      const accountIds = [...wanted];
      wanted.clear();
      await wakeAll(accountIds).catch((error: unknown) => {
        log.warn({ err: error, accountIds }, 'the ingester was not woken; its sweeper finds the batch');
      });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    // In the same step as the last look at what is wanted.
    running = undefined;
  };
  return {
    wake: (accountId) => {
      wanted.add(accountId);
      running ??= run();
    },
    close: async () => {
      await running;
    },
  };
}
