/** Removal of the directories in which root file systems are built, including those of an interrupted build. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  findMounts,
  makeBuildDirectory,
  removeBuildDirectory,
  sweepBuildDirectories,
} from '../../../src/local/roots/build-directory.ts';

const DEAD_PID = 2 ** 22 + 1;

const parents: string[] = [];
afterAll(() => {
  for (const parent of parents) removeBuildDirectory(parent);
});

function makeParent(): string {
  const parent = mkdtempSync(join(tmpdir(), 'tidemark-test-builds-'));
  parents.push(parent);
  return parent;
}

function leaveBuild(parent: string, pid: number): string {
  const directory = join(parent, `tidemark-build-${pid}-abc`);
  mkdirSync(join(directory, 'root', 'proc'), { recursive: true });
  writeFileSync(join(directory, 'root', 'file'), 'left');
  return directory;
}

test('build directories: the sweep removes the directory of a dead process and keeps the directory of a live process', () => {
  const parent = makeParent();
  const dead = leaveBuild(parent, DEAD_PID);
  const live = makeBuildDirectory(parent);
  expect(sweepBuildDirectories(parent)).toEqual([dead]);
  expect([existsSync(dead), existsSync(live)]).toEqual([false, true]);
  removeBuildDirectory(live);
  expect(existsSync(live)).toBe(false);
});

const mounted = leaveBuild(makeParent(), DEAD_PID);
const canMount = spawnSync('mount', ['-t', 'tmpfs', 'none', join(mounted, 'root', 'proc')]).status === 0;

test.skipIf(!canMount)(
  'build directories: the removal of a directory first unmounts a file system that is mounted inside it (needs root)',
  () => {
    const inside = join(mounted, 'root', 'proc');
    writeFileSync(join(inside, 'of-the-mount'), '');
    expect(findMounts(mounted)).toEqual([inside]);
    removeBuildDirectory(mounted);
    expect([existsSync(mounted), findMounts(tmpdir()).filter((path) => path.startsWith(mounted))]).toEqual([false, []]);
  },
);
