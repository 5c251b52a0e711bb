/** Tests the response of the route `evaluate` (R-H9). */
import { expect, test } from 'vitest';
import { describeComputed } from '../../../src/calculation/authoring/describe-preview.ts';
import type { Computed } from '../../../src/calculation/run/compute.ts';
import { type Output, type OutputPoint, planOutput } from '../../../src/calculation/run/output-rules.ts';

const DATES = { fromMicros: 0, toMicros: 0, triggerMicros: 0 };

function outputOf(rows: number): Output {
  const dates = Float64Array.from({ length: rows }, (_, row) => row);
  const series = { dates, values: dates, versions: null, tags: null };
  const plan = planOutput(series, { isVersioned: false, defaultVersion: '' });
  if (plan.kind !== 'ok') throw new Error(plan.message);
  return plan.output;
}

const computed = (outputs: readonly Output[]): Computed => ({
  ...{ result: { kind: 'ok', outputs }, formulas: [], inputs: [], read: 0, notes: {}, durations: {}, outcomes: [] },
  declaration: undefined,
});

test('evaluate: the response has at most the first 10,000 rows of all formulas together, but its counts include every row (R-H9)', async () => {
  const answer = await describeComputed(computed([outputOf(6000), outputOf(50_000)]), DATES, '');
  expect(answer.series).toHaveLength(10_000);
  expect((answer.series as readonly unknown[]).at(-1)).toEqual({ date: '1970-01-01T01:06:39Z', value: 3999 });
  expect(answer).toMatchObject({ isSeriesCut: true, counts: { returned: 56_000, wouldStore: 56_000 } });
  const whole = await describeComputed(computed([outputOf(6000), outputOf(4000)]), DATES, '');
  expect(whole).toMatchObject({ isSeriesCut: false, counts: { wouldStore: 10_000 } });
});

test('evaluate: the event loop runs waiting callbacks between any two slices of a long series (R-H9)', async () => {
  const output = outputOf(100_000);
  let turns = 0;
  let slices = 0;
  function* counted(): Generator<readonly OutputPoint[]> {
    for (const points of output.slices()) {
      expect(turns).toBe(slices);
      slices += 1;
      setImmediate(() => {
        turns += 1;
      });
      yield points;
    }
  }
  await describeComputed(computed([{ ...output, slices: counted }]), DATES, '');
  expect(slices).toBe(5);
});

test('evaluate: the response has the same members whether the script fails or not (R-H9)', async () => {
  const ok = await describeComputed(computed([outputOf(1)]), DATES, '');
  const failed = await describeComputed(
    {
      ...computed([]),
      result: { kind: 'failed', outcome: 'script_error', message: 'no' },
      notes: { errors: ['no'], line: 3 },
    },
    DATES,
    '',
  );
  expect(Object.keys(failed)).toEqual(Object.keys(ok));
  expect(failed).toMatchObject({
    outcome: 'script_error',
    errors: ['no'],
    line: 3,
    call: null,
    counts: { wouldStore: 0 },
  });
});
