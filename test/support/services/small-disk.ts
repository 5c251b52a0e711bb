/** A second TimescaleDB whose data directory is a small tmpfs, for tests of a full disk. Mounting needs root rights. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createProgress } from '../../../src/local/progress.ts';
import { ensureRoot } from '../../../src/local/roots/ensure-root.ts';
import { databaseRecipe } from '../../../src/local/roots/recipes.ts';
import { chooseLauncher, prepareState } from '../../../src/local/services/launcher.ts';
import { ensureDatabase, startPostgres } from '../../../src/local/services/postgres.ts';
import type { Service } from '../../../src/local/services/service.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { createLog } from '../../../src/platform/log.ts';

const DISK_MIB = 400;
const RESTART_MS = 300;

export interface SmallDisk {
  /** URL of a migrated, empty database. */
  readonly url: string;
  /** Fills the disk to the last byte. */
  fill(): void;
  free(): void;
  /** @returns the number of times that the server was started again after it had ended, including failed starts. */
  restarts(): number;
  stop(): Promise<void>;
}

/** @returns undefined when this process cannot mount a tmpfs. */
export async function startSmallDisk(): Promise<SmallDisk | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-disk-'));
  const launcher = chooseLauncher(process.env);
  const root = await ensureRoot(databaseRecipe(), createProgress(process.stderr));
  const { hostPath } = prepareState(launcher, root, join(directory, 'data'));
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', hostPath]);
  const clear = () => rmSync(directory, { recursive: true, force: true });
  if (mount.status !== 0) {
    clear();
    return undefined;
  }
  const common = { launcher, root, directory: join(directory, 'data'), logFile: join(directory, 'postgres.log') };
  const lock = openSync(join(directory, 'lock'), 'a');
  // `isDurable` is set, because a full disk crashes the server, and every commit must survive the restart.
  const start = (wantedPort?: number) =>
    startPostgres({ ...common, password: 'secret', lock, wantedPort, isDurable: true });
  const supervised = supervise(await start(), start);
  const url = await ensureDatabase(supervised.url, 'tidemark');
  await migrate(url, createLog('error', 'test'));
  const filler = join(hostPath, 'filler');
  return {
    url,
    fill: () => fill(hostPath, filler),
    free: () => rmSync(filler, { force: true }),
    restarts: supervised.restarts,
    stop: async () => {
      await supervised.stop();
      spawnSync('umount', ['--lazy', hostPath]);
      clear();
    },
  };
}

function fill(disk: string, filler: string): void {
  mkdirSync(disk, { recursive: true });
  const { bavail, bsize } = statfsSync(disk);
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize), { flag: 'a' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

/** Starts the service again on the same port whenever it ends, as an orchestrator does, until `stop` is called. */
function supervise(first: Service, start: (port: number) => Promise<Service>) {
  const port = Number(new URL(first.url).port);
  let service = first;
  let restarts = 0;
  let isStopped = false;
  const watch = async (): Promise<void> => {
    while (!isStopped) {
      await service.ended;
      if (isStopped) return;
      await pause(RESTART_MS);
      restarts += 1;
      // A start fails as long as the disk is full.
      service = await start(port).catch(() => service);
    }
  };
  const ended = watch();
  return {
    url: first.url,
    restarts: () => restarts,
    stop: async () => {
      isStopped = true;
      await service.stop();
      await ended;
    },
  };
}
