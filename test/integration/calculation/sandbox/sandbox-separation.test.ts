/**
 * Tests the separation of a run from other runs, the zygote and the supervisors of the zygote. An ordinary script of
 * another account must succeed after each test and, in most tests, also while the hostile script runs.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import type { SandboxOutcome } from '../../../../src/calculation/sandbox/sandbox-types.ts';
import { openTestPool, runBesideHonest, runHonest, runHostile } from '../../../fixtures/scripts/harness.ts';

const LIMITS = {
  CALC_WALL_TIME_MS: 4000,
  CALC_CPU_TIME_SEC: 2,
  CALC_MEMORY_BYTES: 256 << 20,
  CALC_MAX_PROCESSES: 16,
};

/** The time-outs are much longer than LIMITS, so that the tests also pass on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let pool: SandboxPool;
beforeAll(async () => {
  pool = await openTestPool(LIMITS);
});
afterEach(() => runHonest(pool));
afterAll(() => pool?.close());

const hostile = (name: string) => runBesideHonest(pool, () => runHostile(pool, name));

describe('sandbox: a signal to the process group of a run', () => {
  test('`kill -STOP 0` in a script suspends no other run; the run of the script ends when it exceeds the limit `wall_time` (R-H7)', async () => {
    expect(await hostile('stop-own-group')).toMatchObject({ kind: 'limit', limit: 'wall_time' });
  });

  test.each([
    ['sends SIGKILL to its process group', 'kill-own-group'],
    ['has a shell trap that signals its process group', 'trap-own-group'],
  ])('when a script %s, its run and the other runs continue (R-H7)', async (_what, name) => {
    expect(await hostile(name)).toMatchObject({ kind: 'ok', series: { values: Float64Array.of(1) } });
  });
});

describe('sandbox: processes, keys and priorities', () => {
  test('a script cannot change the priority of its own process, process group or user (R-H7)', async () => {
    expect(await hostile('lower-priorities')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('a run that guesses ids cannot reach keys, terminals or other processes, and cannot read or change the limits of other processes (R-H7)', async () => {
    expect(await hostile('reach-shared-ids')).toMatchObject({ kind: 'ok', errors: [] });
  });
});

describe('sandbox: network namespaces', () => {
  test('concurrent runs share no namespace, and later runs reuse namespaces; each namespace has only a loopback interface, which is down (R-H7)', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      const names = await Promise.all([1, 2, 3].map(async () => networkOf(await runHostile(pool, 'show-network'))));
      expect(new Set(names).size).toBe(3);
      for (const name of names) seen.add(name);
    }
    expect(seen.size).toBeLessThan(12);
  });
});

/** Checks that the only interface is the loopback, and that it is down. @returns the name of the network namespace. */
function networkOf(outcome: SandboxOutcome): string {
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  const [name = '', ...interfaces] = outcome.errors;
  expect(interfaces).toEqual(['lo', 'no addresses']);
  return name;
}

describe('sandbox: memory outside rlimits', () => {
  test('sockets, whose buffers no rlimit counts, cannot be created (R-H7)', async () => {
    expect(await hostile('hoard-sockets')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('all pipes of a process together hold at most 8 MiB (R-H7)', async () => {
    expect(await hostile('hoard-pipes')).toMatchObject({ kind: 'ok', errors: [] });
  });
});
