/** Puts `WatchPoints` together: its own connections, the turns at them, and what all watches of the process share. */
import { closeDatabase, openDatabase } from '../../platform/database/database.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { PointNotificationOptions } from '../../points/read/point-notifications.ts';
import type { BuiltMessage } from './message-builder.ts';
import { coalesceRuns, openSemaphore } from './semaphore.ts';
import { openWatchHub } from './watch-hub.ts';
import { type WatchServices, watchPointsHandler } from './watch-points.ts';

export interface WatchingServices extends Pick<WatchServices, 'authentication' | 'log' | 'database'> {
  readonly dictionary: Dictionary;
  readonly queueOptions: PointNotificationOptions;
  readonly config: {
    readonly DATABASE_URL: string;
    readonly READ_STALL_SEC: number;
    readonly WATCH_POOL_SIZE: number;
    readonly WATCH_MAX_VARIABLES: number;
    readonly WATCH_MAX_PER_USER: number;
    readonly WATCH_POLL_MS: number;
    readonly WATCH_HEARTBEAT_MS: number;
  };
}

export interface Watching {
  readonly handler: ReturnType<typeof watchPointsHandler>;
  /** Ends every watch. */
  stop(): Promise<void>;
}

// The first row comes when all of a variable are sorted: from the beginning that may be a hundred million.
const SORT_MS = 600_000;

// A snapshot that is held keeps vacuum from its work; the next one sorts what is left of a variable again.
const PATIENCE_PER_WORK = 10;

export function startWatching(services: WatchingServices): Watching {
  const { config, log, dictionary, authentication, database, queueOptions } = services;
  const watchDatabase = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.WATCH_POOL_SIZE,
    applicationName: 'tidemark-watch',
    log,
    readLimits: { stallMs: config.READ_STALL_SEC * 1000, silenceMs: SORT_MS },
  });
  // Whoever catches up takes as long as its reader: the others keep the rest of the connections.
  const longCount = Math.floor(config.WATCH_POOL_SIZE / 2);
  const reading = {
    ...{ database: watchDatabase, dictionary },
    short: coalesceRuns<readonly BuiltMessage[] | undefined>(openSemaphore(config.WATCH_POOL_SIZE - longCount)),
    long: openSemaphore(longCount),
    patienceMs: (workMs: number) => config.READ_STALL_SEC * 1000 + PATIENCE_PER_WORK * workMs,
  };
  const hub = openWatchHub({
    ...{ database, authentication, log, news: queueOptions },
    pollMs: config.WATCH_POLL_MS,
    heartbeatMs: config.WATCH_HEARTBEAT_MS,
    maxPerUser: config.WATCH_MAX_PER_USER,
  });
  return {
    handler: watchPointsHandler({
      database,
      authentication,
      log,
      reading,
      hub,
      maxVariables: config.WATCH_MAX_VARIABLES,
    }),
    stop: async () => {
      await hub.stop();
      await closeDatabase(watchDatabase);
    },
  };
}
