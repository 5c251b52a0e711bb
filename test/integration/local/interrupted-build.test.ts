/**
 * Tests what a signal leaves behind when it interrupts the build of a root file system. The tests run the real
 * mmdebstrap, with its mounts, on an empty package repository, so a build takes 2 s instead of a minute.
 * `ROOT_BUILD=full npm test -- interrupted-build` builds from Debian's packages.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { readProcess } from '../../support/processes.ts';

const SCRIPT = new URL('../../support/services/root-build-process.ts', import.meta.url).pathname;
const MMDEBSTRAP = spawnSync('sh', ['-c', 'command -v mmdebstrap']).stdout.toString().trim();
const CAN_BUILD = MMDEBSTRAP !== '' && process.getuid?.() === 0;
const IS_FULL = process.env.ROOT_BUILD === 'full';
const TEST_MS = IS_FULL ? 600_000 : 60_000;

interface Build {
  readonly child: ChildProcess;
  /** TMPDIR of every process of the build. */
  readonly temporary: string;
  readonly cache: string;
  /** Resolves in the middle of the build, while the hook runs. */
  inHook(): Promise<void>;
}

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/**
 * Creates the folders that builds use, and a wrapper script `mmdebstrap`. The wrapper runs the real mmdebstrap, with an
 * empty package repository unless ROOT_BUILD is `full`.
 */
function makeWorkplace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-test-build-'));
  directories.push(directory);
  for (const name of ['bin', 'cache', 'repository', 'temporary']) mkdirSync(join(directory, name));
  spawnSync('chmod', ['-R', 'a+rX', directory]);
  writeFileSync(join(directory, 'repository', 'Packages'), '');
  const empty = `--variant=custom "deb [trusted=yes] file://${directory}/repository ./"`;
  // mmdebstrap refuses an empty list of packages, so the wrapper drops an empty option `--include=`.
  const dropEmpty = 'for it do shift; [ "$it" = --include= ] || set -- "$@" "$it"; done';
  const program = `#!/bin/sh\n${dropEmpty}\nexec ${MMDEBSTRAP} "$@" ${IS_FULL ? '' : empty}\n`;
  writeFileSync(join(directory, 'bin', 'mmdebstrap'), program, { mode: 0o755 });
  return directory;
}

/** Starts a build. The hook of the build writes the file `mark` and then waits `waitSec` seconds. */
function startBuild(workplace: string, waitSec: number): Build {
  const [cache, temporary, mark] = ['cache', 'temporary', 'mark'].map((name) => join(workplace, name)) as [
    string,
    string,
    string,
  ];
  const hook = `cat /proc/self/mountinfo > ${mark}; exec sleep ${waitSec}`;
  const child = spawn(process.execPath, [SCRIPT, hook], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      ...{ TMPDIR: temporary, XDG_CACHE_HOME: cache, PATH: `${join(workplace, 'bin')}${delimiter}${process.env.PATH}` },
    },
  });
  const isInHook = async () => {
    if (child.exitCode !== null) return 'ended';
    return existsSync(mark) && readFileSync(mark, 'utf8').includes(`${temporary}/`) && 'running';
  };
  const inHook = async () => expect(await eventually('the hook', isInHook, TEST_MS)).toBe('running');
  return { child, temporary, cache, inHook };
}

/**
 * @returns what the builds in these directories have left on this machine: files (except lock files), processes, and
 * mounts in any namespace.
 */
function leftovers({ temporary, cache }: Build) {
  const files = [temporary, join(cache, 'tidemark')].flatMap((path) => readdirSync(path));
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const mentions = (pid: string, file: string) => readProcess(pid, file).includes(`${temporary}`);
  return {
    files: files.filter((name) => !name.endsWith('.lock')),
    mounts: pids.filter((pid) => mentions(pid, 'mountinfo')),
    processes: pids.filter((pid) => mentions(pid, 'environ')),
  };
}

async function end({ child }: Build, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

const NOTHING = { files: [], mounts: [], processes: [] };
const options = { concurrent: true, skip: !CAN_BUILD, timeout: TEST_MS };

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(
    `root build: ${signal} during the build leaves no mount, no folder and no process (needs root and mmdebstrap)`,
    options,
    async () => {
      const build = startBuild(makeWorkplace(), 300);
      await build.inHook();
      await end(build, signal);
      expect(leftovers(build)).toEqual(NOTHING);
    },
  );
}

test(
  'root build: after SIGKILL, the next build removes the leftovers of the killed build and succeeds (needs root and mmdebstrap)',
  options,
  async () => {
    const workplace = makeWorkplace();
    const killed = startBuild(workplace, 300);
    await killed.inHook();
    await end(killed, 'SIGKILL');
    expect(leftovers(killed).files).not.toEqual([]);
    const next = startBuild(workplace, 0);
    expect(await once(next.child, 'exit')).toEqual([0, null]);
    expect(leftovers(next)).toEqual({ ...NOTHING, files: ['r-test'] });
  },
);
