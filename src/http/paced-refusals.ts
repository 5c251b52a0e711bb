/**
 * Makes it cheap to refuse requests above a rate limit (R-B15, R-A14).
 * - When a key has exceeded its limit, refuses further requests of the key without asking Redis, until the next request
 *   may pass.
 * - Sends one refusal per key every 10 ms, so that a flood of requests does not occupy the event loop.
 * - Delays at most 200 refusals per key and 2,000 in total, because a delayed request stays in memory.
 * - Sends all further refusals immediately.
 */
import { openBoundedCache } from '../platform/bounded-cache.ts';
import { MAX_KEYS, type RateLimiter } from './rate-limiter.ts';
import { costMs } from './rate-rules.ts';

export interface PacedLimiter extends RateLimiter {
  /**
   * @returns true when, in the last 4 s, a refusal was sent without a delay because the key already had the maximum of
   *   200 delayed refusals.
   */
  isFlooded(key: string): boolean;
}

interface Refused {
  /**
   * Instant from which a request of cost 0 may pass. A request with a higher cost may pass from `freeAtMs` plus its
   * `costMs`.
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

/** Wraps a limiter, so that refusals of requests with the same key are returned 10 ms apart. */
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
