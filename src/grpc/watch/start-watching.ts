/** Wires `WatchPoints`: its connection pool, the semaphores in front of it, and the hub shared by all watches. */
import { closeDatabase, openDatabase } from '../../platform/database/database.ts';
import { openFairSemaphore } from '../../platform/shares/fair-semaphore.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { PointNotificationOptions } from '../../points/read/point-notifications.ts';
import type { BuiltMessage } from './message-builder.ts';
import { coalesceRuns, openSemaphore } from './semaphore.ts';
import { openWatchHub } from './watch-hub.ts';
import { type WatchServices, watchPointsHandler } from './watch-points.ts';

export interface WatchingServices extends Pick<WatchServices, 'authentication' | 'users' | 'log' | 'database'> {
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
  /** Ends every watch with UNAVAILABLE. */
  stop(): Promise<void>;
}

// The first row arrives after the sort of a variable's changes, which may be a hundred million rows.
const SORT_MS = 600_000;

// An open snapshot blocks vacuum, but a new snapshot repeats the sort. So a slow reader may hold a snapshot for ten
// times as long as the database works for it.
const PATIENCE_PER_WORK = 10;

// A watch may wait for a permit without limit; 24 days is the longest delay of a timer.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Opens the connection pool of watches and starts the hub. */
export function startWatching(services: WatchingServices): Watching {
  const { config, log, dictionary, authentication, users, database, queueOptions } = services;
  const watchDatabase = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.WATCH_POOL_SIZE,
    applicationName: 'tidemark-watch',
    log,
    readLimits: { stallMs: config.READ_STALL_SEC * 1000, silenceMs: SORT_MS },
  });
  // Catching up takes as long as the reader does, so it may use only half of the connections.
  const longCount = Math.floor(config.WATCH_POOL_SIZE / 2);
  const reading = {
    ...{ database: watchDatabase, dictionary },
    short: coalesceRuns<readonly BuiltMessage[] | undefined>(openSemaphore(config.WATCH_POOL_SIZE - longCount)),
    long: openFairSemaphore({
      resource: 'connections for long WatchPoints reads',
      permits: longCount,
      // One connection remains for other accounts, unless there is only one.
      permitsPerAccount: Math.max(1, longCount - 1),
      waitersPerAccount: Number.POSITIVE_INFINITY,
      maxWaitMs: LONGEST_TIMER_MS,
    }),
    patienceMs: (workMs: number) => config.READ_STALL_SEC * 1000 + PATIENCE_PER_WORK * workMs,
  };
  const hub = openWatchHub({
    ...{ database, authentication, log, notifications: queueOptions },
    pollMs: config.WATCH_POLL_MS,
    heartbeatMs: config.WATCH_HEARTBEAT_MS,
    maxPerUser: config.WATCH_MAX_PER_USER,
  });
  return {
    handler: watchPointsHandler({
      database,
      authentication,
      users,
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
