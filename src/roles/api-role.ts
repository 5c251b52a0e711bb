/** The api role: REST, push, the embedded token issuer and the console on one port. */
import { writeAudit } from '../accounts/audit/audit.ts';
import { calculationRoutes } from '../calculation/calculation-routes.ts';
import { openDeclarations } from '../calculation/declaration/save-declaration.ts';
import { findRunOrigins } from '../calculation/run/find-origins.ts';
import type { Config } from '../config.ts';
import { fileRoutes } from '../files/file-routes.ts';
import { findFileOrigins } from '../files/find-origins.ts';
import { consoleRoutes } from '../http/console/console-routes.ts';
import { type AppParts, createApp } from '../http/create-app.ts';
import { createRequestCounter } from '../http/http-metrics.ts';
import { descriptionRoutes } from '../http/openapi/description-routes.ts';
import { FAST_PUSH_COST } from '../http/rate-limit.ts';
import { passwordExchange } from '../identity/authentication/exchange-password.ts';
import { CONSOLE_CLIENT_ID } from '../identity/clients/find-client.ts';
import { createIssuer, issuerRoutes } from '../identity/issuer/issuer.ts';
import { apiUrl, signInIssuer } from '../identity/issuer/issuer-url.ts';
import { systemClock } from '../platform/clock.ts';
import { startSweeper } from '../platform/sweep.ts';
import { mapperRoutes } from '../push/mapper/mapper-routes.ts';
import { findPushOrigins } from '../push/operations/find-origins.ts';
import { pushRoutes } from '../push/push-routes.ts';
import { openPushService } from '../push/push-service.ts';
import { compareRoutes } from '../reading/compare/compare-routes.ts';
import { dataRoutes } from '../reading/data-routes.ts';
import { deleteRoutes } from '../reading/delete-routes.ts';
import { originRoutes } from '../reading/origins/origin-routes.ts';
import { createReadMetrics } from '../reading/read-metrics.ts';
import { watchRoutes } from '../reading/watch/watch-routes.ts';
import { retentionRoutes } from '../retention/retention-routes.ts';
import { catalogueRoutes } from '../structure/catalogue/catalogue-routes.ts';
import { ownEntryRoutes } from '../structure/catalogue/own-entry-routes.ts';
import { exportRoutes } from '../structure/exchange/export/export-routes.ts';
import { type ImportRouteServices, importRoutes } from '../structure/exchange/import/import-routes.ts';
import { templateRoutes } from '../structure/exchange/template.ts';
import { formRoutes } from '../structure/forms/form-routes.ts';
import { structureRoutes } from '../structure/structure-routes.ts';
import { versionRoutes } from '../structure/versions/version-routes.ts';
import { webhookRoutes } from '../webhooks/administration/webhook-routes.ts';
import { historyRoutes } from '../webhooks/history/history-routes.ts';
import { openSecretVault } from '../webhooks/secret-vault.ts';
import { trialRoutes } from '../webhooks/trial-sends/trial-routes.ts';
import { startAccounts } from './account-services.ts';
import type { HttpListener } from './http-listener.ts';
import type { Parts, Role } from './parts.ts';

const KEY_INTERVAL_MS = 60_000;

/** Functions that find the pushes, files and runs that versions came from. */
const ORIGINS = { findPushes: findPushOrigins, findFiles: findFileOrigins, findRuns: findRunOrigins };

export interface ApiRole extends Role {
  /** Every route, in the order of registration; middleware has the method ALL. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/**
 * Starts the api role on a listener that is already listening.
 * @throws {Error} when the token issuer cannot load its keys, or when CONSOLE_DIRECTORY contains no built console.
 */
export async function startApi(parts: Parts, listener: HttpListener): Promise<ApiRole> {
  const { config, database, dictionary, metrics, log, ingestQueue } = parts;
  const accounts = startAccounts(parts);
  const issuer = await createIssuer({ config, database, log, ...accounts.issuerHooks });
  const keys = startSweeper('signing keys', KEY_INTERVAL_MS, issuer.refreshKeys, log);
  const push = openPushService({
    database,
    dictionary,
    limits: {
      maxBodyBytes: config.PUSH_MAX_BODY_BYTES,
      maxElements: config.PUSH_MAX_ELEMENTS,
      maxReadings: config.PUSH_MAX_READINGS,
      maxMemoryBytes: config.PUSH_MAX_MEMORY_BYTES,
      maxQueueBytes: config.PUSH_MAX_QUEUE_BYTES,
    },
    threads: config.PUSH_THREADS,
    directWrites: config.PUSH_DIRECT_WRITES,
    mappers: {
      timeoutMs: config.MAPPER_TIMEOUT_MS,
      memoryMebibytes: config.MAPPER_MEMORY_MEBIBYTES,
      processes: config.MAPPER_PROCESSES,
    },
    wakeIngester: (accountIds) => ingestQueue.wake(accountIds.map(String)),
    metrics,
    log,
  });
  const declarations = openDeclarations(database);
  const reading = { ...parts, readMetrics: createReadMetrics(metrics) };
  const watches = parts.watching.join();
  const app = createApp({
    authentication: parts.authentication,
    exchangePassword: passwordExchange(config, database, parts.authentication.verifier, systemClock),
    issuer: issuerRoutes(issuer),
    isIssuerPath: issuer.handles,
    open: accounts.open,
    // The module is imported at the first request for the description, because the import builds the schemas of all
    // answers, which takes 50 ms.
    description: descriptionRoutes(async () => (await import('./api-description.ts')).describeApi(config)),
    console: openConsole(config),
    rateLimits: {
      limiter: parts.limiter,
      users: parts.users,
      tokenPerMinute: config.TOKEN_RATE_PER_MINUTE,
      proxyHops: config.PROXY_HOPS,
    },
    healthChecks: parts.healthChecks,
    push: pushRoutes(push),
    api: [
      [
        '/',
        fileRoutes({
          database,
          maxBytes: config.FILE_MAX_BYTES,
          following: { maxPerUser: config.FILE_EVENTS_MAX_PER_USER, maxFollowers: config.FILE_EVENTS_MAX },
          maxMemoryBytes: config.FILE_UPLOAD_MEMORY_BYTES,
          wakeFileIngester: (accountId) => parts.fileQueue.wake([String(accountId)]),
          log,
        }),
      ],
      ['/account', mapperRoutes({ ...parts, runner: push.mapperRunner, limits: push.limits, audit: writeAudit })],
      ...webhookServices(parts),
      ...accounts.routes,
      ['/', catalogueRoutes(database)],
      ['/', ownEntryRoutes({ database, audit: writeAudit })],
      ['/', formRoutes({ ...parts, audit: writeAudit })],
      ['/', structureRoutes({ ...parts, declarations, audit: writeAudit })],
      ['/', exportRoutes({ ...parts, present: declarations.present })],
      ['/', importRoutes(importServices(parts))],
      ['/', templateRoutes(database)],
      ['/', versionRoutes({ database, audit: writeAudit })],
      ['/', retentionRoutes({ database, audit: writeAudit })],
      ['/', calculationRoutes({ ...parts, queue: parts.calculationQueue })],
      ['/data/compare', compareRoutes(reading)],
      ['/data/origins', originRoutes({ database, ...ORIGINS })],
      ['/data/watch', watchRoutes({ ...parts, watches })],
      ['/data', dataRoutes(reading)],
      ['/data', deleteRoutes({ database, audit: writeAudit })],
    ],
    metrics,
    corsOrigins: config.CORS_ORIGINS,
    metricsToken: config.METRICS_TOKEN,
    log,
  });
  metrics.gauge(
    { name: 'tidemark_http_in_flight', help: 'HTTP requests whose answers are not complete yet, streams included.' },
    listener.inFlight,
  );
  const requestSeconds = createRequestCounter(metrics)({ method: 'POST', route: '/api/data', status: 200 });
  const countPush = (userId: string) => parts.users.countInMemory(userId, FAST_PUSH_COST);
  const small = { findCachedCaller: parts.findCachedCaller, countPush, requestSeconds, log };
  listener.serve(app.fetch, (handleByApp) => push.handleSmallPushes(small, handleByApp));
  return {
    routes: app.routes,
    stop: async () => {
      watches.stop();
      await listener.stop(config.SHUTDOWN_TIMEOUT_MS / 4);
      await Promise.all([accounts.mail.stop(), keys.stop()]);
      await push.close();
    },
  };
}

/** Builds the routes of the console. @returns undefined when CONSOLE_DIRECTORY is unset. */
function openConsole(config: Config): AppParts['console'] {
  const { CONSOLE_DIRECTORY: directory } = config;
  if (directory === undefined) return undefined;
  const api = apiUrl(config);
  return consoleRoutes({
    ...{ directory, api, push: config.PUSH_URL ?? api },
    ...{ issuer: signInIssuer(config), clientId: CONSOLE_CLIENT_ID },
  });
}

/** @returns the services of the routes that import a structure. */
function importServices({ config, importQueue, ...parts }: Parts): ImportRouteServices {
  return {
    ...parts,
    maxBytes: config.STRUCTURE_IMPORT_MAX_BYTES,
    maxWaiting: config.STRUCTURE_IMPORT_MAX_WAITING,
    following: { maxPerUser: config.FILE_EVENTS_MAX_PER_USER, maxFollowers: config.FILE_EVENTS_MAX },
    maxMemoryBytes: config.FILE_UPLOAD_MEMORY_BYTES,
    wakeImporter: (accountId) => importQueue.wake([String(accountId)]),
  };
}

/** Builds the routes of webhooks, of their history and of webhook tests (§4.4). */
function webhookServices({ config, database, webhookQueue, trialQueue, limiter, log }: Parts): AppParts['api'] {
  const targetPolicy = { allowHttp: config.WEBHOOK_ALLOW_HTTP, allowedRanges: config.WEBHOOK_ALLOWED_RANGES };
  const secretOverlapHours = config.WEBHOOK_SECRET_OVERLAP_HOURS;
  const testsPerMinute = config.WEBHOOK_TESTS_PER_MINUTE;
  const countTrial = async (accountId: number) =>
    testsPerMinute === 0 ? 0 : limiter.count(`webhook-test:${accountId}`, testsPerMinute);
  const shared = { database, vault: openSecretVault(config.WEBHOOK_KEYS), audit: writeAudit, log };
  return [
    ['/account', webhookRoutes({ ...shared, secretOverlapHours, targetPolicy })],
    ['/account', historyRoutes({ ...shared, queue: webhookQueue })],
    ['/account', trialRoutes({ ...shared, queue: trialQueue, targetPolicy, countTrial })],
  ];
}
