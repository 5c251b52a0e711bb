/**
 * Timers that wake a webhook as soon as its next attempt is due, so that the attempt need not wait for the sweeper.
 * Only an attempt that is due within a minute has a timer. The sweeper finds later attempts, and attempts whose timer
 * was lost because the process ended.
 */
export interface DueTimers {
  /** Cancels the timer of a webhook. Sets a new one unless `delayMs` exceeds a minute. */
  set(webhookId: string, delayMs: number): void;
  stop(): void;
}

const MAX_DELAY_MS = 60_000;

/** Creates the timers of a deliverer. @param wake function that a timer calls when it fires. */
export function openDueTimers(wake: (webhookId: string) => void): DueTimers {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    set: (webhookId, delayMs) => {
      clearTimeout(timers.get(webhookId));
      timers.delete(webhookId);
      if (delayMs > MAX_DELAY_MS) return;
      const fire = () => {
        timers.delete(webhookId);
        wake(webhookId);
      };
      timers.set(webhookId, setTimeout(fire, delayMs));
    },
    stop: () => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
