/**
 * Tells every process that what some users may do has changed, so that they look again at once (R-B5). Redis may lose a
 * message; an answer that was kept ends by itself after ACCESS_CACHE_SEC.
 */
import { Redis } from 'ioredis';
import type { Log } from '../../platform/log.ts';

export interface AccessInvalidation {
  /** Call after the commit of the change. Never fails. */
  publish(userIds: readonly string[]): Promise<void>;
  close(): void;
}

export interface AccessInvalidationOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  /** Called for every announcement, one's own too; undefined: anybody may have changed. */
  readonly onChange: (userIds: readonly string[] | undefined) => void;
  readonly log: Log;
}

const COMMAND_TIMEOUT_MS = 2000;

export function openAccessInvalidation({
  redisUrl,
  prefix,
  onChange,
  log,
}: AccessInvalidationOptions): AccessInvalidation {
  const channel = `${prefix}:access`;
  const warn = (error: unknown) => log.warn({ err: error }, 'news of access cannot be told; others see them later');
  const publisher = new Redis(redisUrl, { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS });
  const subscriber = new Redis(redisUrl, { maxRetriesPerRequest: null });
  for (const connection of [publisher, subscriber]) connection.on('error', warn);
  // What was told while the connection was down is not known.
  subscriber.on('ready', () => onChange(undefined));
  subscriber.on('message', (_channel, text) => onChange(parseUserIds(text)));
  subscriber.subscribe(channel).catch(warn);
  return {
    publish: async (userIds) => {
      if (userIds.length === 0) return;
      onChange(userIds);
      // Without waiting for a Redis that is away: its time-out is not the caller's.
      if (publisher.status !== 'ready') return warn(new Error('Redis is unreachable'));
      await publisher.publish(channel, JSON.stringify(userIds)).catch(warn);
    },
    close: () => {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

function parseUserIds(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(String) : undefined;
  } catch {
    return undefined;
  }
}
