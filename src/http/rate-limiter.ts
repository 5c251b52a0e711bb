/**
 * Counts the requests of all processes together in Redis (R-B15). While Redis is unavailable, each process counts its
 * own requests, because an outage of Redis must not make the limiter refuse requests.
 *
 * `rate-limiter-flexible` 11.4 is not used, because it counts in fixed windows: with a limit of 60 it admits 119
 * requests within 5 s around the end of a window and then refuses for up to 60 s; this limiter admits 64 and refuses
 * for 1 s.
 */
import { openBoundedCache } from '../platform/bounded-cache.ts';
import type { Log } from '../platform/log.ts';
import { openRedis } from '../platform/redis.ts';
import { costMs, planRequest } from './rate-rules.ts';

export interface RateLimiter {
  /**
   * Counts a request against the limit of `key`.
   * @param cost number of requests that this request counts as; default: 1.
   * @returns milliseconds to wait; 0 when the request passes.
   */
  count(key: string, perMinute: number, cost?: number): Promise<number>;
  /**
   * Counts a request in memory immediately, and in Redis within 0.2 s, in a batch with other requests. So the processes
   * together may exceed the limit by as many requests as they receive within 0.2 s.
   * @returns false when the request exceeds the limit; it is then not counted.
   */
  countInMemory(key: string, perMinute: number, cost: number): boolean;
  /**
   * @returns true when, by the counts of this process, at least half of the limit is left after the request. Then the
   * caller need not ask Redis.
   */
  isHalfFree(key: string, perMinute: number, cost: number): boolean;
  close(): void;
}

export interface RateLimiterOptions {
  readonly redisUrl: string;
  /** Prefix of keys in Redis. Processes with the same prefix share limits. */
  readonly prefix: string;
  readonly log: Log;
}

/**
 * Time-out of the Redis commands of this limiter. Shorter than the usual 2 s, because requests wait for these commands.
 */
const COMMAND_TIMEOUT_MS = 500;
/**
 * Maximum number of keys that one process holds. A further key replaces the least recently used key, and the process
 * forgets the requests of the replaced key.
 */
export const MAX_KEYS = 100_000;

const SETTLE_MS = 200;
/** Half of a budget. A budget is 60,000 ms; a request uses up `costMs` of it (rate-rules.ts). */
const HALF_MS = 30_000;

// Does the same as `planRequest` of rate-rules.ts with the clock of Redis, because the clocks of processes differ.
// - ARGV, in ms: cost of this request; cost of earlier requests that were counted only in memory.
// - Returns, in ms: time to wait; time until the key has its whole budget again.
const COUNT = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + ARGV[2]
  local wait = full + ARGV[1] - now - 60000
  if wait > 0.000001 then wait = math.ceil(wait) else
    wait = 0
    full = full + ARGV[1]
  end
  if full > now then redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now)) end
  return { wait, math.ceil(full - now) }`;

// Adds to each key the cost that was counted for it in memory. Returns, for each key, the milliseconds until it has its
// whole budget again.
const SETTLE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local waits = {}
  for i = 1, #KEYS do
    local after = math.max(tonumber(redis.call('GET', KEYS[i]) or now), now) + ARGV[i]
    redis.call('SET', KEYS[i], string.format('%.3f', after), 'PX', math.ceil(after - now))
    waits[i] = math.ceil(after - now)
  end
  return waits`;

/** Opens a limiter with a Redis connection of its own (R-B15). `close()` ends the connection. */
export function openRateLimiter({ redisUrl, prefix, log }: RateLimiterOptions): RateLimiter {
  const redis = openRedis({ redisUrl, use: 'command', purpose: 'rate limits', log });
  redis.options.commandTimeout = COMMAND_TIMEOUT_MS;
  const keyOf = (key: string): string => `${prefix}:rate:${key}`;
  const meters = openLocalMeters((keys, addedMs) =>
    redis.status === 'ready'
      ? (redis.eval(SETTLE, keys.length, ...keys.map(keyOf), ...addedMs) as Promise<readonly number[]>)
      : Promise.resolve(undefined),
  );
  return {
    count: async (key, perMinute, cost = 1) => {
      if (redis.status !== 'ready') return meters.count(key, perMinute, cost);
      const unsettledMs = meters.takeUnsettled(key);
      try {
        const reply = await redis.eval(COUNT, 1, keyOf(key), costMs(perMinute, cost), unsettledMs);
        const [waitMs, fullInMs] = reply as [number, number];
        meters.learn(key, fullInMs);
        return waitMs;
      } catch {
        return meters.count(key, perMinute, cost);
      }
    },
    countInMemory: meters.countAndSettle,
    isHalfFree: meters.isHalfFree,
    close: () => {
      meters.close();
      redis.disconnect();
    },
  };
}

/**
 * Adds the cost of requests, in milliseconds, to keys in Redis.
 * @returns for each key, the milliseconds until it has its whole budget again; undefined when Redis is unavailable.
 */
type Settle = (keys: readonly string[], addedMs: readonly number[]) => Promise<readonly number[] | undefined>;

/**
 * Meters of this process, one per key. `countAndSettle` counts requests in memory and adds their costs to Redis in
 * batches; after each batch, `learn` sets the meters of the keys in the batch from the answer of Redis.
 */
function openLocalMeters(settle: Settle) {
  const fullAtMs = openBoundedCache<string, number>(MAX_KEYS);
  let unsettled = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const count = (key: string, perMinute: number, cost: number): number => {
    const plan = planRequest(fullAtMs.get(key), Date.now(), perMinute, cost);
    if (plan.waitMs === 0) fullAtMs.set(key, plan.fullAtMs);
    return plan.waitMs;
  };
  /**
   * Sets the meter of a key to the value that Redis returned, plus the cost that was counted in memory since the
   * command was sent to Redis.
   */
  const learn = (key: string, fullInMs: number): void => {
    fullAtMs.set(key, Date.now() + fullInMs + (unsettled.get(key) ?? 0));
  };
  const settleAll = async (): Promise<void> => {
    timer = undefined;
    const added = unsettled;
    unsettled = new Map();
    const keys = [...added.keys()];
    const waits = await settle(keys, [...added.values()]).catch(() => undefined);
    for (const [index, fullInMs] of (waits ?? []).entries()) learn(keys[index] ?? '', fullInMs);
  };
  return {
    count,
    learn,
    /** Removes and returns the milliseconds that are not yet counted in Redis; the caller must add them to Redis. */
    takeUnsettled: (key: string): number => {
      const ms = unsettled.get(key) ?? 0;
      unsettled.delete(key);
      return ms;
    },
    isHalfFree: (key: string, perMinute: number, cost: number): boolean => {
      const usedMs = Math.max(0, (fullAtMs.get(key) ?? 0) - Date.now());
      return usedMs + costMs(perMinute, cost) <= HALF_MS;
    },
    countAndSettle: (key: string, perMinute: number, cost: number): boolean => {
      if (count(key, perMinute, cost) > 0) return false;
      unsettled.set(key, (unsettled.get(key) ?? 0) + costMs(perMinute, cost));
      timer ??= setTimeout(() => void settleAll(), SETTLE_MS).unref();
      return true;
    },
    close: () => clearTimeout(timer),
  };
}
