/**
 * After a fault of the service, delays the next attempt to do a piece of work (R-A15). A key, such as an account id,
 * identifies the work. The delay has jitter, and grows exponentially with each failure of this work. Each process keeps
 * its own delays in memory. A restart forgets the delays. This only makes the next attempt earlier, because the work
 * itself is in the database.
 */
export interface BackOff {
  /** Whether the work that the key identifies may be attempted now. */
  isDue(key: string): boolean;
  /** Records a failure. @returns milliseconds until the key is due again. */
  failed(key: string): number;
  /** Forgets the failures of the key. */
  succeeded(key: string): void;
}

export interface BackOffOptions {
  /**
   * Delay after the first failure. Each further failure doubles the delay, up to `maxMs`. Each delay is then
   * multiplied by a random factor from 0.5 to 1.
   */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Reads a monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** @returns a random number, uniform in [0, 1). */
  readonly random: () => number;
}

/** Delays of work on an account after a fault of the database or another dependency. */
export const ACCOUNT_DELAYS = { baseMs: 250, maxMs: 10_000 } as const;

/** Creates a back-off that has recorded no failure yet, so the work on every key may be tried immediately (R-A15). */
export function createBackOff({ baseMs, maxMs, nowMs, random }: BackOffOptions): BackOff {
  const failures = new Map<string, { readonly count: number; readonly dueMs: number }>();
  return {
    isDue: (key) => nowMs() >= (failures.get(key)?.dueMs ?? Number.NEGATIVE_INFINITY),
    failed: (key) => {
      const count = (failures.get(key)?.count ?? 0) + 1;
      const delayMs = Math.min(baseMs * 2 ** (count - 1), maxMs) * (0.5 + random() / 2);
      failures.set(key, { count, dueMs: nowMs() + delayMs });
      return delayMs;
    },
    succeeded: (key) => void failures.delete(key),
  };
}
