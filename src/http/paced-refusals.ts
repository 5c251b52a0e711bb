/**
 * Makes it cheap to refuse requests above a rate limit (R-B15, R-A14). When the budget of a key is used up, this module
 * remembers when the next request of the key may pass. Until then, this module refuses the requests of the key without
 * asking Redis. It delays the refusals, so that each key gets one refusal every 10 ms. A client that sends requests
 * without a pause then waits for the refusals instead of occupying the event loop. A request stays in memory while its
 * refusal is delayed. So this module delays at most 200 refusals for one key and 2,000 refusals in total, and sends any
 * further refusal immediately. Keys do not delay each other. `rate-limiter.ts` decides which requests pass.
 */
import { openBoundedCache } from '../platform/bounded-cache.ts';
import { MAX_KEYS, type RateLimiter } from './rate-limiter.ts';
import { costMs } from './rate-rules.ts';

export interface PacedLimiter extends RateLimiter {
  /**
   * @returns true when, in the last 4 s, a refusal for the key was sent without a delay. The delay is skipped when 200
   *   refusals for the key are already being delayed. This number shows that the clients send requests without waiting
   *   for refusals.
   */
  isFlooded(key: string): boolean;
}

interface Refused {
  /**
   * Instant from which a request of cost 0 is admitted. A request of a higher cost is admitted later, at this instant
   * plus `costMs`.
   */
  readonly freeAtMs: number;
  /** Instant at which the next refusal may be sent. */
  readonly nextAtMs: number;
  readonly floodedUntilMs: number;
}

const SPACING_MS = 10;
const MAX_DELAY_MS = 200 * SPACING_MS;
const MAX_WAITING = 2000;
// Time for which a key counts as flooded. It is longer than the delay of a refusal, so that the key stays flooded while
// its refusals are delayed.
const FLOODED_MS = 2 * MAX_DELAY_MS;

/** Wraps a limiter. When `count` refuses several requests of the same key, it returns the refusals 10 ms apart. */
export function paceRefusals(limiter: RateLimiter): PacedLimiter {
  const refusals = openBoundedCache<string, Refused>(MAX_KEYS);
  let waiting = 0;
  const findWait = (key: string, perMinute: number, cost: number): number => {
    const known = refusals.get(key);
    return known ? Math.max(0, Math.ceil(known.freeAtMs + costMs(perMinute, cost) - Date.now())) : 0;
  };
  /** @returns milliseconds after which the refusal may be sent. */
  const planRefusal = (key: string, freeInMs: number): number => {
    const nowMs = Date.now();
    const known = refusals.get(key);
    const delayMs = Math.max(0, (known?.nextAtMs ?? 0) - nowMs);
    const isFlooded = delayMs > MAX_DELAY_MS;
    const isWaiting = !isFlooded && waiting < MAX_WAITING;
    refusals.set(key, {
      freeAtMs: nowMs + freeInMs,
      nextAtMs: nowMs + delayMs + (isWaiting ? SPACING_MS : 0),
      floodedUntilMs: isFlooded ? nowMs + FLOODED_MS : (known?.floodedUntilMs ?? 0),
    });
    return isWaiting ? delayMs : 0;
  };
  return {
    ...limiter,
    count: async (key, perMinute, cost = 1) => {
      const waitMs = findWait(key, perMinute, cost) || (await limiter.count(key, perMinute, cost));
      if (waitMs === 0) return 0;
      const delayMs = planRefusal(key, waitMs - costMs(perMinute, cost));
      if (delayMs === 0) return waitMs;
      waiting += 1;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      waiting -= 1;
      return Math.max(1, waitMs - delayMs);
    },
    isFlooded: (key) => (refusals.get(key)?.floodedUntilMs ?? 0) > Date.now(),
  };
}
