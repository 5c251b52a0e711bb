/**
 * Ordinary scripts in the real sandbox: their inputs, their results, and the reports of their errors (R-H2–H4, R-H8).
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import type { SandboxJob, SandboxOutcome } from '../../../../src/calculation/sandbox/sandbox-types.ts';
import {
  codedText,
  constantText,
  inputOf,
  jobOf,
  openTestPool,
  regularSeries,
  runScript,
  textsOf,
} from '../../../fixtures/scripts/harness.ts';

/** Starting R takes about 2 s, more on a busy machine. */
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let pool: SandboxPool;

beforeAll(async () => {
  pool = await openTestPool();
});

afterAll(() => pool?.close());

async function ok(job: SandboxJob): Promise<Extract<SandboxOutcome, { kind: 'ok' }>> {
  const outcome = await pool.run(job);
  if (outcome.kind !== 'ok') throw new Error(`expected ok, got ${JSON.stringify(outcome)}`);
  return outcome;
}

async function scriptError(script: string): Promise<Extract<SandboxOutcome, { kind: 'script_error' }>> {
  const outcome = await pool.run(jobOf(script));
  if (outcome.kind !== 'script_error') throw new Error(`expected a script error, got ${JSON.stringify(outcome)}`);
  return outcome;
}

describe('sandbox: the five globals', () => {
  test('a script sees `inputVariables`, `inputForms`, `inputConstants`, `targetVariable` and `triggerDate` with the documented members and types (R-H2)', async () => {
    const series = {
      ...regularSeries(2),
      versions: { codes: Int32Array.of(0, 1), texts: ['', 'forecast é'] },
      tags: { codes: Int32Array.of(1, 0), texts: ['{}', '{"quality":"estimated"}'] },
    };
    const outcome = await runScript(pool, 'five-globals', {
      inputs: [inputOf('power', series), inputOf('empty', regularSeries(0))],
      forms: [
        { alias: 'unset', value: null },
        { alias: 'area', value: 12.5 },
      ],
      constants: [
        { alias: 'factor', value: 2 },
        { alias: 'label', value: 'x' },
        { alias: 'isOn', value: true },
      ],
    });
    const members = '"Id", "Name", "SourceId", "Granularity", "GranularityTimeBase", "QuantityType", "Aggregate"';
    const names = `c(${members}, "SourceTimeZoneId")`;
    const targetNames = `c(${members}, "SourceTimeZoneId", "ChangedFrom", "ChangedTo")`;
    expect(outcome).toMatchObject({
      kind: 'ok',
      errors: [
        'c("power", "empty")',
        'c(Dates = "integer", Values = "numeric", Version = "character", Tags = "character")',
        '"data.frame"',
        'c(2L, 4L)',
        names,
        '"Europe/Brussels"',
        'c("unset", "area")',
        'TRUE',
        '12.5',
        'list(factor = 2L, label = "x", isOn = TRUE)',
        targetNames,
        '42L',
        '"integer"',
        '1700000000L',
        'c(0L, 4L)',
        'c("describe", "inputConstants", "inputForms", "inputVariables", "series", "targetVariable", "triggerDate")',
      ],
      series: { versions: codedText(['', 'forecast é']), tags: codedText(['{"quality":"estimated"}', '{}']) },
    });
  });

  test('a script that returns its input returns the same 100,000 points, versions and tags (R-H2, R-H3)', async () => {
    const rows = 100_000;
    const codes = Int32Array.from({ length: rows }, (_, row) => row % 3);
    const series = {
      ...regularSeries(rows, 1_600_000_000, 60),
      versions: { codes, texts: ['', 'a', 'é 漢'] },
      tags: constantText(rows, '{"k":"v"}'),
    };
    const { series: back } = await ok(
      jobOf('list(TimeSeries = inputVariables$a$TimeSeries)', { inputs: [inputOf('a', series)] }),
    );
    expect(back.dates).toEqual(Float64Array.from(series.dates));
    expect(back.values).toEqual(series.values);
    expect(textsOf(back.versions)).toEqual(textsOf(series.versions));
    expect(textsOf(back.tags)).toEqual(textsOf(series.tags));
  });
});

test('sandbox: a script sees the period of changed dates as `ChangedFrom` and `ChangedTo`, and the window of each input as `From` and `To`; `From` is NULL for an input without a window (R-H6)', async () => {
  const window = { from: 1_700_000_000, to: 4_000_000_000 };
  const script = `a <- inputVariables$a
    seen <- list(targetVariable$ChangedFrom, targetVariable$ChangedTo, a$From, a$To, inputVariables$b$From)
    list(TimeSeries = a$TimeSeries, Errors = vapply(seen, deparse, ""))`;
  const inputs = [{ ...inputOf('a', regularSeries(1)), window }, inputOf('b', regularSeries(1))];
  const { errors } = await ok(jobOf(script, { inputs, changed: { from: 10, to: 20 } }));
  expect(errors).toEqual(['10L', '20L', '1700000000L', '4e+09', 'NULL']);
});

test('sandbox: dates after 2038-01-19T03:14:07Z are doubles in a script and come back unchanged (R-H2)', async () => {
  const series = { ...regularSeries(2), dates: Float64Array.of(2 ** 31 - 1, 2 ** 31) };
  const script = `dates <- inputVariables$a$TimeSeries$Dates
    list(TimeSeries = inputVariables$a$TimeSeries, Errors = paste(typeof(dates), typeof(triggerDate), triggerDate))`;
  const outcome = await ok(jobOf(script, { inputs: [inputOf('a', series)], triggerDate: 2 ** 31 }));
  expect(outcome.series.dates).toEqual(series.dates);
  expect(outcome.errors).toEqual(['double double 2147483648']);
});

describe('sandbox: results of scripts', () => {
  test('tibbles, POSIXct and factors are converted; messages, warnings and output are kept (R-H3, R-H4)', async () => {
    const outcome = await runScript(pool, 'everyday', { inputs: [inputOf('power', regularSeries(8, 1_700_006_400))] });
    expect(outcome).toMatchObject({
      kind: 'ok',
      series: { dates: Float64Array.of(1_700_006_400, 1_700_010_000), values: Float64Array.of(1.5, 5.5) },
      notes: {
        messages: ['hourly mean of 8 points'],
        warnings: [expect.stringMatching(/^just so you know \(line \d+\)$/)],
        output: '[1] "printed"\n',
      },
    });
    expect(outcome.kind === 'ok' && textsOf(outcome.series.versions)).toEqual(['v1', 'v1']);
  });

  test('the sandbox accepts results with NA, with columns of unequal length, and with whole numbers or Date objects as dates (R-H3)', async () => {
    const { series } = await ok(
      jobOf('list(TimeSeries = list(Dates = c(1e9, NA), Values = c(1, NA, Inf), Version = c("a", NA)))'),
    );
    expect(series).toEqual({
      dates: Float64Array.of(1e9, Number.NaN),
      values: Float64Array.of(1, Number.NaN, Number.POSITIVE_INFINITY),
      versions: codedText(['a', '']),
      tags: null,
    });
    const days = await ok(jobOf('list(TimeSeries = data.frame(Dates = as.Date("1970-01-02"), Values = 1L))'));
    expect(days.series.dates).toEqual(Float64Array.of(86_400));
  });

  test.each([
    ['1', 'got a value of class numeric'],
    ['list(Series = 1)', 'got a list with `Series`'],
    ['list(TimeSeries = data.frame(Dates = 1L))', 'must have the columns Dates and Values'],
    ['list(TimeSeries = data.frame(Dates = 1.5, Values = 1))', 'must be whole seconds, got 1.5 in row 1'],
    ['list(TimeSeries = data.frame(Dates = "today", Values = 1))', 'got "today" in row 1'],
    ['list(TimeSeries = data.frame(Dates = 1L, Values = "1"))', 'TimeSeries$Values must be numeric'],
  ])('the invalid result `%s` fails the run, and the error says "%s" (R-H3)', async (script, message) => {
    expect((await scriptError(script)).message).toContain(message);
  });

  test('an empty script fails the run, and the error says that the result is NULL (R-H3)', async () => {
    expect((await scriptError('')).message).toContain('got NULL');
  });

  test('when a result has `Errors` but no `TimeSeries`, the run fails with the texts of `Errors`; when a result has both, the run succeeds (R-H3)', async () => {
    expect((await scriptError('list(Errors = c("first", "second"))')).message).toBe('first\nsecond');
    const both = await ok(jobOf('list(TimeSeries = list(Dates = 1L, Values = 1), Errors = "minor")'));
    expect(both.errors).toEqual(['minor']);
  });
});

describe('sandbox: memory that a run shares with the zygote, the R process from which runs are forked', () => {
  test('most of this memory is not copied when a script calls package functions: the calls cause fewer than 550 page faults (R-H7)', async () => {
    const script = `faults <- function() as.numeric(strsplit(readLines("/proc/self/stat"), " ")[[1]][10])
      faults()
      before <- faults()
      ts <- inputVariables$a$TimeSeries
      means <- aggregate(ts$Values, list(ts$Dates %/% 3600L), mean)
      list(TimeSeries = data.frame(Dates = means[[1]] * 3600L, Values = means[[2]]), Errors = faults() - before)`;
    const outcome = await pool.run(jobOf(script, { inputs: [inputOf('a', regularSeries(96))] }));
    expect(outcome).toMatchObject({ kind: 'ok' });
    // Unless reference counts are frozen (freeze.c), the script's calls write to the counts and cause 930 page faults.
    expect(Number(outcome.kind === 'ok' && outcome.errors[0])).toBeLessThan(550);
  });
});

describe('sandbox: random numbers', () => {
  const draw = async (rows: number) => {
    const script = 'list(TimeSeries = data.frame(Dates = 1:3, Values = rnorm(3)))';
    const outcome = await pool.run(jobOf(script, { inputs: [inputOf('a', regularSeries(rows))] }));
    return outcome.kind === 'ok' ? [...outcome.series.values] : outcome;
  };

  test('random numbers are equal for equal inputs and differ for different inputs (R-H8)', async () => {
    const first = await draw(2);
    expect(await draw(2)).toEqual(first);
    expect(await draw(3)).not.toEqual(first);
  });
});

describe('sandbox: script errors', () => {
  test('an error carries its message, the call that failed and the line where the call failed (R-H8)', async () => {
    const outcome = await scriptError('f <- function(x) {\n  y <- x\n  stop("no good")\n}\nf(1)\n');
    expect(outcome).toMatchObject({ message: 'no good', call: 'f(1)', line: 3 });
  });

  test('an error inside a package is reported with the line at which the script called the package (R-H8)', async () => {
    const outcome = await scriptError('x <- 1\n\ndplyr::mutate(mtcars, z = unknown_column)\n');
    expect(outcome).toMatchObject({ line: 3 });
  });

  test('a syntax error names its line (R-H9)', async () => {
    const outcome = await scriptError('x <- 1\ny <- (\n}\n');
    expect(outcome).toMatchObject({ line: 3 });
    expect(outcome.message).toContain("unexpected '}'");
  });

  test('an error keeps the warnings that the script gave before it (R-H8)', async () => {
    expect((await scriptError('warning("careful"); stop("no")')).notes.warnings).toEqual(['careful (line 1)']);
  });
});

test('sandbox: a script can replace a toolbox function with a function of its own (R-H4)', async () => {
  const inputs = [inputOf('a', regularSeries(3, 0, 900)), inputOf('b', regularSeries(2, 900, 1800))];
  const script = (own: string) => `${own}
    axis <- GetInputAxis()
    list(TimeSeries = data.frame(Dates = axis, Values = SetDataOnCommonAxis()$a))`;
  const shipped = await ok(jobOf(script(''), { inputs }));
  expect(shipped.series.dates).toEqual(Float64Array.of(0, 900, 1800, 2700));
  expect(shipped.series.values).toEqual(Float64Array.of(0, 1, 2, Number.NaN));
  const overridden = await ok(jobOf(script('GetInputAxis <- function(...) 900L'), { inputs }));
  expect(overridden.series.dates[0]).toBe(900);
});

test('sandbox: an aborted run rejects with the reason of the abort, and the next run works (R-H7)', async () => {
  const abort = new AbortController();
  const run = pool.run(jobOf('Sys.sleep(60)'), abort.signal);
  setImmediate(() => abort.abort(new Error('shutting down')));
  await expect(run).rejects.toThrow('shutting down');
  await pool.checkHealth();
});
