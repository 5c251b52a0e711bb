/**
 * Services of one run of the tests or the benchmark, in a directory of their own under `.local/`. The run removes the
 * directory at its end; the next run with the same purpose removes the directories of killed runs.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_DIRECTORY, LOG_DIRECTORY } from '../paths.ts';
import type { Progress } from '../progress.ts';
import { rootDirectory } from '../roots/ensure-root.ts';
import { databaseRecipe } from '../roots/recipes.ts';
import { makeSecrets } from '../secrets.ts';
import { SetupError } from '../setup-error.ts';
import { chooseLauncher, locateState } from './launcher.ts';
import { type Lock, tryLock } from './lock.ts';
import { type Services, startServices, takeLock } from './services.ts';

const CREATE_WAIT_SEC = 60;

export interface TemporaryStackOptions {
  /** Name of the log directory, and first part of the name of the stack's directory. */
  readonly purpose: 'test' | 'bench';
  readonly isDurable: boolean;
  readonly progress: Progress;
}

/**
 * Starts TimescaleDB and Redis without any data. `stop` stops both and removes their data.
 * @throws {Error} when TimescaleDB or Redis cannot start.
 */
export async function startTemporaryStack(options: TemporaryStackOptions): Promise<Services> {
  const { directory, lock } = makeDirectory(`${options.purpose}-`);
  const logDirectory = join(LOG_DIRECTORY, options.purpose);
  const services = await startServices({ ...options, directory, lock, logDirectory, passwords: makeSecrets() });
  const stop = async () => {
    await services.stop();
    removeData(directory);
  };
  return { ...services, stop };
}

/**
 * Removes abandoned directories, then makes a directory and locks it. A second lock keeps other runs from removing the
 * new directory before it is locked.
 */
function makeDirectory(prefix: string): { readonly directory: string; readonly lock: Lock } {
  using creation = tryLock(join(LOCAL_DIRECTORY, 'lock'), CREATE_WAIT_SEC);
  if (!creation)
    throw new SetupError(
      `Waited ${CREATE_WAIT_SEC} s for the lock on ${LOCAL_DIRECTORY}, which other runs of tests or benchmarks hold while they start. Try again later.`,
    );
  removeAbandoned(prefix);
  const directory = mkdtempSync(join(LOCAL_DIRECTORY, prefix));
  return { directory, lock: takeLock(directory) };
}

/** Removes each directory whose lock is free: a free lock shows that the run that made the directory was killed. */
function removeAbandoned(prefix: string): void {
  for (const name of readdirSync(LOCAL_DIRECTORY).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(LOCAL_DIRECTORY, name);
    using lock = tryLock(join(directory, 'lock'));
    if (lock) removeData(directory);
  }
}

function removeData(directory: string): void {
  for (const name of ['postgres', 'redis']) {
    const state = locateState(chooseLauncher(process.env), rootDirectory(databaseRecipe()), join(directory, name));
    rmSync(state.hostPath, { recursive: true, force: true });
  }
  rmSync(directory, { recursive: true, force: true });
}
