import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createZygoteMetrics } from '../../../../src/calculation/calculation-metrics.ts';
import { makeControlGroup } from '../../../../src/calculation/sandbox/control-group.ts';
import type { Container, Launcher } from '../../../../src/calculation/sandbox/launcher.ts';
import { createBwrapLauncher } from '../../../../src/calculation/sandbox/launcher-bwrap.ts';
import { Zygote } from '../../../../src/calculation/sandbox/zygote.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { sandboxConfig } from '../../../fixtures/scripts/harness.ts';
import { eventually } from '../../../support/eventually.ts';

/** Starting R and running it take a second each, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const log = createLog('silent', 'test');
const metrics = createZygoteMetrics(createMetrics());

test('a zygote that dies is replaced, and what it left on the host is removed (R-H7)', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), metrics, log);
  try {
    const firstPath = await zygote.socketPath();
    const [first] = launched;
    first?.process.kill('SIGKILL');
    await (first && once(first.process, 'exit'));
    const secondPath = await zygote.socketPath();
    expect(secondPath).not.toBe(firstPath);
    expect(existsSync(dirname(firstPath))).toBe(false);
    expect(existsSync(secondPath)).toBe(true);
  } finally {
    await zygote.close();
  }
  expect(launched).toHaveLength(2);
  expect(launched.every(({ socketPath }) => !existsSync(dirname(socketPath)))).toBe(true);
});

test('a zygote that cannot start says why (R-H7)', async () => {
  const launcher = createBwrapLauncher('/usr');
  await expect(Zygote.open(launcher, metrics, log)).rejects.toThrow(
    /R could not be started in its sandbox: .*\nbwrap: /,
  );
});

test('all runs together are bounded by a control group, where one can be made (R-H7)', async (context) => {
  const limits = { memoryBytes: 512 << 20, maxProcesses: 200 };
  const probe = await makeControlGroup(limits);
  await probe?.remove();
  if (!probe) return context.skip('this machine lets us make no control groups');
  const launched: Container[] = [];
  const launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? '', limits);
  const zygote = await Zygote.open(recording(launched, launcher), metrics, log);
  const groups = readFileSync(`/proc/${launched[0]?.process.pid}/cgroup`, 'utf8').match(/(?<=:)\/\S*tidemark-r-\w+$/gm);
  await zygote.close();
  expect(groups?.length).toBe(probe.directories.length);
  const left = probe.directories.map((directory) => readdirSync(dirname(directory)));
  expect(left.flat().filter((name) => name === basename(groups?.[0] ?? ''))).toEqual([]);
});

test('a runner that waits has copied what every run writes to: two of them, of some megabytes each', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), metrics, log);
  try {
    const root = launched[0]?.process.pid ?? 0;
    const isPrepared = (pid: number) => privateKilobytes(pid) > 1500;
    await eventually(
      'two prepared runners',
      async () => descendants(root).slice(1).filter(isPrepared).length === 2,
      10_000,
    );
  } finally {
    await zygote.close();
  }
});

/** Processes below one, oldest first, that are called R. */
function descendants(root: number): readonly number[] {
  const children = readFileSync(`/proc/${root}/task/${root}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const isR = readFileSync(`/proc/${root}/comm`, 'utf8').trim() === 'R';
  return [...(isR ? [root] : []), ...children.flatMap((child) => descendants(Number(child)))];
}

/** Memory that no other process shares. */
function privateKilobytes(pid: number): number {
  return Number(/^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
}

function recording(
  launched: Container[],
  launcher: Launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? ''),
): Launcher {
  const launch = async () => {
    const container = await launcher.launch();
    launched.push(container);
    return container;
  };
  return { mode: launcher.mode, launch };
}
