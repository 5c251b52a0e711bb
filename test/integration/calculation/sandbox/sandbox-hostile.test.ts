/** Hostile and broken scripts: each affects only its own run, and a failed run names a reason (R-H7). */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { shareLimits } from '../../../../src/calculation/run/share-limits.ts';
import { openSandboxPool, type SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import type { SandboxJob } from '../../../../src/calculation/sandbox/sandbox-types.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import {
  jobOf,
  openTestPool,
  runBesideHonest,
  runHostile,
  runScript,
  sandboxConfig,
  TARGET,
  textsOf,
} from '../../../fixtures/scripts/harness.ts';
import { startReceiver } from '../../../support/doubles/receiver.ts';
import { measureTurns } from '../../../support/measure-turns.ts';

const LIMITS = {
  CALC_WALL_TIME_MS: 10_000,
  CALC_CPU_TIME_SEC: 1,
  CALC_MEMORY_BYTES: 256 << 20,
  CALC_TMP_BYTES: 16 << 20,
  CALC_MAX_PROCESSES: 16,
  CALC_MAX_TEXT_BYTES: 4096,
  CALC_MAX_OUTPUT_POINTS: 1000,
};

/** Even on a busy machine, a limit in `LIMITS` must end a script before the test times out. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let pool: SandboxPool;

beforeAll(async () => {
  pool = await openTestPool(LIMITS);
});

/** Runs a hostile script while another account runs ordinary scripts (R-H7). */
const hostile = (name: string, parts?: Partial<SandboxJob>) =>
  runBesideHonest(pool, () => runHostile(pool, name, parts));

/** After each test, a run for the same variable and a run for another one must find no trace of the test's script (R-H7). */
afterEach(async () => {
  for (const id of [TARGET.id, TARGET.id + 1]) {
    const next = await runHostile(pool, 'find-traces', { target: { ...TARGET, id, sourceId: id } });
    expect(next).toMatchObject({ kind: 'ok', errors: [] });
  }
});

afterAll(() => pool?.close());

describe('sandbox: limits', () => {
  test.each([
    ['endless-loop', 'cpu_time', 'the script used more than 1 s of processor time'],
    ['memory-bomb', 'memory', 'the script needed more than 256 MiB of memory'],
    ['memory-bomb-of-many', 'memory', 'the script needed more than 256 MiB of memory'],
    ['fork-bomb', 'processes', 'the script had more than 16 processes and threads at the same time'],
  ])('the script %s is stopped by the limit %s (R-H7)', async (script, limit, message) => {
    const outcome = await hostile(script);
    expect(outcome).toMatchObject({ kind: 'limit', limit });
    expect(outcome.kind === 'limit' && outcome.message).toContain(message);
    expect(outcome).toHaveProperty('line', expect.any(Number));
  });

  test('the limit wall_time applies to each script, and also to the total time of all scripts of a run (R-H7)', async () => {
    const hasty = await openTestPool({ ...LIMITS, CALC_WALL_TIME_MS: 3000 });
    const runFormula = shareLimits(hasty);
    const sleep = async () => {
      await runFormula(jobOf('Sys.sleep(2)\nlist(TimeSeries = list(Dates = 1, Values = 1))'));
      return runFormula(jobOf('Sys.sleep(2)'));
    };
    try {
      const [outcome, second] = await runBesideHonest(hasty, () =>
        Promise.all([runHostile(hasty, 'sleep-for-ever'), sleep()]),
      );
      expect(outcome).toMatchObject({ kind: 'limit', limit: 'wall_time' });
      expect(outcome.kind === 'limit' && outcome.message).toContain('the script ran longer than 3 s');
      const message = "the scripts of the run's formulas ran longer than 3 s in total";
      expect(second).toMatchObject({ kind: 'limit', limit: 'wall_time', message });
      expect(await runHostile(hasty, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
    } finally {
      await hasty.close();
    }
  });

  test('the limit cpu_time stops even a script that ignores the interrupt; the outcome names the line reached (R-H7, R-H8)', async () => {
    const script = 'message("before")\nf <- function(x) {\n  repeat x <- x + 1\n}\nf(1)';
    const [ended, ignoring] = await Promise.all([pool.run(jobOf(script)), hostile('ignore-interrupt')]);
    expect(ended).toMatchObject({ kind: 'limit', limit: 'cpu_time', line: 3, notes: { messages: ['before'] } });
    expect(ignoring).toMatchObject({ kind: 'limit', limit: 'cpu_time', line: 3 });
  });

  test('the limit output_size ends a run whose result has too many points (R-H7)', async () => {
    const outcome = await pool.run(jobOf('list(TimeSeries = list(Dates = 1:1001, Values = 1:1001))'));
    expect(outcome).toMatchObject({ kind: 'limit', limit: 'output_size' });
  });

  test('the limit output_size ends a run whose result has too many bytes, even if the result contains no points (R-H7)', async () => {
    const script = 'repeat .C("tm_write", 3L, raw(1e6), 1e6, 0L)';
    expect(await pool.run(jobOf(script))).toMatchObject({ kind: 'limit', limit: 'output_size' });
  });

  test('a script that fills /tmp gets a write warning, and its outcome is `ok` or `script_error` (R-H7)', async () => {
    const outcome = await hostile('fill-disk');
    expect(['script_error', 'ok']).toContain(outcome.kind);
    expect(outcome.kind !== 'fault' && outcome.notes.warnings.join()).toContain('problem writing to connection');
  });

  test('printed output beyond the limit is cut, and the number of bytes left out is noted (R-H7)', async () => {
    const outcome = await hostile('print-gigabytes');
    expect(outcome.kind).toBe('ok');
    const output = outcome.kind === 'ok' ? outcome.notes.output : '';
    expect(output).toMatch(/^x{4096}\n… 499995904 more bytes were not kept$/);
  });
});

describe('sandbox: isolation', () => {
  test('a script cannot connect to a server on the host by socket, HTTP or bash, and cannot open a server socket (R-H7)', async () => {
    const receiver = await startReceiver();
    const constants = [{ alias: 'port', value: receiver.port }];
    const outcome = await hostile('network', { constants });
    const connections = receiver.connections();
    await receiver.close();
    expect(outcome).toMatchObject({ kind: 'ok', errors: ['refused', 'refused', 'refused', 'refused'] });
    expect(connections).toBe(0);
  });

  test('a run sees only its own process and no secrets, cannot write to the tested paths outside /tmp, and cannot mount or unshare (R-H7)', async () => {
    expect(await hostile('look-around')).toMatchObject({
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

  test('a run leaves no trace that the next run can find (R-H7)', async () => {
    expect((await hostile('leave-traces')).kind).toBe('ok');
    expect(await runHostile(pool, 'find-traces')).toMatchObject({ kind: 'ok', errors: [] });
  });

  test("two concurrent runs do not see each other's processes (R-H7)", async () => {
    const script = `started <- Sys.time(); while (Sys.time() < started + 0.5) Sys.sleep(0.01)
      list(TimeSeries = list(Dates = integer(), Values = numeric()), Errors = list.files("/proc", "^[0-9]+$"))`;
    const outcomes = await Promise.all([pool.run(jobOf(script)), pool.run(jobOf(script))]);
    expect(outcomes).toMatchObject([
      { kind: 'ok', errors: ['1'] },
      { kind: 'ok', errors: ['1'] },
    ]);
  });
});

describe('sandbox: the host', () => {
  test('a script sees none of the operating-system login accounts, secrets or sockets of the host, and cannot connect to the port of the database (R-H7)', async () => {
    const constants = [{ alias: 'databasePort', value: Number(new URL(inject('serverUrl')).port) }];
    expect(await hostile('read-host', { constants })).toMatchObject({
      kind: 'ok',
      errors: ['people 0', 'shadow refused', 'sockets 0', 'secrets FALSE', 'kernel refused', 'database FALSE'],
    });
  });

  test('system calls that trace processes, enter namespaces, mount file systems or load kernel code are refused; no other process is visible (R-H7)', async () => {
    expect(await hostile('trace-others')).toMatchObject({ kind: 'ok', errors: [] });
  });
});

describe('sandbox: answers', () => {
  test('processes that a script leaves behind can spoil its answer but not forge it (R-H7)', async () => {
    const outcome = await hostile('left-behind');
    // The script forks its R process. The fork inherits the descriptor to which that R process writes the answer. Bytes
    // that the fork writes there corrupt only the result of this script.
    expect(['ok', 'script_error', 'limit']).toContain(outcome.kind);
    if (outcome.kind === 'ok') expect(outcome.series.values).toEqual(Float64Array.of(1));
  });

  test('programs that a script starts with system() do not inherit the file descriptor for the answer (R-H7)', async () => {
    const script = `said <- system("for fd in 3 4 5 6 7 8 9; do echo forged >&$fd && echo reached; done", intern = TRUE,
      ignore.stderr = TRUE)
      list(TimeSeries = data.frame(Dates = 1L, Values = 1), Errors = as.character(said))`;
    expect(await pool.run(jobOf(script))).toMatchObject({ kind: 'ok', errors: [] });
  });

  test('an error and a warning whose texts are not valid UTF-8 are reported (R-H8)', async () => {
    const outcome = await pool.run(jobOf('bad <- rawToChar(as.raw(c(0x66, 0xff))); warning(bad); stop("no ", bad)'));
    expect(outcome).toMatchObject({ kind: 'script_error', message: expect.stringMatching(/^no f/) });
    expect(outcome.kind === 'script_error' && outcome.notes.warnings).toEqual([expect.stringMatching(/^f/)]);
  });

  test('an answer that contains a forged frame ahead of the real frame is refused (R-H7)', async () => {
    const outcome = await hostile('forge-frame');
    expect(outcome).toMatchObject({ kind: 'script_error' });
    expect(outcome.kind === 'script_error' && outcome.message).toContain('could not be read');
  });

  test('an answer with a forged result frame that contains 15 million empty messages is refused, and blocks the event loop for less than 500 ms (R-H7)', async () => {
    const { result, maxTurnMs } = await measureTurns(() => hostile('forge-empty-messages'));
    expect(result).toMatchObject({ kind: 'script_error' });
    expect(maxTurnMs).toBeLessThan(500);
  });

  test('the limit output_size ends a run whose result has 2^31 rows, and the message names the number of points (R-H7)', async () => {
    const outcome = await pool.run(jobOf('list(TimeSeries = list(Dates = 1:2^31, Values = 1:2^31))'));
    expect(outcome).toMatchObject({ kind: 'limit', limit: 'output_size' });
    expect(outcome.kind === 'limit' && outcome.message).toContain('2,147,483,648 points');
  });

  test.each(['Version', 'Tags'])(
    'a %s column keeps its length when the column Dates has another length (§7)',
    async (column) => {
      const outcome = await pool.run(jobOf(`list(TimeSeries = list(Dates = 1:3, Values = 1:3, ${column} = "one"))`));
      const { versions, tags } = outcome.kind === 'ok' ? outcome.series : { versions: null, tags: null };
      expect(textsOf(column === 'Version' ? versions : tags)).toEqual(['one']);
    },
  );

  test('factors, NaN, NA, lists and Unicode in a result keep their meaning (R-H3)', async () => {
    const outcome = await runScript(pool, 'odd-columns');
    if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    const { dates, values, versions, tags } = outcome.series;
    expect(dates).toEqual(Float64Array.of(60, 120, 180, Number.NaN, 240));
    expect(values).toEqual(Float64Array.of(1, Number.NaN, Number.POSITIVE_INFINITY, 4, 5));
    expect(textsOf(versions)).toEqual(['a', 'b', '', 'a', 'é漢😀']);
    expect(textsOf(tags)).toEqual(['', '{"k":"v"}', '', '{"k":"w"}', '']);
  });

  test('invalid bytes are replaced, a tag text of a megabyte is kept, and printed text is cut at CALC_MAX_TEXT_BYTES (R-H7)', async () => {
    const outcome = await runScript(pool, 'bad-bytes');
    if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    expect(outcome.errors).toEqual(['f??g', 'refused']);
    expect(outcome.notes.messages).toEqual(['f??g']);
    expect(textsOf(outcome.series.versions)).toEqual(['f??g', 'f??g']);
    expect(textsOf(outcome.series.tags)?.map((text) => text.length)).toEqual([1_000_000, 0]);
    expect(outcome.notes.output.length).toBeLessThan(LIMITS.CALC_MAX_TEXT_BYTES + 100);
  });
});

describe('sandbox: ends of runs', () => {
  test('when a script calls quit(), the outcome has the line number and the earlier messages (R-H7, R-H8)', async () => {
    const outcome = await hostile('quit');
    expect(outcome).toMatchObject({ kind: 'script_error', line: 3, notes: { messages: ['before'] } });
    expect(outcome.kind === 'script_error' && outcome.message).toContain('called quit()');
  });

  test('when a script calls base::quit(), which the sandbox cannot intercept, the error names the line of the call (R-H7, R-H8)', async () => {
    const outcome = await pool.run(jobOf('x <- 1\nbase::quit(save = "no", status = 3)\nx'));
    expect(outcome).toMatchObject({ kind: 'script_error', line: 2 });
  });

  test.each(['kill-everything', 'kill-parent'])(
    'the script %s ends neither the sandbox nor other runs (R-H7)',
    async (script) => {
      expect((await hostile(script)).kind).not.toBe('fault');
    },
  );

  test('a crash of R is reported with its signal (R-H7)', async () => {
    expect(await hostile('crash')).toMatchObject({ kind: 'killed', signal: 'SIGSEGV' });
  });

  test('a run fails when its script writes forged bytes into the answer (R-H7)', async () => {
    const outcome = await hostile('forge-output');
    expect(outcome).toMatchObject({ kind: 'script_error' });
    expect(outcome.kind === 'script_error' && outcome.message).toContain('could not be read');
  });
});

describe('sandbox: opening', () => {
  const log = createLog('fatal', 'test');

  test('fails if there is no R runtime; also fails if SANDBOX is `none` but SANDBOX_ALLOW_NONE is not set (R-H7)', async () => {
    const config = sandboxConfig(LIMITS);
    await expect(
      openSandboxPool({ metrics: createMetrics(), config: { ...config, R_ROOT: undefined }, log }),
    ).rejects.toThrow('R_ROOT is not set');
    await expect(
      openSandboxPool({ metrics: createMetrics(), config: { ...config, R_ROOT: '/usr' }, log }),
    ).rejects.toThrow('has no R runtime that this process can read');
    await expect(
      openSandboxPool({ metrics: createMetrics(), config: { ...config, SANDBOX: 'none' }, log }),
    ).rejects.toThrow('SANDBOX_ALLOW_NONE');
  });
});
