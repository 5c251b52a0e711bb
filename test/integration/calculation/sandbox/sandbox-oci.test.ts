/**
 * Tests the sandbox in a podman container (R-H7). The tests are skipped when podman does not work or when they do not
 * run as root.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import type { SandboxOutcome } from '../../../../src/calculation/sandbox/sandbox-types.ts';
import {
  inputOf,
  jobOf,
  openTestPool,
  regularSeries,
  runBesideHonest,
  runHostile,
} from '../../../fixtures/scripts/harness.ts';
import { startReceiver } from '../../../support/doubles/receiver.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 180_000 });

const COMMAND = ['podman', '--runtime', 'runc'];
const LIMITS = {
  CALC_WALL_TIME_MS: 8000,
  CALC_CPU_TIME_SEC: 1,
  CALC_MEMORY_BYTES: 256 << 20,
  CALC_MAX_PROCESSES: 16,
  CALC_CONCURRENCY: 3,
};

/** @returns the reason why podman cannot be used here; undefined when podman can be used. */
function findObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'the tests do not run as root';
  const { status, error, stderr } = spawnSync(COMMAND[0] ?? '', [...COMMAND.slice(1), 'info'], { encoding: 'utf8' });
  return status === 0 ? undefined : `podman does not work here: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

const obstacle = findObstacle();
if (obstacle !== undefined) process.stderr.write(`sandbox-oci: skipped, because ${obstacle}\n`);

/**
 * Possible outcomes of each hostile script that has no test of its own below. Only `kind` is compared, because the
 * limits that the kernel enforces under podman differ from those under bwrap.
 */
const CORPUS: Readonly<Record<string, readonly SandboxOutcome['kind'][]>> = {
  crash: ['killed'],
  'fill-disk': ['ok', 'script_error'],
  'forge-empty-messages': ['script_error'],
  'forge-frame': ['script_error'],
  'forge-output': ['script_error'],
  'hoard-pipes': ['ok'],
  'hoard-sockets': ['ok'],
  'ignore-interrupt': ['limit'],
  'kill-everything': ['ok', 'script_error', 'killed'],
  'kill-own-group': ['ok'],
  'kill-parent': ['ok', 'script_error', 'killed'],
  'leave-traces': ['ok'],
  'left-behind': ['ok', 'script_error'],
  'lower-priorities': ['ok'],
  'memory-bomb-of-many': ['limit'],
  'print-gigabytes': ['ok', 'limit'],
  quit: ['script_error'],
  'reach-shared-ids': ['ok'],
  'read-host': ['ok'],
  'show-network': ['ok'],
  'sleep-for-ever': ['limit'],
  'stop-own-group': ['limit'],
  'trap-own-group': ['ok'],
};
const TESTED_ALONE = new Set(['endless-loop', 'fork-bomb', 'look-around', 'memory-bomb', 'network', 'trace-others']);
const NOT_HOSTILE = new Set(['find-traces', 'honest']);

const containers = () =>
  execFileSync('podman', ['ps', '--all', '--format', '{{.Names}}'], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.startsWith('tidemark-r-'));

describe.skipIf(obstacle !== undefined)('sandbox: podman', () => {
  let pool: SandboxPool;
  beforeAll(async () => {
    pool = await openTestPool({ SANDBOX: 'oci', SANDBOX_OCI_COMMAND: COMMAND, ...LIMITS });
  });
  afterAll(() => pool?.close());

  test('passes the self-check of its isolation, and runs a script (R-H7)', async () => {
    const job = jobOf('list(TimeSeries = inputVariables$a$TimeSeries)', { inputs: [inputOf('a', regularSeries(4))] });
    expect(await pool.run(job)).toMatchObject({ kind: 'ok', series: { values: Float64Array.of(0, 1, 2, 3) } });
  });

  test.each([
    ['memory-bomb', 'memory'],
    ['fork-bomb', 'processes'],
    ['endless-loop', 'cpu_time'],
  ])(
    'the script %s is stopped by the limit `%s`, and the next run finds no trace of the script (R-H7)',
    async (script, limit) => {
      expect(await runHostile(pool, script)).toMatchObject({ kind: 'limit', limit });
      expect(await runHostile(pool, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
    },
  );

  test('scripts cannot connect to the host, trace processes or write to the tested paths outside /tmp (R-H7)', async () => {
    const receiver = await startReceiver();
    const outcome = await runHostile(pool, 'network', { constants: [{ alias: 'port', value: receiver.port }] });
    await receiver.close();
    expect(outcome).toMatchObject({ errors: ['refused', 'refused', 'refused', 'refused'] });
    expect(await runHostile(pool, 'trace-others')).toMatchObject({ kind: 'ok', errors: [] });
    const { errors } = (await runHostile(pool, 'look-around')) as { readonly errors?: readonly string[] };
    expect(errors).toContain('written ');
    expect(errors).toContain('uid 65534');
  });

  test('hostile scripts end with a permitted outcome and leave no trace for the next run (R-H7)', async () => {
    const names = (await readdir(new URL('../../../fixtures/hostile/', import.meta.url)))
      .map((file) => basename(file, '.R'))
      .filter((name) => !TESTED_ALONE.has(name) && !NOT_HOSTILE.has(name));
    expect(names.toSorted()).toEqual(Object.keys(CORPUS).toSorted());
    const surprises: string[] = [];
    await runBesideHonest(pool, () =>
      Promise.all(
        [0, 1, 2].map(async (lane) => {
          for (const name of names.filter((_name, index) => index % 3 === lane)) {
            const { kind } = await runHostile(pool, name);
            if (!CORPUS[name]?.includes(kind)) surprises.push(`${name}: ${kind}`);
          }
        }),
      ),
    );
    expect(surprises).toEqual([]);
    expect(await runHostile(pool, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('a closed pool leaves no container (R-H7)', async () => {
    const before = containers();
    const second = await openTestPool({ SANDBOX: 'oci', SANDBOX_OCI_COMMAND: COMMAND, ...LIMITS });
    await second.close();
    // Only the containers of the first pool are left.
    expect(containers()).toHaveLength(before.length);
  });
});
