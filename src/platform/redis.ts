/**
 * Opens connections to Redis. Redis holds wake-ups, hints and rate counts, so an outage slows the service but loses no
 * data. Every connection detects a silent peer, reconnects for ever, and logs a warning at most once a minute while
 * Redis is unavailable.
 */
import { Redis } from 'ioredis';
import type { Log } from './log.ts';
import { throttle } from './throttle.ts';

/**
 * - `command`: for requests that must not wait for an unavailable Redis; they fail within COMMAND_TIMEOUT_MS.
 * - `blocking`: for BullMQ's worker, whose requests wait up to BLOCK_SEC for a job.
 * - `subscriber`: for receiving messages; a periodic PING detects a dead connection.
 */
export type RedisUse = 'command' | 'blocking' | 'subscriber';

/** Maximum time that BullMQ blocks in one request; see `drainDelay` in queue.ts. */
export const BLOCK_SEC = 2;

const CONNECT_TIMEOUT_MS = 3000;
const COMMAND_TIMEOUT_MS = 2000;
const SILENCE_MS = 4000;
const PING_INTERVAL_MS = 5000;
const MAX_RECONNECT_DELAY_MS = 2000;
const RECONNECT_STEP_MS = 100;
const WARN_INTERVAL_MS = 60_000;
const STOPGAPS = 'the service polls the database, and each process applies rate limits by its own count';
const DELAY = 'access changes take effect within ACCESS_CACHE_SEC seconds';
const UNAVAILABLE = `Redis is unavailable; until it is back, ${STOPGAPS}; ${DELAY}; no data is lost`;

export interface RedisConnectionOptions {
  readonly redisUrl: string;
  readonly use: RedisUse;
  /** Purpose of the connection, named in the log when Redis is unavailable. */
  readonly purpose: string;
  readonly log: Log;
}

/** Opens one connection. It connects in the background; `disconnect()` closes it. */
export function openRedis({ redisUrl, use, purpose, log }: RedisConnectionOptions): Redis {
  const redis = new Redis(redisUrl, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: SILENCE_MS,
    retryStrategy: (times) => Math.min(times * RECONNECT_STEP_MS, MAX_RECONNECT_DELAY_MS),
    maxRetriesPerRequest: use === 'command' ? 1 : null,
    // When no answer arrives on a connection for this long, ioredis closes the connection and connects again.
    socketTimeout: use === 'blocking' ? BLOCK_SEC * 1000 + SILENCE_MS : SILENCE_MS,
    ...(use === 'command' ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
  });
  const warn = throttle(WARN_INTERVAL_MS, (error: unknown) => log.warn({ err: error, purpose }, UNAVAILABLE));
  redis.on('error', warn);
  if (use === 'subscriber') {
    const timer = setInterval(() => {
      if (redis.status === 'ready') redis.ping().catch(() => {});
    }, PING_INTERVAL_MS);
    timer.unref();
    redis.on('end', () => clearInterval(timer));
  }
  return redis;
}
