/**
 * Runs roles of Tidemark in this process: `main.ts api grpc ingester calculator deliverer`. `main.ts migrate` updates
 * the database schema; `main.ts admin <command>` runs a command for operators. SIGTERM and SIGINT stop the roles one
 * after another, from the api to the deliverer (R-K2).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SandboxUnavailableError } from './calculation/sandbox/sandbox-types.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { Queryable } from './platform/database/database.ts';
import { isDependencyError } from './platform/database/dependency-error.ts';
import { migrate } from './platform/database/migrate.ts';
import { DomainError } from './platform/errors.ts';
import type { HealthCheck } from './platform/health/health.ts';
import { createLog, flushLogs, type Log } from './platform/log.ts';
import { watchDependencies } from './platform/metrics/platform-metrics.ts';
import { throttle } from './platform/throttle.ts';
import { startHealth } from './roles/health-role.ts';
import { type HttpListener, listenHttp } from './roles/http-listener.ts';
import { ListenError, toListenError } from './roles/listen-error.ts';
import { openParts, type Parts, type Role } from './roles/parts.ts';
import { warmTimeZones } from './structure/catalogue/time-zones.ts';

const ROLES = ['api', 'grpc', 'ingester', 'calculator', 'deliverer'] as const;
type RoleName = (typeof ROLES)[number];

const RETRY_MS = 500;
const WARN_INTERVAL_MS = 60_000;

/** Message that the parent process, if there is one, gets when every role is running. */
interface Ready {
  readonly kind: 'ready';
  readonly http?: string;
  readonly grpc?: string;
  /** Address of the health server, when HEALTH_PORT is set. */
  readonly health?: string;
}

/**
 * Message that the parent process gets instead of `Ready` when a role cannot start and the operator can correct the
 * cause.
 */
interface Refused {
  readonly kind: 'refused';
  readonly message: string;
}

async function main(names: readonly string[]): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.LOG_LEVEL, names.join('+'));
  if (names.includes('migrate')) return migrate(config.DATABASE_URL, log);
  if (names[0] === 'admin') {
    const { runAdmin } = await import('./roles/admin-role.ts');
    return runAdmin(config, log, names.slice(1), process.env);
  }
  const unknown = names.filter((name) => !ROLES.includes(name as RoleName));
  if (names.length === 0 || unknown.length > 0) {
    throw new DomainError(
      'invalid_input',
      `the command line must name roles (${ROLES.join(', ')}), or migrate, or admin with a command, got "${names.join(' ')}"`,
    );
  }
  await run(config, log, new Set(names as RoleName[]));
}

async function run(given: Config, log: Log, names: ReadonlySet<RoleName>): Promise<void> {
  const listener = names.has('api') ? await listenApi(given) : undefined;
  const config = listener ? { ...given, HTTP_PORT: listener.port } : given;
  const parts = openParts(config, log, [...names]);
  const roles: Role[] = [];
  const asked = new AbortController();
  const stopping = stopOnSignal(parts, roles, asked);
  try {
    await waitForDatabase(parts.database, log, asked.signal);
    const ready = await startRoles(parts, names, roles, listener);
    log.info({ ...ready }, 'ready');
    process.send?.(ready);
  } catch (error) {
    if (!asked.signal.aborted) throw error;
  }
  await stopping;
}

async function listenApi(config: Config): Promise<HttpListener> {
  const { HTTP_HOST: host, HTTP_PORT: port, HTTP_MIN_BODY_BYTES_PER_SEC: minBodyBytesPerSec } = config;
  try {
    return await listenHttp(host, port, { minBodyBytesPerSec });
  } catch (error) {
    throw toListenError(error, { host, port, prefix: 'HTTP' });
  }
}

/**
 * Waits until the database answers, because an orchestrator may start the database and this process at the same time
 * (R-K3).
 * @throws the database's error when waiting cannot help, for example when the password is wrong; an AbortError when
 * `signal` aborts.
 */
async function waitForDatabase(database: Queryable, log: Log, signal: AbortSignal): Promise<void> {
  const warn = throttle(WARN_INTERVAL_MS, (error: unknown) =>
    log.warn({ err: error }, 'the database is unavailable; this process waits until the database answers'),
  );
  for (;;) {
    signal.throwIfAborted();
    try {
      await database.query('select 1');
      return;
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      warn(error);
    }
    await pause(RETRY_MS, undefined, { signal });
  }
}

/**
 * Starts the roles in the order opposite to the flow of data, from the deliverer to the api, so that each role starts
 * after the roles that process its output. Adds each started role to `roles` immediately, so that a signal can stop it.
 * Loads only the code of the roles in `names`, so that the process starts fast, including after a crash.
 */
async function startRoles(
  parts: Parts,
  names: ReadonlySet<RoleName>,
  roles: Role[],
  listener: HttpListener | undefined,
): Promise<Ready> {
  // `warmTimeZones` takes some milliseconds, so it runs before the first request.
  warmTimeZones();
  const { config } = parts;
  const healthChecks: Record<string, HealthCheck> = { ...parts.healthChecks };
  let ready: Ready = { kind: 'ready' };
  if (names.has('deliverer')) {
    const { startDelivererRole } = await import('./roles/deliverer-role.ts');
    roles.push(await startDelivererRole(parts));
  }
  if (names.has('calculator')) {
    const { startCalculatorRole } = await import('./roles/calculator-role.ts');
    const calculator = await startCalculatorRole(parts);
    roles.push(calculator);
    Object.assign(healthChecks, calculator.healthChecks);
  }
  if (names.has('ingester')) {
    const { startIngesterRole } = await import('./roles/ingester-role.ts');
    roles.push(startIngesterRole(parts));
  }
  if (names.has('grpc')) {
    const { startGrpcRole } = await import('./roles/grpc-role.ts');
    const grpc = await startGrpcRole(parts);
    roles.push(grpc);
    ready = { ...ready, grpc: grpc.address };
  }
  if (listener) {
    const { startApi } = await import('./roles/api-role.ts');
    roles.push(await startApi({ ...parts, healthChecks }, listener));
    ready = { ...ready, http: `http://${config.HTTP_HOST}:${listener.port}` };
  }
  parts.metrics.watchProcess();
  watchDependencies(parts.metrics, healthChecks);
  if (config.HEALTH_PORT !== undefined) {
    const health = await startHealth(parts, config.HEALTH_PORT, healthChecks);
    roles.push(health);
    ready = { ...ready, health: health.address };
  }
  return ready;
}

/**
 * At SIGTERM or SIGINT, aborts `asked`, which ends the wait for the database. Then stops every role, closes the parts,
 * and resolves. If this takes longer than SHUTDOWN_TIMEOUT_MS, the process exits with code 1.
 */
function stopOnSignal({ config, log, close }: Parts, roles: readonly Role[], asked: AbortController): Promise<void> {
  const timeoutMs = config.SHUTDOWN_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    const stop = async (signal: string): Promise<void> => {
      log.info({ signal }, 'stopping');
      setTimeout(() => {
        log.error({ timeoutMs }, 'stopping took longer than SHUTDOWN_TIMEOUT_MS; the process exits with code 1');
        void flushLogs().then(() => process.exit(1));
      }, timeoutMs).unref();
      // Stops the servers before the workers that process what the servers accept.
      for (const role of [...roles].reverse()) await role.stop();
      await close();
      log.info('stopped');
    };
    let isStopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isStopping) return;
        isStopping = true;
        asked.abort();
        stop(signal).then(resolve, reject);
      });
    }
  });
}

/** Errors that the operator can correct: only the message is shown, without a stack. */
const EXPECTED = [ConfigError, DomainError, ListenError, SandboxUnavailableError];

/**
 * Shows why the process ends with exit code 1. If the operator can correct the error, shows only its message;
 * otherwise, logs the error with its stack.
 */
function report(error: unknown): void {
  if (!EXPECTED.some((kind) => error instanceof kind)) {
    createLog('info', 'main').fatal({ err: error }, 'the process ends after an error');
    return;
  }
  const { message } = error as Error;
  process.stderr.write(`${message}\n`);
  const refused: Refused = { kind: 'refused', message };
  process.send?.(refused);
}

try {
  await main(process.argv.slice(2));
  await flushLogs();
  process.exit(0);
} catch (error) {
  report(error);
  await flushLogs();
  process.exit(1);
}
