/**
 * Wakes webhooks when their next try is due: the sweeper alone would be up to an interval late. Only what is due soon has a
 * timer; the rest, and what a process that died had timers for, is found by the sweeper.
 */
export interface DueTimers {
  /** One timer a webhook: the latest word counts. */
  set(webhookId: string, delayMs: number): void;
  stop(): void;
}

/** Further off than this the sweeper is early enough to set the timer, or to do without. */
const MAX_DELAY_MS = 60_000;

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
