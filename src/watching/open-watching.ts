/**
 * Opens what all watches of a process share: a connection pool, the permits for its connections, and the hub. A gRPC
 * server and an HTTP API in one process share these parts, so the limits apply to the watches of both servers together,
 * and watches of the same points share a read.
 */
import type { Authentication } from '../identity/authentication/authenticate.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { runForAccount } from '../platform/shares/connection-shares.ts';
import { type FairSemaphore, openFairSemaphore } from '../platform/shares/fair-semaphore.ts';
import type { Dictionary } from '../points/dictionary.ts';
import type { PointNotificationOptions } from '../points/read/point-notifications.ts';
import type { ReadVariable } from '../selection/selection.ts';
import type { BuiltMessage } from './message-builder.ts';
import { coalesceRuns } from './semaphore.ts';
import { Watch, type WatchReading, type WatchSink } from './watch.ts';
import { openWatchHub, type WatchGroup, type WatchHub } from './watch-hub.ts';
import { resolveWatch, type WatchRequest } from './watch-request.ts';

export interface WatchingServices {
  readonly authentication: Authentication;
  readonly log: Log;
  /** Connections for requests and polls. */
  readonly database: Database;
  readonly dictionary: Dictionary;
  readonly queueOptions: PointNotificationOptions;
  readonly config: {
    readonly DATABASE_URL: string;
    readonly READ_STALL_SEC: number;
    readonly WATCH_POOL_SIZE: number;
    readonly WATCH_MAX_VARIABLES: number;
    readonly WATCH_MAX_PER_USER: number;
    readonly WATCH_MAX: number;
    readonly WATCH_POLL_MS: number;
    readonly WATCH_HEARTBEAT_MS: number;
  };
}

export interface Watching {
  /**
   * Creates a `WatchServer` for a gRPC server or an HTTP API. All `WatchServer`s share one hub. The first call starts
   * the hub.
   */
  join(): WatchServer;
  stop(): Promise<void>;
}

/** A request to watch points. */
export interface OpenWatch {
  readonly request: WatchRequest;
  /** Value of the HTTP header `authorization`, or of the gRPC metadata `authorization`. */
  readonly authorization: string | undefined;
  /** @returns the sink of the messages. @param variables the watched variables. */
  readonly sinkOf: (variables: ReadonlyMap<number, ReadVariable>) => WatchSink;
  /** Aborts when the client disconnects. */
  readonly leaving: AbortSignal;
  /** Time after its start at which a watch ends with dependency_unavailable. Default: never. */
  readonly maxMs?: number;
}

export interface WatchServer {
  /**
   * Runs a watch until its end.
   * @returns the number of points sent; resolves when the client has disconnected.
   * @throws {DomainError} the errors of `resolveWatch` and `WatchGroup.run`.
   */
  run(open: OpenWatch): Promise<number>;
  /** Ends all watches of this server (R-K2). */
  stop(): void;
}

// Maximum time until the database returns the first row. The database must first sort all changes of a variable, up to
// a hundred million rows.
const SORT_MS = 600_000;

// A slow client may hold a snapshot for at most READ_STALL_SEC + PATIENCE_PER_WORK * T, because an open snapshot blocks
// vacuum. T is the time that the database has worked on the snapshot. A larger T allows more time, because a new
// snapshot would repeat the work.
const PATIENCE_PER_WORK = 10;

// Maximum time that a watch waits for a permit: 24 days, the longest time that a timer can be set to.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Prepares the parts that all watches share. The first `join` opens the connection pool and the hub. */
export function openWatching(services: WatchingServices): Watching {
  let opened: { readonly hub: WatchHub; readonly reading: WatchReading; readonly pool: Database } | undefined;
  const open = () => {
    const { reading, pool } = openReading(services);
    opened = { hub: openHub(services), reading, pool };
    return opened;
  };
  return {
    join: () => {
      const { hub, reading } = opened ?? open();
      return openServer(services, hub.openGroup(), reading);
    },
    stop: async () => {
      if (!opened) return;
      await opened.hub.stop();
      await closeDatabase(opened.pool);
    },
  };
}

function openServer(services: WatchingServices, group: WatchGroup, reading: WatchReading): WatchServer {
  return {
    run: async ({ request, authorization, sinkOf, leaving, maxMs }) => {
      const { caller } = request;
      const resolved = runForAccount(caller.accountId, () => resolveWatch(services, request));
      const { variables, scales, positions } = await resolved;
      const sink = sinkOf(variables);
      const watch = new Watch(reading, { caller, variables, scales, positions, sink, authorization, leaving });
      const timer = maxMs === undefined ? undefined : setTimeout(() => watch.end(tooOld(maxMs)), maxMs).unref();
      return group.run(watch).finally(() => clearTimeout(timer));
    },
    stop: () => group.stop(),
  };
}

const tooOld = (maxMs: number) =>
  new DomainError(
    'dependency_unavailable',
    `a watch may last at most ${maxMs / 1000} s; call again with the last cursor`,
  );

function openReading({ config, log, dictionary }: WatchingServices) {
  const pool = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.WATCH_POOL_SIZE,
    applicationName: 'tidemark-watch',
    log,
    readLimits: { stallMs: config.READ_STALL_SEC * 1000, silenceMs: SORT_MS },
  });
  // A long read lasts until its client has taken the data. Only half of the connections are for long reads, so that
  // slow clients never block short reads.
  const longCount = Math.floor(config.WATCH_POOL_SIZE / 2);
  const reading: WatchReading = {
    ...{ database: pool, dictionary },
    short: coalesceRuns<readonly BuiltMessage[] | undefined>(
      openPermits('database connections for short reads by watches', config.WATCH_POOL_SIZE - longCount),
    ),
    long: openPermits('database connections for long reads by watches', longCount),
    patienceMs: (workMs) => config.READ_STALL_SEC * 1000 + PATIENCE_PER_WORK * workMs,
  };
  return { reading, pool };
}

/**
 * Opens a semaphore. An account may hold all permits except one; if there is only one permit, any account may hold this
 * permit (R-A14).
 */
function openPermits(resource: string, permits: number): Pick<FairSemaphore, 'enter'> {
  return openFairSemaphore({
    ...{ resource, permits, permitsPerAccount: Math.max(1, permits - 1) },
    ...{ waitersPerAccount: Number.POSITIVE_INFINITY, maxWaitMs: LONGEST_TIMER_MS },
  });
}

function openHub({ config, database, authentication, log, queueOptions }: WatchingServices): WatchHub {
  return openWatchHub({
    ...{ database, authentication, log, notifications: queueOptions },
    pollMs: config.WATCH_POLL_MS,
    heartbeatMs: config.WATCH_HEARTBEAT_MS,
    limits: { perUser: config.WATCH_MAX_PER_USER, total: config.WATCH_MAX },
  });
}
