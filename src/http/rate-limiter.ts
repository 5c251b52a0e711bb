/**
 * Counts requests of all processes together in Redis (R-B15). While Redis is unavailable each process counts by itself:
 * a limit must not turn an outage of Redis into refusals.
 *
 * Our own instead of `rate-limiter-flexible` 11.4, which counts in fixed windows: with a limit of 60 it admits 119 requests
 * within 5 s around the end of a window and then refuses for up to 60 s; this meter admits 64 and refuses for 1 s.
 */
import { LRUCache } from 'lru-cache';
import type { Log } from '../platform/log.ts';
import { openRedis } from '../platform/redis.ts';
import { planRequest } from './rate-rules.ts';

export interface RateLimiter {
  /**
   * Counts one request against the limit of `key`.
   * @returns milliseconds to wait; 0 when the request passes.
   */
  count(key: string, perMinute: number): Promise<number>;
  close(): void;
}

export interface RateLimiterOptions {
  readonly redisUrl: string;
  /** Prefix of keys in Redis. Processes with the same prefix share limits. */
  readonly prefix: string;
  readonly log: Log;
}

/** Every request waits for this command: a hanging Redis must cost less than the 2 s of other commands. */
const COMMAND_TIMEOUT_MS = 500;
/** Keys one process counts while Redis is unavailable; beyond it the least recently used key starts afresh. */
const MAX_KEYS = 100_000;

// planRequest of rate-rules.ts on the clock of Redis, because the clocks of processes differ.
const SCRIPT = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local before = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
  local after = before + 60000 / ARGV[1]
  local wait = after - now - 60000
  if wait > 0.000001 then return math.ceil(wait) end
  redis.call('SET', KEYS[1], string.format('%.3f', after), 'PX', math.ceil(after - now))
  return 0`;

/** Opens a limiter with a Redis connection of its own (R-B15). `close()` ends the connection. */
export function openRateLimiter({ redisUrl, prefix, log }: RateLimiterOptions): RateLimiter {
  const redis = openRedis({ redisUrl, use: 'command', purpose: 'rate limits', log });
  redis.options.commandTimeout = COMMAND_TIMEOUT_MS;
  const local = new LRUCache<string, number>({ max: MAX_KEYS });
  const countLocally = (key: string, perMinute: number): number => {
    const { fullAtMs, waitMs } = planRequest(local.get(key), Date.now(), perMinute);
    local.set(key, fullAtMs);
    return waitMs;
  };
  return {
    count: async (key, perMinute) => {
      if (redis.status !== 'ready') return countLocally(key, perMinute);
      try {
        return Number(await redis.eval(SCRIPT, 1, `${prefix}:rate:${key}`, perMinute));
      } catch {
        return countLocally(key, perMinute);
      }
    },
    close: () => redis.disconnect(),
  };
}
