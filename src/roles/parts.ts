/** Parts that roles share: database pools, queues, outbox relay, authentication, metrics and health checks. */
import { calculationTrigger } from '../calculation/schedule/request-calculations.ts';
import type { Config } from '../config.ts';
import { paceRefusals } from '../http/paced-refusals.ts';
import { openRateLimiter, type RateLimiter } from '../http/rate-limiter.ts';
import { openUserBudget, type UserBudget } from '../http/user-budget.ts';
import type { Authentication } from '../identity/authentication/authenticate.ts';
import { trustedIssuers } from '../identity/authentication/trusted-issuers.ts';
import { cacheVerifiedTokens } from '../identity/authentication/verified-token-cache.ts';
import { createTokenVerifier } from '../identity/authentication/verify-token.ts';
import { type AccessInvalidation, openAccessInvalidation } from '../identity/caller/access-invalidation.ts';
import { createCachedCallerLookup, type FindCachedCaller } from '../identity/caller/cached-caller.ts';
import { createCallerCache } from '../identity/caller/find-caller.ts';
import { issuerUrl } from '../identity/issuer/issuer-url.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/database/database.ts';
import { createOutboxRelay, type OutboxRelay } from '../platform/database/outbox.ts';
import { openReadPool, type ReadPool } from '../platform/database/read-pool.ts';
import type { HealthCheck } from '../platform/health/health.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { createProgress, type Progress } from '../platform/progress.ts';
import { type MemberQueue, openWakeQueue, type QueueOptions, type WakeQueue } from '../platform/queue.ts';
import { type ConnectionShareOptions, shareConnections } from '../platform/shares/connection-shares.ts';
import type { PaceLimits } from '../platform/streaming/client-pace.ts';
import { type Dictionary, openDictionary } from '../points/dictionary.ts';
import { openPointPublisher } from '../points/read/point-notifications.ts';
import { openWatching, type Watching } from '../watching/open-watching.ts';
import { webhookFanOut } from '../webhooks/fan-out/webhook-fan-out.ts';
import { watchPlatform } from './watch-platform.ts';

export interface Parts {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly database: Database;
  /** A separate pool of connections for long reads, so that slow clients do not take the connections of other work. */
  readonly reads: ReadPool;
  /** Limits for clients that read streamed answers slowly. */
  readonly readPace: PaceLimits;
  readonly dictionary: Dictionary;
  readonly queueOptions: QueueOptions;
  readonly ingestQueue: WakeQueue;
  readonly calculationQueue: MemberQueue;
  readonly fileQueue: WakeQueue;
  readonly importQueue: WakeQueue;
  readonly webhookQueue: WakeQueue;
  readonly trialQueue: WakeQueue;
  readonly outbox: OutboxRelay;
  readonly authentication: Authentication;
  /** Watches points over gRPC and HTTP. All watches of this process share connections, limits and reads. */
  readonly watching: Watching;
  readonly findCachedCaller: FindCachedCaller;
  readonly limiter: RateLimiter;
  /** Limits the request rate of each user. The requests over all interfaces count together. */
  readonly users: UserBudget;
  /** Invalidates the access rights of users in the caches of all processes (R-B5). */
  readonly accessInvalidation: AccessInvalidation;
  /** Tracks the background loops of this process. `/health/ready` checks that they make progress. */
  readonly progress: Progress;
  readonly healthChecks: Readonly<Record<string, HealthCheck>>;
  close(): Promise<void>;
}

/** A running role. */
export interface Role {
  /**
   * Makes the role accept no further work, and waits until its current work has ended. Some roles wait only for a
   * grace period, and then abort the work that has not ended.
   */
  stop(): Promise<void>;
}

/**
 * Opens the parts that the roles share. Connects in the background, so this function does not fail when a dependency is
 * unavailable.
 * @param roles role names for the `application_name` of the main pool.
 */
export function openParts(config: Config, log: Log, roles: readonly string[] = []): Parts {
  const metrics = createMetrics();
  const database = openDatabase({
    url: config.DATABASE_URL,
    applicationName: ['tidemark', ...roles].join(' '),
    log,
    poolSize: config.DATABASE_POOL_SIZE,
  });
  shareConnections(database, sharesOf(config));
  const { readDatabase, ...reading } = openReads(config, log, database);
  metrics.gauge(
    { name: 'tidemark_read_waiting', help: 'Number of reads that wait for a database connection.' },
    reading.reads.waiting,
  );
  const queueOptions = { redisUrl: config.REDIS_URL, prefix: config.QUEUE_PREFIX, log };
  const ingestQueue = openWakeQueue('ingest', queueOptions);
  const calculationQueue = openWakeQueue('calculation', queueOptions);
  const fileQueue = openWakeQueue('files', queueOptions);
  const importQueue = openWakeQueue('structure-imports', queueOptions);
  const webhookQueue = openWakeQueue('webhooks', queueOptions);
  const trialQueue = openWakeQueue('webhook-tests', queueOptions);
  const queues = [ingestQueue, calculationQueue, fileQueue, importQueue, webhookQueue, trialQueue];
  const pointPublisher = openPointPublisher(queueOptions);
  const consumers = [
    pointPublisher.consume,
    calculationTrigger(calculationQueue),
    webhookFanOut({ queue: webhookQueue, maxPending: config.WEBHOOK_MAX_PENDING }),
  ];
  const callers = createCallerCache({
    database,
    cacheSec: config.ACCESS_CACHE_SEC,
    ownIssuer: issuerUrl(config),
    externalUsers: config.EXTERNAL_USERS,
  });
  const verifier = cacheVerifiedTokens(createTokenVerifier({ issuers: trustedIssuers(config, database) }));
  const accessInvalidation = openAccessInvalidation({ ...queueOptions, onChange: callers.invalidate });
  const limiter = paceRefusals(openRateLimiter(queueOptions));
  const progress = createProgress();
  let reportedLoops = '';
  const healthChecks = {
    database: { run: () => database.query('select 1') },
    // Redis is optional: without it, the sweepers find waiting work in the database.
    queue: { run: () => ingestQueue.ping(), isOptional: true },
    progress: {
      run: async () => {
        const loops = progress.stalled().join(', ');
        // `/health/ready` does not name the stalled loops. The log names them, once for each change of the list.
        if (loops !== '' && loops !== reportedLoops)
          log.error(
            { loops },
            'background loops have stalled, so /health/ready answers 503; restart the process if this lasts',
          );
        reportedLoops = loops;
        if (loops !== '') throw new Error(`background loops make no progress: ${loops}`);
      },
    },
  };
  watchPlatform(metrics, {
    database,
    pools: { main: database, read: readDatabase },
    queues: Object.fromEntries(queues.map((queue) => [queue.name, queue])),
  });
  const dictionary = openDictionary(database);
  const authentication = { verifier, callers };
  const watching = openWatching({ config, log, database, dictionary, authentication, queueOptions });
  return {
    config,
    log,
    metrics,
    database,
    ...reading,
    dictionary,
    watching,
    queueOptions,
    ingestQueue,
    calculationQueue,
    fileQueue,
    importQueue,
    webhookQueue,
    trialQueue,
    outbox: createOutboxRelay(database, consumers, log),
    authentication,
    findCachedCaller: createCachedCallerLookup(verifier, callers),
    limiter,
    users: openUserBudget(limiter, config.API_RATE_PER_MINUTE),
    accessInvalidation,
    progress,
    healthChecks,
    close: async () => {
      await watching.stop();
      accessInvalidation.close();
      limiter.close();
      pointPublisher.close();
      await Promise.all(queues.map((queue) => queue.close()));
      await Promise.all([closeDatabase(database), closeDatabase(readDatabase)]);
    },
  };
}

function openReads(config: Config, log: Log, database: Database) {
  const stallMs = config.READ_STALL_SEC * 1000;
  const readDatabase = openDatabase({
    url: config.DATABASE_URL,
    applicationName: 'tidemark',
    log,
    poolSize: config.READ_POOL_SIZE,
    readLimits: { stallMs },
  });
  const reads = openReadPool({
    readDatabase,
    database,
    connections: config.READ_POOL_SIZE,
    connectionsPerAccount: config.READ_MAX_PER_ACCOUNT,
    aheadBytes: config.READ_AHEAD_BYTES,
  });
  const readPace = { stallMs, minBytesPerSec: config.READ_MIN_BYTES_PER_SEC, maxMs: config.READ_MAX_SEC * 1000 };
  return { readDatabase, reads, readPace };
}

/**
 * Fraction of the pool that requests may use for their first connections. The rest is for background work and for
 * further connections of requests.
 */
const REQUEST_PART = 0.75;

function sharesOf(config: Config): ConnectionShareOptions {
  const permits = Math.max(2, Math.floor(config.DATABASE_POOL_SIZE * REQUEST_PART));
  return { permits, permitsPerAccount: Math.min(config.DATABASE_MAX_PER_ACCOUNT, permits - 1) };
}
