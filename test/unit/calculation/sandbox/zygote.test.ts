/** The life cycle of the zygote and its standby, with shells in place of R. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createZygoteMetrics } from '../../../../src/calculation/calculation-metrics.ts';
import { Zygote } from '../../../../src/calculation/sandbox/zygote.ts';
import { createLog, type Log } from '../../../../src/platform/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { eventually } from '../../../support/eventually.ts';

const HEARTBEATS = 'while :; do echo; sleep 0.3; done';

/** Opens a zygote whose n-th container runs the n-th script; every further container runs the last script. */
function openZygote(scripts: readonly string[]) {
  const launched: ChildProcess[] = [];
  const launch = async () => {
    const script = scripts[Math.min(launched.length, scripts.length - 1)] ?? '';
    const process = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    launched.push(process);
    return { process, socketPath: `socket ${launched.length}`, remove: async () => {} };
  };
  const metrics = createMetrics();
  const logged = { warn: vi.fn(), error: vi.fn() };
  const log = { ...createLog('silent', 'test'), ...logged } as unknown as Log;
  const zygote = Zygote.open({ mode: 'rlimits-only', launch }, createZygoteMetrics(metrics), log, 0);
  const isCounted = async (line: string) => (await metrics.text()).split('\n').includes(line);
  return { zygote, launched, isCounted, logged };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

test.concurrent('zygote: when a zygote dies while its standby starts, the standby becomes the zygote, a new standby starts, and no other process remains (R-H7)', async () => {
  const ready = `echo ready; ${HEARTBEATS}`;
  const {
    zygote: opened,
    launched,
    isCounted,
  } = openZygote([ready, `sleep 1; ${ready}`, `sleep 1.2; ${ready}`, ready]);
  const zygote = await opened;
  await eventually('the start of the standby', async () => launched.length === 2);
  launched[0]?.kill('SIGKILL');
  await eventually('the replacement', async () => isCounted('tidemark_zygote_starts_total 3'));
  await pause(500);
  expect(launched.filter(isRunning)).toHaveLength(2);
  // Container 2, which was starting as the standby, is now the zygote; container 3 is its standby.
  expect(await zygote.socketPath()).toBe('socket 2');
  await zygote.close();
  expect(launched.filter(isRunning)).toEqual([]);
}, 30_000);

test.concurrent('zygote: a stuck standby is replaced, the new standby takes over when the zygote dies, and the gauge of live zygotes is 1 before and after this takeover (R-H7)', async () => {
  const ready = `echo ready; ${HEARTBEATS}`;
  const { zygote: opened, launched, isCounted } = openZygote([ready, 'echo ready; exec sleep 60', `sleep 1; ${ready}`]);
  const zygote = await opened;
  await eventually('the end of the standby', async () => isCounted('tidemark_zygote_stuck_total 1'));
  expect(await isCounted('tidemark_zygotes_alive 1')).toBe(true);
  await eventually('another standby', async () => isCounted('tidemark_zygote_starts_total 3'));
  expect(await zygote.socketPath()).toBe('socket 1');
  launched[0]?.kill('SIGKILL');
  await eventually('the standby', async () => (await zygote.socketPath()) === 'socket 3');
  expect(await isCounted('tidemark_zygotes_alive 1')).toBe(true);
  await zygote.close();
  expect(launched.filter(isRunning)).toEqual([]);
}, 30_000);

test.concurrent('zygote: the log contains the id of a zygote that ended, the lines that a zygote wrote to standard error, and the pause after a failed restart (R-H7)', async () => {
  const ready = `echo ready; ${HEARTBEATS}`;
  const { zygote: opened, launched, logged } = openZygote([ready, 'echo broken >&2; exit 3']);
  const zygote = await opened;
  launched[0]?.kill('SIGKILL');
  await eventually('a failed restart', async () => logged.error.mock.calls.length >= 2);
  await zygote.close();
  expect(logged.error.mock.calls.slice(0, 2)).toEqual([
    [
      { pid: launched[0]?.pid, code: null, signal: 'SIGKILL', hasStandby: false },
      'the R zygote ended; another zygote replaces it',
    ],
    [expect.objectContaining({ pauseMs: 500 }), expect.stringContaining('could not be restarted')],
  ]);
  const line = { pid: expect.any(Number), line: 'broken' };
  expect(logged.warn).toHaveBeenCalledWith(line, expect.stringContaining('standard error'));
}, 30_000);
