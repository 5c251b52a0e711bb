import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createZygoteMetrics } from '../../../../src/calculation/calculation-metrics.ts';
import { makeControlGroup } from '../../../../src/calculation/sandbox/control-group.ts';
import { exchange } from '../../../../src/calculation/sandbox/exchange.ts';
import { type Container, killContainer, type Launcher } from '../../../../src/calculation/sandbox/launcher.ts';
import { createBwrapLauncher } from '../../../../src/calculation/sandbox/launcher-bwrap.ts';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import { Zygote } from '../../../../src/calculation/sandbox/zygote.ts';
import { createLog, type Log } from '../../../../src/platform/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { jobOf, openTestPool, sandboxConfig } from '../../../fixtures/scripts/harness.ts';
import { eventually } from '../../../support/eventually.ts';
import { childrenOf, descendantsOf, readProcess } from '../../../support/processes.ts';

/** Starting R takes about 2 s, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const log = createLog('silent', 'test');
/** Milliseconds until a standby starts: longer than any of these tests takes. */
const NO_STANDBY = 60_000;
const metrics = createZygoteMetrics(createMetrics());

test('zygote: a zygote that dies is replaced, and its files on the host are removed (R-H7)', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), metrics, log, NO_STANDBY);
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

test('zygote: a zygote that dies is replaced even when the removal of its container fails (R-H7)', async () => {
  const launched: Container[] = [];
  const launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? '');
  const failing: Launcher = {
    mode: launcher.mode,
    launch: async () => {
      const container = await launcher.launch();
      if (launched.length > 0) return container;
      const remove = () => container.remove().then(() => Promise.reject(new Error('the control group is busy')));
      return { ...container, remove };
    },
  };
  const zygote = await Zygote.open(recording(launched, failing), metrics, log, NO_STANDBY);
  try {
    const [first] = launched;
    first?.process.kill('SIGKILL');
    await (first && once(first.process, 'exit'));
    expect(existsSync(await zygote.socketPath())).toBe(true);
  } finally {
    await zygote.close();
  }
});

test('zygote: when SIGSTOP stops a zygote, a standby replaces it within 5 s, even on a busy machine (R-H7)', async () => {
  const launched: Container[] = [];
  const burners: ChildProcess[] = [];
  const started = createMetrics();
  const zygote = await Zygote.open(recording(launched), createZygoteMetrics(started), log, 0);
  try {
    const isReady = async () => /^tidemark_zygote_starts_total 2$/m.test(await started.text());
    await eventually('the standby', isReady, 25_000);
    const firstPath = await zygote.socketPath();
    for (let count = 0; count < 6; count += 1)
      burners.push(spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
    const stoppedMs = performance.now();
    process.kill(zygotePid(launched), 'SIGSTOP');
    await eventually('the standby in its place', async () => (await zygote.socketPath()) !== firstPath, 5000);
    expect(await exchange(await zygote.socketPath(), [Buffer.alloc(64)], 5000)).toMatchObject({
      trailer: { stage: 'reading the run header' },
    });
    expect(performance.now() - stoppedMs).toBeLessThan(5000);
    expect(launched.length).toBeGreaterThan(1);
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
    await zygote.close();
  }
  expect(launched.every(({ socketPath }) => !existsSync(dirname(socketPath)))).toBe(true);
});

test.concurrent.each(['SIGSTOP', 'SIGKILL'] as const)(
  'zygote: when a zygote receives %s while the standby is starting, the standby replaces the zygote (R-H7)',
  async (signal) => {
    const launched: Container[] = [];
    const counted = createMetrics();
    const logged = vi.fn();
    const spy = { ...log, error: logged } as unknown as Log;
    const openedMs = performance.now();
    const zygote = await Zygote.open(recording(launched), createZygoteMetrics(counted), spy);
    const startMs = performance.now() - openedMs;
    try {
      const firstPath = await zygote.socketPath();
      const endedMs = performance.now();
      process.kill(zygotePid(launched), signal);
      await eventually('the end of the zygote', async () => !existsSync(firstPath), 5000);
      const isStuck = signal === 'SIGSTOP';
      const [logLine, silence] = isStuck ? ['is killed', { silentMs: 2000 }] : ['ended', {}];
      expect(logged).toHaveBeenCalledWith(expect.objectContaining(silence), expect.stringContaining(logLine));
      await eventually('another zygote', async () => (await zygote.socketPath()) !== firstPath, 20_000);
      // R starts in 2 s on an idle machine. On a busy machine R takes longer, so the limit grows with `startMs`.
      expect(performance.now() - endedMs).toBeLessThan(Math.max(5000, 2500 + 2 * startMs));
      expect(await zygote.socketPath()).toBe(launched[1]?.socketPath);
      const answer = await exchange(await zygote.socketPath(), [Buffer.alloc(64)], 5000);
      expect(answer).toMatchObject({ trailer: { stage: 'reading the run header' } });
      const text = await counted.text();
      expect(text).toMatch(isStuck ? /^tidemark_zygote_stuck_total 1$/m : /^tidemark_zygote_stuck_total 0$/m);
      expect(text).toMatch(/^tidemark_zygote_starts_total [23]$/m);
    } finally {
      await zygote.close();
    }
  },
);

test('zygote: spare supervisors stopped by SIGSTOP are replaced within 5 s; the zygote keeps running (R-H7)', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), metrics, log, NO_STANDBY);
  try {
    const pid = zygotePid(launched);
    const stopped = await untilIdle(pid);
    for (const spare of stopped) process.kill(spare, 'SIGSTOP');
    const isReplaced = async () => {
      const spares = childrenOf(pid);
      return spares.length === 2 && spares.every((spare) => !stopped.includes(spare));
    };
    await eventually('other spares', isReplaced, 5000);
    expect(launched).toHaveLength(1);
  } finally {
    await zygote.close();
  }
});

describe('sandbox: the loss of processes during runs', () => {
  const sleep = jobOf('Sys.sleep(20); list(TimeSeries = list(Dates = integer(), Values = numeric()))');
  let pool: SandboxPool;
  let zygote: number;
  beforeEach(async () => {
    const others = rProcesses(process.pid);
    pool = await openTestPool();
    zygote = rProcesses(process.pid).find((pid) => !others.includes(pid)) ?? 0;
    await untilIdle(zygote);
  });
  afterEach(() => pool?.close());

  test('the loss of a supervisor counts as a fault of the run when one run was active, and as a fault of the sandbox when two runs were active (R-H7)', async () => {
    const alone = pool.run(sleep);
    await killServing(zygote);
    expect(await alone).toMatchObject({ kind: 'fault', cause: 'run' });
    await untilIdle(zygote);
    const beside = [pool.run(sleep), pool.run(sleep)];
    await killServing(zygote);
    expect(await Promise.race(beside)).toMatchObject({ kind: 'fault', cause: 'sandbox' });
  });

  test('when the zygote dies during two runs, both count as a fault of the sandbox (R-H7)', async () => {
    const both = [pool.run(sleep), pool.run(sleep)];
    await eventually('two runs under way', async () => childrenOf(zygote).filter(isServing).length === 2);
    process.kill(zygote, 'SIGKILL');
    const fault = { kind: 'fault', cause: 'sandbox' };
    expect(await Promise.all(both)).toMatchObject([fault, fault]);
  });
});

test('zygote: when a zygote cannot start, opening it throws an error with the reason (R-H7)', async () => {
  const launcher = createBwrapLauncher('/usr');
  await expect(Zygote.open(launcher, metrics, log)).rejects.toThrow(
    /R could not be started in its sandbox: .*\nbwrap: /,
  );
});

test('sandbox: a container that is killed at any moment of its start leaves no process behind (R-H7)', async () => {
  const launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? '');
  for (let count = 0; count < 160; count += 1) {
    const container = await launcher.launch();
    container.process.stdout?.resume();
    container.process.stderr?.resume();
    // The output closes when the last process of the container has ended.
    let isClosed = false;
    container.process.once('close', () => {
      isClosed = true;
    });
    await pause(count % 40);
    killContainer(container);
    await eventually('the end of every process', async () => isClosed, 10_000);
    await container.remove();
  }
});

test('zygote: on machines that permit control groups, a zygote has its own control group, which is removed with the zygote (R-H7)', async (context) => {
  const limits = { memoryBytes: 512 << 20, maxProcesses: 200 };
  const probe = await makeControlGroup(limits);
  await probe?.remove();
  if (!probe) return context.skip('this machine does not permit control groups');
  const launched: Container[] = [];
  const launcher = createBwrapLauncher(sandboxConfig().R_ROOT ?? '', limits);
  const zygote = await Zygote.open(recording(launched, launcher), metrics, log, NO_STANDBY);
  const groups = readFileSync(`/proc/${launched[0]?.process.pid}/cgroup`, 'utf8').match(
    /(?<=:)\/\S*tidemark-r-[\w-]+$/gm,
  );
  await zygote.close();
  expect(groups?.length).toBe(probe.directories.length);
  const left = probe.directories.map((directory) => readdirSync(dirname(directory)));
  expect(left.flat().filter((name) => name === basename(groups?.[0] ?? ''))).toEqual([]);
});

test('zygote: two spare runners wait for a run; each already has more than 1,500 KB of memory that it does not share with the zygote (R-H7)', async () => {
  const launched: Container[] = [];
  const zygote = await Zygote.open(recording(launched), metrics, log, NO_STANDBY);
  try {
    const root = launched[0]?.process.pid ?? 0;
    const isPrepared = (pid: number) => privateKilobytes(pid) > 1500;
    await eventually(
      'two prepared runners',
      async () => rProcesses(root).slice(1).filter(isPrepared).length === 2,
      10_000,
    );
  } finally {
    await zygote.close();
  }
});

/** @returns the pid of the R process that forks supervisors: the outermost process named R. */
function zygotePid(launched: readonly Container[]): number {
  const [pid = 0] = rProcesses(launched[0]?.process.pid ?? 0);
  return pid;
}

/**
 * Waits until the zygote has no run.
 * @returns its two spare supervisors.
 */
const untilIdle = (zygote: number) =>
  eventually('two spares', async () => {
    const spares = childrenOf(zygote);
    return spares.length === 2 && spares.every((spare) => childrenOf(spare).length === 1) && spares;
  });

/** @returns true when the supervisor serves a run: its runner is under seccomp. */
const isServing = (supervisor: number) =>
  childrenOf(supervisor).some((runner) => readProcess(runner, 'status').includes('Seccomp:\t2'));

/** Waits until a supervisor serves a run, and kills this supervisor. */
async function killServing(zygote: number): Promise<void> {
  const pid = await eventually('a run under way', async () => childrenOf(zygote).find(isServing));
  process.kill(pid, 'SIGKILL');
}

/** @returns the processes named R at or below `root`, each parent before its children. */
const rProcesses = (root: number): readonly number[] =>
  [root, ...descendantsOf(root)].filter((pid) => readProcess(pid, 'comm').trim() === 'R');

/** @returns kilobytes of memory that the process has written and shares with no other process. */
function privateKilobytes(pid: number): number {
  return Number(/^Private_Dirty:\s+(\d+)/m.exec(readProcess(pid, 'smaps_rollup'))?.[1]);
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
