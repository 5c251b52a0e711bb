/**
 * Starts and stops TimescaleDB and Redis for one stack. Their data, lock and ports are in the stack's directory.
 * `npm start`, the tests and the benchmarks have separate directories.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../progress.ts';
import { ensureRoot } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { SetupError } from '../setup-error.ts';
import { chooseLauncher, type LauncherKind } from './launcher.ts';
import { type Lock, tryLock } from './lock.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Service } from './service.ts';

/** The processes of a killed stack hold its lock until they exit, which takes a moment. */
const LOCK_WAIT_SEC = 3;

export interface ServicesOptions {
  readonly directory: string;
  readonly logDirectory: string;
  readonly passwords: { readonly postgres: string; readonly redis: string };
  readonly isDurable: boolean;
  readonly progress: Progress;
  /** The lock of `directory`, if the caller holds it already. */
  readonly lock?: Lock;
}

export interface Services {
  /** Connection URL of the database `postgres`. */
  readonly serverUrl: string;
  readonly redisUrl: string;
  readonly launcher: LauncherKind;
  /** Resolves with the name of the first service that ends, whether by itself or because `stop` was called. */
  readonly firstEnded: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts TimescaleDB and Redis; builds their root file system first if it is missing.
 * @throws {Error} when TimescaleDB and Redis are already running or cannot be started.
 */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const launcher = chooseLauncher(process.env);
  const lock = options.lock ?? takeLock(options.directory);
  const root = await ensureRoot(databaseRecipe(), options.progress);
  const common = { launcher, root, lock: lock.descriptor, isDurable: options.isDurable };
  const ports = readPorts(options.directory);
  const started: Service[] = [];
  const stop = async () => {
    for (const service of started.toReversed()) await service.stop();
    lock[Symbol.dispose]();
  };
  try {
    const postgres = await options.progress.phase('Starting TimescaleDB', () =>
      startPostgres({ ...common, ...optionsOf(options, 'postgres'), wantedPort: ports.postgres }),
    );
    started.push(postgres);
    const redis = await options.progress.phase('Starting Redis', () =>
      startRedis({ ...common, ...optionsOf(options, 'redis'), wantedPort: ports.redis }),
    );
    started.push(redis);
    rememberPorts(options.directory, { postgres: portOf(postgres), redis: portOf(redis) });
    const firstEnded = Promise.race(started.map(({ name, ended }) => ended.then(() => name)));
    return { serverUrl: postgres.url, redisUrl: redis.url, launcher, firstEnded, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Takes the lock of a stack's directory.
 * @throws {SetupError} when another process still holds the lock of `directory` after `waitSec` seconds.
 */
export function takeLock(directory: string, waitSec = LOCK_WAIT_SEC): Lock {
  const lock = tryLock(join(directory, 'lock'), waitSec);
  if (lock) return lock;
  throw new SetupError(
    `The stack of this checkout is already running or being restored (${directory} is locked). ` +
      'Stop it, or wait for the restore to end; or use another clone, which has its own stack.',
  );
}

function optionsOf(options: ServicesOptions, name: 'postgres' | 'redis') {
  return {
    directory: join(options.directory, name),
    logFile: join(options.logDirectory, `${name}.log`),
    password: options.passwords[name],
  };
}

interface Ports {
  readonly postgres?: number;
  readonly redis?: number;
}

function readPorts(directory: string): Ports {
  try {
    return JSON.parse(readFileSync(join(directory, 'ports.json'), 'utf8')) as Ports;
  } catch {
    return {};
  }
}

function rememberPorts(directory: string, ports: Ports): void {
  writeFileSync(join(directory, 'ports.json'), JSON.stringify(ports));
}

function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}
