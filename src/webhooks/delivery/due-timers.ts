/**
 * Timers that wake webhooks when their next attempt is due, without the delay of the sweeper. Only attempts due within
 * a minute have a timer; the sweeper finds later attempts, and attempts whose timer ended with its process.
 */
export interface DueTimers {
  /** Replaces the timer of a webhook; sets none when `delayMs` exceeds a minute. */
  set(webhookId: string, delayMs: number): void;
  stop(): void;
}

const MAX_DELAY_MS = 60_000;

/** Opens the timers of a deliverer. @param wake called when a timer fires. */
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
