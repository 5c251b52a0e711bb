/** Misbehaving scripts: each ends as a failed run of its own, with a reason its author understands (R-H7). */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSandboxPool, type SandboxPool } from '../../src/calculation/sandbox/pool.ts';
import { createLog } from '../../src/platform/log.ts';
import { jobOf, openTestPool, runScript, sandboxConfig } from '../fixtures/scripts/harness.ts';

const LIMITS = {
  CALC_WALL_TIME_MS: 8000,
  CALC_CPU_TIME_SEC: 3,
  CALC_MEMORY_BYTES: 256 << 20,
  CALC_TMP_BYTES: 16 << 20,
  CALC_MAX_PROCESSES: 16,
  CALC_MAX_TEXT_BYTES: 4096,
  CALC_MAX_OUTPUT_POINTS: 1000,
};

/** The machine may be busy; what must end does so by the limits above. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let pool: SandboxPool;

beforeAll(async () => {
  pool = await openTestPool(LIMITS);
});

afterEach(() => pool.checkHealth());

afterAll(() => pool?.close());

describe('limits', () => {
  test.each([
    ['sleep-for-ever', 'wall_time', 'the script ran longer than 8 s'],
    ['endless-loop', 'cpu_time', 'the script used more than 3 s of processor time'],
    ['memory-bomb', 'memory', 'the script needed more than 256 MiB of memory'],
    ['memory-bomb-of-many', 'memory', 'the script needed more than 256 MiB of memory'],
    ['fork-bomb', 'processes', 'the script started more than 16 processes'],
  ])('%s ends as %s (R-H7)', async (script, limit, message) => {
    const outcome = await runScript(pool, script);
    expect(outcome).toMatchObject({ kind: 'limit', limit });
    expect(outcome.kind === 'limit' && outcome.message).toContain(message);
  });

  test('more points than allowed end as output_size (R-H7)', async () => {
    const outcome = await pool.run(jobOf('list(TimeSeries = list(Dates = 1:1001, Values = 1:1001))'));
    expect(outcome).toMatchObject({ kind: 'limit', limit: 'output_size' });
  });

  test('more bytes than allowed end as output_size, whatever the number of points (R-H7)', async () => {
    const script = 'repeat .C("tm_write", 3L, raw(1e6), 1e6, 0L)';
    expect(await pool.run(jobOf(script))).toMatchObject({ kind: 'limit', limit: 'output_size' });
  });

  test('a full /tmp is an error of the script (R-H7)', async () => {
    const outcome = await runScript(pool, 'fill-disk');
    expect(['script_error', 'ok']).toContain(outcome.kind);
    expect(outcome.kind !== 'fault' && outcome.notes.warnings.join()).toContain('problem writing to connection');
  });

  test('gigabytes of output are cut, not kept (R-H7)', async () => {
    const outcome = await runScript(pool, 'print-gigabytes');
    expect(outcome.kind).toBe('ok');
    const output = outcome.kind === 'ok' ? outcome.notes.output : '';
    expect(output).toMatch(/^x{4096}\n… 499995904 more bytes were not kept$/);
  });
});

describe('isolation', () => {
  test('the network is refused (R-H7)', async () => {
    expect(await runScript(pool, 'network')).toMatchObject({
      kind: 'ok',
      errors: ['refused', 'refused', 'refused', 'refused'],
    });
  });

  test('nothing but itself is visible, nothing but /tmp is writable, no privilege is left (R-H7)', async () => {
    expect(await runScript(pool, 'look-around')).toMatchObject({
      kind: 'ok',
      errors: [
        'processes 1',
        'socket directory 0',
        'written ',
        'environment ',
        'secrets 0',
        'uid 65534',
        'mount TRUE',
        'unshare TRUE',
        'other descriptors ',
      ],
    });
  });

  test('a run leaves no trace for the next one (R-H7)', async () => {
    expect((await runScript(pool, 'leave-traces')).kind).toBe('ok');
    expect(await runScript(pool, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('two runs at the same time do not see each other (R-H7)', async () => {
    const script = `started <- Sys.time(); while (Sys.time() < started + 0.5) Sys.sleep(0.01)
      list(TimeSeries = list(Dates = integer(), Values = numeric()), Errors = list.files("/proc", "^[0-9]+$"))`;
    const outcomes = await Promise.all([pool.run(jobOf(script)), pool.run(jobOf(script))]);
    expect(outcomes).toMatchObject([
      { kind: 'ok', errors: ['1'] },
      { kind: 'ok', errors: ['1'] },
    ]);
  });
});

describe('endings', () => {
  test('quit() is reported as such (R-H7)', async () => {
    const outcome = await runScript(pool, 'quit');
    expect(outcome).toMatchObject({ kind: 'script_error' });
    expect(outcome.kind === 'script_error' && outcome.message).toContain('quit()');
  });

  test('killing everything in sight hurts nobody else (R-H7)', async () => {
    expect((await runScript(pool, 'kill-everything')).kind).not.toBe('fault');
  });

  test('a crash of R is reported with its signal (R-H7)', async () => {
    expect(await runScript(pool, 'crash')).toMatchObject({ kind: 'killed', signal: 'SIGSEGV' });
  });

  test('forged output is a failed run (R-H7)', async () => {
    const outcome = await runScript(pool, 'forge-output');
    expect(outcome).toMatchObject({ kind: 'script_error' });
    expect(outcome.kind === 'script_error' && outcome.message).toContain('could not be read');
  });
});

describe('opening', () => {
  const log = createLog('fatal', 'test');

  test('without a root, with a wrong one, or unsandboxed without leave, it refuses (R-H7)', async () => {
    const config = sandboxConfig(LIMITS);
    await expect(openSandboxPool({ config: { ...config, R_ROOT: undefined }, log })).rejects.toThrow(
      'R_ROOT is not set',
    );
    await expect(openSandboxPool({ config: { ...config, R_ROOT: '/usr' }, log })).rejects.toThrow('no R runtime');
    await expect(openSandboxPool({ config: { ...config, SANDBOX: 'none' }, log })).rejects.toThrow(
      'SANDBOX_ALLOW_NONE',
    );
  });
});
