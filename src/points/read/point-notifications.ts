/**
 * Sends a message over Redis pub/sub when a write or a deletion of points has been committed. Redis may lose a message,
 * so subscribers also poll.
 */
import type { EventConsumer } from '../../platform/database/outbox.ts';
import type { Log } from '../../platform/log.ts';
import { openRedis } from '../../platform/redis.ts';

export interface PointNotificationOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly log: Log;
}

export interface PointPublisher {
  /**
   * A consumer for the outbox relay. It publishes the variable ids of `DataPointsWritten` events after the relay has
   * committed.
   */
  readonly consume: EventConsumer;
  close(): void;
}

export interface PointSubscriber {
  close(): void;
}

// Maximum number of ids in a message. With more ids, the publisher sends an empty message, which means that any
// variable may have been written: polling all variables is cheaper than a longer message.
const MAX_IDS = 20_000;

const channelOf = ({ prefix }: PointNotificationOptions): string => `${prefix}:points`;

/** Opens the publisher. Redis errors are logged, and do not make the relay fail. */
export function openPointPublisher(options: PointNotificationOptions): PointPublisher {
  const { redisUrl, log } = options;
  const redis = openRedis({ redisUrl, use: 'command', purpose: 'written points, sent', log });
  return {
    consume: async (_transaction, events) => {
      const written = events.filter((event) => event.type === 'DataPointsWritten');
      const ids = new Set(written.flatMap(({ payload }) => payload.variables.map(idOf)));
      if (ids.size === 0) return undefined;
      return async () => {
        // While the connection is down, sends nothing and does not wait: subscribers also poll.
        if (redis.status !== 'ready') return;
        await redis.publish(channelOf(options), ids.size > MAX_IDS ? '' : [...ids].join());
      };
    },
    close: () => redis.disconnect(),
  };
}

const idOf = ({ variableId }: { readonly variableId: number }): number => variableId;

/**
 * Opens the subscriber.
 * @param onWritten called with the ids of the variables whose points were written or deleted; undefined when any
 * variable may have been written, for example after a reconnect.
 */
export function openPointSubscriber(
  options: PointNotificationOptions,
  onWritten: (variableIds: readonly number[] | undefined) => void,
): PointSubscriber {
  const { redisUrl, log } = options;
  const redis = openRedis({ redisUrl, use: 'subscriber', purpose: 'written points, received', log });
  // Notifications sent while the connection was down are lost, so any variable may have been written.
  redis.on('ready', () => onWritten(undefined));
  redis.on('message', (_channel, text) => onWritten(text === '' ? undefined : text.split(',').map(Number)));
  // After a reconnect, the Redis client subscribes again by itself.
  redis.subscribe(channelOf(options)).catch(() => {});
  return { close: () => redis.disconnect() };
}
