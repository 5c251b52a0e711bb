/**
 * Builds the console into `.local/console/<hash>/`, unless a build of the same sources and packages exists there. A
 * build takes about two seconds.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execFile } from 'child-process-promise';
import { CHECKOUT, LOCAL_DIRECTORY, PINNED_NODE } from './paths.ts';
import type { Progress } from './progress.ts';
import { SetupError } from './setup-error.ts';

const SOURCE = join(CHECKOUT, 'src/console');
const BUILDS = join(LOCAL_DIRECTORY, 'console');
const VITE = join(CHECKOUT, 'node_modules/vite/bin/vite.js');
/** Number of earlier builds that are kept, because a running stack may still serve them. */
const KEPT_BUILDS = 2;

/**
 * @returns the directory of the built console, which is the value for CONSOLE_DIRECTORY.
 * @throws {SetupError} when the build fails.
 */
export async function prepareConsole(progress: Progress): Promise<string> {
  const name = hashSources();
  const directory = join(BUILDS, name);
  mkdirSync(BUILDS, { recursive: true });
  if (readdirSync(BUILDS).includes(name)) return directory;
  await progress.phase('Building the console', () => build(directory));
  return directory;
}

/** @returns the name of the build: a hash of its sources and of the packages that go into it. */
function hashSources(): string {
  const files = globSync('**/*', { cwd: SOURCE, withFileTypes: true }).filter((entry) => entry.isFile());
  const hash = createHash('sha256').update(readFileSync(join(CHECKOUT, 'package-lock.json')));
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(`\0${path.slice(SOURCE.length)}\0`).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Builds the console into a temporary directory first, so other commands never see an unfinished build. */
async function build(directory: string): Promise<void> {
  const unfinished = `${directory}.${process.pid}`;
  try {
    // Tests set NODE_ENV to `test`; Vite would then take the development build of React, which is a third larger.
    const env = { ...process.env, NODE_ENV: 'production' };
    await execFile(PINNED_NODE, [VITE, 'build', SOURCE, '--outDir', unfinished, '--logLevel', 'error'], { env });
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw new SetupError(`The console could not be built:\n${stderr || message}`);
  }
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    // If `directory` exists by now, another command built the same sources at the same time.
    rmSync(unfinished, { recursive: true, force: true });
    if (!isTaken(error)) throw error;
  }
  removeOldBuilds(directory);
}

function isTaken(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function removeOldBuilds(current: string): void {
  const others = readdirSync(BUILDS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && join(BUILDS, entry.name) !== current && !entry.name.includes('.'))
    .map(({ name }) => join(BUILDS, name))
    .map((path) => ({ path, changedMs: statSync(path).mtimeMs }))
    .sort((a, b) => b.changedMs - a.changedMs);
  for (const { path } of others.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}
