/**
 * Counts requests for all processes together, in Redis; each for itself while Redis is away, since a limit is no reason to
 * refuse anybody (R-B15).
 */
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Log } from '../platform/log.ts';
import { planRequest } from './rate-rules.ts';

export interface RateLimiter {
  /** Counts a request. @returns milliseconds to wait; 0 lets it pass. */
  count(key: string, perMinute: number): Promise<number>;
  close(): void;
}

export interface RateLimiterOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly log: Log;
}

const COMMAND_TIMEOUT_MS = 500;
const MAX_KEYS = 100_000;

// planRequest of rate-rules.ts, on the clock of Redis: those of the processes differ.
const SCRIPT = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local before = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
  local after = before + 60000 / ARGV[1]
  local wait = after - now - 60000
  if wait > 0.000001 then return math.ceil(wait) end
  redis.call('SET', KEYS[1], string.format('%.3f', after), 'PX', math.ceil(after - now))
  return 0`;

export function openRateLimiter({ redisUrl, prefix, log }: RateLimiterOptions): RateLimiter {
  const redis = new Redis(redisUrl, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  redis.on('error', (error) => log.warn({ err: error }, 'Redis is unreachable; requests are counted by this process'));
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
