/**
 * A Redis message tells every process to drop users with changed access rights from its caller cache (R-B5). If the
 * message is lost, a cached caller still expires after ACCESS_CACHE_SEC.
 */
import { parseJsonText } from '../../platform/json/json-text.ts';
import type { Log } from '../../platform/log.ts';
import { openRedis } from '../../platform/redis.ts';

/** Maximum number of user ids in a log line. */
const MAX_LOGGED = 20;

export interface AccessInvalidation {
  /**
   * Drops the cached access of these users in this process, and sends a Redis message that tells all other processes to
   * drop it too. The message may be lost. Call `publish` after the commit of the change. Never rejects.
   */
  publish(userIds: readonly string[]): Promise<void>;
  close(): void;
}

export interface AccessInvalidationOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  /** Called for every invalidation, including those of this process. `userIds` undefined means all users. */
  readonly onChange: (userIds: readonly string[] | undefined) => void;
  readonly log: Log;
}

/** Connects to Redis (R-B5). `prefix` separates installations that share one Redis. */
export function openAccessInvalidation({
  redisUrl,
  prefix,
  onChange,
  log,
}: AccessInvalidationOptions): AccessInvalidation {
  const channel = `${prefix}:access`;
  const warnUnsent = (userIds: readonly string[], error: unknown) =>
    log.warn(
      { err: error, users: userIds.length, userIds: userIds.slice(0, MAX_LOGGED) },
      'an access change could not be sent to other processes; they may apply it up to ACCESS_CACHE_SEC seconds late',
    );
  const publisher = openRedis({ redisUrl, use: 'command', purpose: 'access changes, sent', log });
  const subscriber = openRedis({ redisUrl, use: 'subscriber', purpose: 'access changes, received', log });
  // Messages sent while the connection was down are lost, so the cached access of all users is dropped.
  subscriber.on('ready', () => onChange(undefined));
  subscriber.on('message', (_channel, text) => onChange(parseUserIds(text)));
  subscriber
    .subscribe(channel)
    .catch((error: unknown) =>
      log.warn(
        { err: error },
        'this process cannot receive messages from other processes about changed access rights; it applies such changes up to ACCESS_CACHE_SEC seconds late',
      ),
    );
  return {
    publish: async (userIds) => {
      if (userIds.length === 0) return;
      onChange(userIds);
      // `publish` does not wait for an unavailable Redis.
      if (publisher.status !== 'ready') return warnUnsent(userIds, new Error('Redis is unavailable'));
      await publisher.publish(channel, JSON.stringify(userIds)).catch((error: unknown) => warnUnsent(userIds, error));
    },
    close: () => {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

function parseUserIds(text: string): readonly string[] | undefined {
  try {
    const value = parseJsonText(text);
    return Array.isArray(value) ? value.map(String) : undefined;
  } catch {
    return undefined;
  }
}
