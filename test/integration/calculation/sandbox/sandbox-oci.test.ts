/** The sandbox in a podman container; skipped on machines without podman (R-H7). */
import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import { inputOf, jobOf, openTestPool, regularSeries, runHostile } from '../../../fixtures/scripts/harness.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 180_000 });

const COMMAND = ['podman', '--runtime', 'runc'];
const LIMITS = { CALC_CPU_TIME_SEC: 2, CALC_MEMORY_BYTES: 256 << 20, CALC_MAX_PROCESSES: 16 };

/** Why podman cannot be used here; undefined when it can. */
function findObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'it is only tried as root';
  const { status, error, stderr } = spawnSync(COMMAND[0] ?? '', [...COMMAND.slice(1), 'info'], { encoding: 'utf8' });
  return status === 0 ? undefined : `podman does not work here: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

const obstacle = findObstacle();
if (obstacle !== undefined) process.stderr.write(`sandbox-oci: left out, ${obstacle}\n`);

const containers = () =>
  execFileSync('podman', ['ps', '--all', '--format', '{{.Names}}'], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.startsWith('tidemark-r-'));

describe.skipIf(obstacle !== undefined)('sandbox: podman', () => {
  let pool: SandboxPool;
  let others: readonly string[];
  beforeAll(async () => {
    others = containers();
    pool = await openTestPool({ SANDBOX: 'oci', SANDBOX_OCI_COMMAND: COMMAND, ...LIMITS });
  });
  afterAll(() => pool?.close());

  test('opens only when its self-check finds isolation, and runs scripts (R-H7)', async () => {
    const job = jobOf('list(TimeSeries = inputVariables$a$TimeSeries)', { inputs: [inputOf('a', regularSeries(4))] });
    expect(await pool.run(job)).toMatchObject({ kind: 'ok', series: { values: Float64Array.of(0, 1, 2, 3) } });
  });

  test.each([
    ['memory-bomb', 'memory'],
    ['fork-bomb', 'processes'],
    ['endless-loop', 'cpu_time'],
  ])('%s ends as %s, and the next run finds no trace (R-H7)', async (script, limit) => {
    expect(await runHostile(pool, script)).toMatchObject({ kind: 'limit', limit });
    expect(await runHostile(pool, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('a script reaches neither the host nor the network (R-H7)', async () => {
    expect(await runHostile(pool, 'network')).toMatchObject({ errors: ['refused', 'refused', 'refused', 'refused'] });
    expect(await runHostile(pool, 'trace-others')).toMatchObject({ kind: 'ok', errors: [] });
    const { errors } = (await runHostile(pool, 'look-around')) as { readonly errors?: readonly string[] };
    expect(errors).toContain('written ');
    expect(errors).toContain('uid 65534');
  });

  test('closing leaves no container (R-H7)', async () => {
    const second = await openTestPool({ SANDBOX: 'oci', SANDBOX_OCI_COMMAND: COMMAND, ...LIMITS });
    await second.close();
    expect(containers()).toHaveLength(others.length + 1);
  });
});
