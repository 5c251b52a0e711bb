/**
 * Notifies processes by Redis pub/sub that points of variables were committed, so that followers read at once. Redis may
 * lose a message; subscribers therefore also poll.
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
  /** Consumer for the outbox relay: publishes the variables of relayed writes after its commit. */
  readonly consume: EventConsumer;
  close(): void;
}

export interface PointSubscriber {
  close(): void;
}

// Maximum ids in a message. For more, polling is cheaper than a longer message, so an empty message is sent, which
// means any variable.
const MAX_IDS = 20_000;

const channelOf = ({ prefix }: PointNotificationOptions): string => `${prefix}:points`;

/** Opens the publishing side. Errors of Redis are logged and never fail the relay. */
export function openPointPublisher(options: PointNotificationOptions): PointPublisher {
  const { redisUrl, log } = options;
  const redis = openRedis({ redisUrl, use: 'command', purpose: 'written points, sent', log });
  return {
    consume: async (_transaction, events) => {
      const written = events.filter((event) => event.type === 'DataPointsWritten');
      const ids = new Set(written.flatMap(({ payload }) => payload.variables.map(idOf)));
      if (ids.size === 0) return undefined;
      return async () => {
        // Does not wait for an unavailable Redis: followers poll.
        if (redis.status !== 'ready') return;
        await redis.publish(channelOf(options), ids.size > MAX_IDS ? '' : [...ids].join());
      };
    },
    close: () => redis.disconnect(),
  };
}

const idOf = ({ variableId }: { readonly variableId: number }): number => variableId;

/**
 * Opens the subscribing side.
 *
 * @param onWritten receives the ids of written variables; undefined means any variable, as after a reconnect.
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
  // The connection subscribes again by itself when it is back.
  redis.subscribe(channelOf(options)).catch(() => {});
  return { close: () => redis.disconnect() };
}
