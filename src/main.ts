/**
 * Starts the roles named on the command line in this process: `main.ts api grpc ingester calculator deliverer`, or
 * `migrate` to bring the schema up to date and end, or `admin` with a command of the operator's. Stops them on SIGTERM and SIGINT (R-K2).
 */
import { type Config, ConfigError, readConfig } from './config.ts';
import { startGrpcServer } from './grpc/start-grpc-server.ts';
import { purgeExpired } from './identity/issuer/purge-expired.ts';
import { startIngester } from './ingest/ingester.ts';
import { purgeOldOperations } from './ingest/operation-upkeep.ts';
import { migrate } from './platform/database/migrate.ts';
import { DomainError } from './platform/errors.ts';
import type { HealthCheck } from './platform/http/health.ts';
import { createLog, type Log } from './platform/log.ts';
import { watchDependencies } from './platform/metrics/platform-metrics.ts';
import { startSweeper } from './platform/sweep.ts';
import { joinRewrites } from './points/write/note-rewrites.ts';
import { runAdmin } from './roles/admin-role.ts';
import { startApi } from './roles/api-role.ts';
import { startCalculatorRole } from './roles/calculator-role.ts';
import { startDelivererRole } from './roles/deliverer-role.ts';
import { startFileRole } from './roles/file-role.ts';
import { healthApp } from './roles/health-app.ts';
import { type HttpListener, listenHttp } from './roles/http-listener.ts';
import { openParts, type Parts, type Role } from './roles/parts.ts';
import { warmTimeZones } from './structure/catalogue/time-zones.ts';

const ROLES = ['api', 'grpc', 'ingester', 'calculator', 'deliverer'] as const;
type RoleName = (typeof ROLES)[number];

const PURGE_INTERVAL_MS = 600_000;

/** Sent to the parent process once every role is up. */
interface Ready {
  readonly kind: 'ready';
  readonly http?: string;
  readonly grpc?: string;
  /** Address of HEALTH_PORT. */
  readonly health?: string;
}

async function main(names: readonly string[]): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.LOG_LEVEL, names.join('+'));
  if (names.includes('migrate')) return migrate(config.DATABASE_URL, log);
  if (names[0] === 'admin') return runAdmin(config, log, names.slice(1));
  const unknown = names.filter((name) => !ROLES.includes(name as RoleName));
  if (names.length === 0 || unknown.length > 0) {
    throw new ConfigError([
      `the roles to start must be named: ${ROLES.join(', ')}, or migrate; got "${names.join(' ')}"`,
    ]);
  }
  await run(config, log, new Set(names as RoleName[]));
}

async function run(given: Config, log: Log, names: ReadonlySet<RoleName>): Promise<void> {
  const listener = names.has('api') ? await listenHttp(given.HTTP_HOST, given.HTTP_PORT) : undefined;
  const config = listener ? { ...given, HTTP_PORT: listener.port } : given;
  const parts = openParts(config, log);
  const roles: Role[] = [];
  const stopping = stopOnSignal(parts, roles);
  const ready = await startRoles(parts, names, roles, listener);
  log.info({ ...ready }, 'ready');
  process.send?.(ready);
  await stopping;
}

/** Starts in the order data flow; what has started is in `roles`, so that it can be stopped whatever comes next. */
async function startRoles(
  parts: Parts,
  names: ReadonlySet<RoleName>,
  roles: Role[],
  listener: HttpListener | undefined,
): Promise<Ready> {
  // Now, while nobody waits for an answer.
  warmTimeZones();
  const { config, log, database } = parts;
  const healthChecks: Record<string, HealthCheck> = { ...parts.healthChecks };
  let ready: Ready = { kind: 'ready' };
  if (names.has('deliverer')) roles.push(startDelivererRole(parts));
  if (names.has('calculator')) {
    const calculator = await startCalculatorRole(parts);
    roles.push(calculator);
    Object.assign(healthChecks, calculator.healthChecks);
  }
  if (names.has('ingester')) {
    roles.push(startIngesterRole(parts), startFileRole(parts));
    roles.push(startSweeper('purge', PURGE_INTERVAL_MS, async () => void (await purgeExpired(database)), log));
    const purgeOperations = async () => {
      while ((await purgeOldOperations(database, config.PUSH_OPERATION_RETENTION_DAYS)) > 0);
    };
    roles.push(startSweeper('rewrites', PURGE_INTERVAL_MS, () => joinRewrites(database), log));
    roles.push(startSweeper('operation purge', PURGE_INTERVAL_MS, purgeOperations, log));
  }
  if (names.has('grpc')) {
    const server = await startGrpcServer(parts, config.GRPC_HOST, config.GRPC_PORT);
    roles.push({ stop: () => server.stop(config.SHUTDOWN_TIMEOUT_MS / 4) });
    ready = { ...ready, grpc: server.address };
  }
  if (listener) {
    roles.push(await startApi({ ...parts, healthChecks }, listener));
    ready = { ...ready, http: `http://${config.HTTP_HOST}:${listener.port}` };
  }
  parts.metrics.watchProcess();
  watchDependencies(parts.metrics, healthChecks);
  if (config.HEALTH_PORT !== undefined) {
    const health = await listenHttp(config.HEALTH_HOST, config.HEALTH_PORT);
    health.serve(healthApp(parts, healthChecks).fetch);
    roles.push({ stop: () => health.stop(config.SHUTDOWN_TIMEOUT_MS / 10) });
    ready = { ...ready, health: `http://${config.HEALTH_HOST}:${health.port}` };
  }
  return ready;
}

function startIngesterRole(parts: Parts): Role {
  const { config, ingestQueue } = parts;
  const settings = {
    concurrency: config.INGEST_CONCURRENCY,
    maxRows: config.INGEST_MAX_ROWS,
    sweepIntervalMs: config.SWEEP_INTERVAL_MS,
  };
  return startIngester({ ...parts, queue: ingestQueue, settings });
}

/** Resolves when everything has stopped; a stop that takes too long ends the process. */
function stopOnSignal({ config, log, close }: Parts, roles: readonly Role[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = async (signal: string): Promise<void> => {
      log.info({ signal }, 'stopping');
      setTimeout(() => {
        log.error('stopping took too long');
        process.exit(1);
      }, config.SHUTDOWN_TIMEOUT_MS).unref();
      // The doors first, then the workers behind them.
      for (const role of [...roles].reverse()) await role.stop();
      await close();
      log.info('stopped');
    };
    let isStopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isStopping) return;
        isStopping = true;
        stop(signal).then(resolve, reject);
      });
    }
  });
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  if (error instanceof ConfigError || error instanceof DomainError) process.stderr.write(`${error.message}\n`);
  else createLog('info', 'main').fatal({ err: error }, 'cannot start');
  process.exit(1);
}
