/**
 * Tells processes that points of variables were committed, so that they look at once. Redis may lose a message: whoever
 * listens looks by itself now and then.
 */
import type { EventConsumer } from '../../platform/database/outbox.ts';
import type { Log } from '../../platform/log.ts';
import { openRedis } from '../../platform/redis.ts';
import type { PointsWritten } from '../announce-points.ts';

export interface PointNotificationOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly log: Log;
}

export interface PointPublisher {
  /** Of the relay: tells of what it relays, after its commit. */
  readonly consume: EventConsumer;
  close(): void;
}

export interface PointSubscriber {
  close(): void;
}

// Beyond so many a message would be longer than looking is.
const MAX_IDS = 20_000;

const channelOf = ({ prefix }: PointNotificationOptions): string => `${prefix}:points`;

export function openPointPublisher(options: PointNotificationOptions): PointPublisher {
  const { redisUrl, log } = options;
  const redis = openRedis({ redisUrl, use: 'command', purpose: 'written points, sent', log });
  return {
    consume: async (_transaction, events) => {
      const written = events.filter(({ type }) => type === 'DataPointsWritten');
      const ids = new Set(written.flatMap(({ payload }) => (payload as PointsWritten).variables.map(idOf)));
      if (ids.size === 0) return undefined;
      return async () => {
        // Without waiting for a Redis that is away: readers look by themselves.
        if (redis.status !== 'ready') return;
        await redis.publish(channelOf(options), ids.size > MAX_IDS ? '' : [...ids].join());
      };
    },
    close: () => redis.disconnect(),
  };
}

const idOf = ({ variableId }: { readonly variableId: number }): number => variableId;

/** @param onWritten undefined: any variable may have been written. */
export function openPointSubscriber(
  options: PointNotificationOptions,
  onWritten: (variableIds: readonly number[] | undefined) => void,
): PointSubscriber {
  const { redisUrl, log } = options;
  const redis = openRedis({ redisUrl, use: 'subscriber', purpose: 'written points, received', log });
  // What was told while the connection was down is not known.
  redis.on('ready', () => onWritten(undefined));
  redis.on('message', (_channel, text) => onWritten(text === '' ? undefined : text.split(',').map(Number)));
  // The connection subscribes again by itself when it is back.
  redis.subscribe(channelOf(options)).catch(() => {});
  return { close: () => redis.disconnect() };
}
