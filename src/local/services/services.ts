/**
 * TimescaleDB and Redis of one stack together, in one directory: its lock says whether they run, its `ports.json`
 * which ports they had. Used by start, tests and benchmarks, each with a directory of its own.
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

/** Processes of a stack that was killed need a moment to go. */
const LOCK_WAIT_SEC = 3;

export interface ServicesOptions {
  readonly directory: string;
  readonly logDirectory: string;
  readonly passwords: { readonly postgres: string; readonly redis: string };
  readonly isDurable: boolean;
  readonly progress: Progress;
  /** The lock of `directory`, when the caller has taken it already. */
  readonly lock?: Lock;
}

export interface Services {
  /** Leads to the database `postgres`. */
  readonly serverUrl: string;
  readonly redisUrl: string;
  readonly launcher: LauncherKind;
  /** Resolves with the name of the first service that ends by itself. */
  readonly firstEnded: Promise<string>;
  stop(): Promise<void>;
}

/** Starts both, building what is missing. @throws SetupError when they run already or cannot be started. */
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
      startPostgres({ ...common, ...placeOf(options, 'postgres'), wantedPort: ports.postgres }),
    );
    started.push(postgres);
    const redis = await options.progress.phase('Starting Redis', () =>
      startRedis({ ...common, ...placeOf(options, 'redis'), wantedPort: ports.redis }),
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

/** @throws SetupError when somebody else holds the lock of `directory`. */
export function takeLock(directory: string, waitSec = LOCK_WAIT_SEC): Lock {
  const lock = tryLock(join(directory, 'lock'), waitSec);
  if (lock) return lock;
  throw new SetupError(`This checkout's stack is running already (${directory} is locked). Stop that one first.`);
}

function placeOf(options: ServicesOptions, name: 'postgres' | 'redis') {
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
