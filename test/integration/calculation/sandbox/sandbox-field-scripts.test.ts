/** Scripts as authors write them in practice, and the series that each must return (R-H3, R-H4). */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SandboxPool } from '../../../../src/calculation/sandbox/pool.ts';
import type {
  SandboxInput,
  SandboxJob,
  SandboxOutcome,
  ScalarValue,
} from '../../../../src/calculation/sandbox/sandbox-types.ts';
import { constantText, inputOf, jobOf, openTestPool, textsOf } from '../../../fixtures/scripts/harness.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

const QUARTER = 900;
const HOUR = 3600;
const DAY = 86_400;
/** A Thursday. */
const START = Date.UTC(2026, 0, 1) / 1000;
const at = (text: string) => Date.parse(text) / 1000;

type Row = readonly [date: number, value: number];

let pool: SandboxPool;
beforeAll(async () => {
  pool = await openTestPool();
});
afterAll(() => pool?.close());

interface Case {
  readonly inputs: Readonly<Record<string, readonly Row[]>>;
  readonly constants?: Readonly<Record<string, ScalarValue>>;
  readonly forms?: Readonly<Record<string, ScalarValue>>;
  readonly triggerDate?: number;
}

const regular = (values: readonly number[], step: number, start = START): Row[] =>
  values.map((value, index) => [start + index * step, value]);

function inputsOf(inputs: Case['inputs']): SandboxInput[] {
  return Object.entries(inputs).map(([alias, rows]) =>
    inputOf(alias, {
      dates: Int32Array.from(rows, ([date]) => date),
      values: Float64Array.from(rows, ([, value]) => value),
      versions: constantText(rows.length),
      tags: constantText(rows.length, '{}'),
    }),
  );
}

const scalars = (values: Readonly<Record<string, ScalarValue>> = {}) =>
  Object.entries(values).map(([alias, value]) => ({ alias, value }));

async function run(name: string, given: Case): Promise<SandboxOutcome> {
  const script = await readFile(new URL(`../../../fixtures/scripts/field/${name}.R`, import.meta.url), 'utf8');
  const job: Partial<SandboxJob> = {
    inputs: inputsOf(given.inputs),
    constants: scalars(given.constants),
    forms: scalars(given.forms),
    ...(given.triggerDate !== undefined && { triggerDate: given.triggerDate }),
  };
  return pool.run(jobOf(script, job));
}

async function series(name: string, given: Case): Promise<readonly Row[]> {
  const outcome = await run(name, given);
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  const { dates, values } = outcome.series;
  return Array.from(dates, (date, row): Row => [date, values[row] ?? Number.NaN]);
}

test('real-world script: converts meter readings to consumption, across a rollover of the meter (R-H3, R-H4)', async () => {
  const index = regular([990, 995, 3, 10], HOUR);
  const rows = await series('index-to-consumption', { inputs: { index }, constants: { rollover: 1000 } });
  expect(rows).toEqual(regular([5, 8, 7], HOUR, START + HOUR));
});

test('real-world script: interpolates a short gap of a 15-minute series and leaves a long gap as NA (R-H3, R-H4)', async () => {
  const power: Row[] = [...regular([1, 2], QUARTER), [START + HOUR, 5], [START + 4 * HOUR, 9]];
  const rows = await series('gap-filling', { inputs: { power } });
  expect(rows.slice(0, 5)).toEqual(regular([1, 2, 3, 4, 5], QUARTER));
  expect(rows.filter(([, value]) => Number.isNaN(value))).toHaveLength(11);
  expect(rows.at(-1)).toEqual([START + 4 * HOUR, 9]);
});

test.each([
  ['sum', [11, 22]],
  ['average', [5.5, 11]],
])(
  'real-world script: computes the %s of two inputs at their common dates; rows that the script returns in descending order are sorted ascending (R-H3)',
  async (kind, values) => {
    const inputs = { a: regular([1, 2, 3], HOUR), b: regular([10, 20], HOUR) };
    expect(await series('sum-and-average', { inputs, constants: { kind } })).toEqual(regular(values, HOUR));
  },
);

test('real-world script: finds working hours in the time zone of the source, across a clock change (R-H4)', async () => {
  // Friday 2026-03-27 in winter time, Monday 2026-03-30 in summer time, and the Saturday between them.
  const dates = ['27T06:59', '27T07:00', '27T16:59', '27T17:00', '28T10:00', '30T05:59', '30T06:00', '30T16:00'];
  const power = dates.map((text): Row => [at(`2026-03-${text}:00Z`), 1]);
  const rows = await series('working-hours', { inputs: { power } });
  expect(rows.map(([, value]) => value)).toEqual([0, 1, 1, 0, 0, 0, 1, 0]);
});

test('real-world script: normalises gas consumption by degree days; a day without heating gets NA (R-H3, R-H4)', async () => {
  const inputs = { gas: regular([100, 80, 60], DAY), temperature: regular([8, 13, 20], DAY) };
  const rows = await series('degree-days', { inputs, constants: { base: 18, reference: 12 } });
  expect(rows).toEqual([
    [START, 120],
    [START + DAY, 192],
    [START + 2 * DAY, Number.NaN],
  ]);
});

test('real-world script: converts energy to power, using the length of each interval (R-H3, R-H4)', async () => {
  const energy: Row[] = [...regular([2, 3], QUARTER), [START + 2 * QUARTER, 4], [START + 2 * QUARTER + HOUR, 8]];
  expect((await series('energy-to-power', { inputs: { energy } })).map(([, value]) => value)).toEqual([8, 12, 4, 8]);
});

test('real-world script: divides the mean consumption on weekends by the mean consumption on working days (R-H2, R-H4)', async () => {
  // The first day is a Thursday and the last a Wednesday. The time zone of the source is one hour ahead of UTC.
  const consumption = regular([10, 10, 4, 6, 10, 10, 10], DAY);
  const rows = await series('weekday-ratio', { inputs: { consumption }, triggerDate: START + 6 * DAY + 100 });
  expect(rows).toEqual([[START + 6 * DAY, 0.5]]);
});

test('real-world script: divides power by a capacity, which is a form value times a constant; when the form value is not set, the script returns an error (R-H2, R-H8)', async () => {
  const given = { inputs: { power: regular([45, 90, 99], HOUR) }, constants: { margin: 0.9 } };
  const outcome = await run('capacity-check', { ...given, forms: { capacity: 100 } });
  expect(outcome).toMatchObject({
    kind: 'ok',
    series: { values: Float64Array.of(0.5, 1, 1.1) },
    notes: { warnings: [expect.stringMatching(/^1 points above capacity \(line \d+\)$/)] },
  });
  expect(await run('capacity-check', { ...given, forms: { capacity: null } })).toMatchObject({
    kind: 'script_error',
    message: 'fill in the contracted capacity',
  });
});

test('real-world script: multiplies consumption by a price that holds until the next price, and adds a fee (R-H3, R-H4)', async () => {
  const inputs = {
    consumption: regular([1, 2, 3, 4], HOUR),
    price: [
      [START - 100, 0.5],
      [START + 2 * HOUR, 0.25],
    ] as const,
  };
  const rows = await series('step-hold-price', { inputs, constants: { fee: 1 } });
  expect(rows).toEqual(regular([1.5, 2, 1.75, 2], HOUR));
});

test('real-world script: computes one consumption-weighted mean price per month, dated at the start of the month in local time (R-H4)', async () => {
  const inputs = { price: regular([10, 20, 40], 20 * DAY), consumption: regular([1, 3, 5], 20 * DAY) };
  expect(await series('monthly-weighted-price', { inputs })).toEqual([
    [at('2025-12-31T23:00:00Z'), 17.5],
    [at('2026-01-31T23:00:00Z'), 40],
  ]);
});

test('real-world script: takes the value of each date from the input `Real`, else `Estimated`, else `Regularised`, and returns `Version` and `Tags`; an extra column is ignored (R-H3)', async () => {
  const inputs = {
    Real: [[START, 1]] as const,
    Estimated: regular([10, 20], HOUR),
    Regularised: regular([100, 200, 300], HOUR),
  };
  const outcome = await run('coalesce-quality', { inputs });
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
  expect(outcome.series.values).toEqual(Float64Array.of(1, 20, 300));
  expect(textsOf(outcome.series.versions)).toEqual(['final', '', '']);
  expect(textsOf(outcome.series.tags)).toEqual(
    ['real', 'estimated', 'regularised'].map((quality) => JSON.stringify({ quality })),
  );
});

test('real-world script: counts the missing points of each local day; the day on which the clock goes forward has 92 quarter-hours (R-H4)', async () => {
  const midnight = at('2026-03-28T23:00:00Z');
  const power = regular(
    Array.from({ length: 90 }, () => 1),
    QUARTER,
    midnight,
  );
  expect(await series('missing-points', { inputs: { power } })).toEqual([[midnight, 2]]);
});

test('real-world script: a state machine continues from its own past output and returns only new points (R-H1)', async () => {
  const level = regular([50, 90, 50, 5, 50], HOUR);
  const constants = { upper: 80, lower: 20 };
  const self: Row[] = [
    [START - HOUR, 1],
    [START, 1],
  ];
  expect(await series('state-machine', { inputs: { level, self }, constants })).toEqual(
    regular([1, 1, 0, 0], HOUR, START + HOUR),
  );
  expect((await series('state-machine', { inputs: { level, self: [] }, constants })).map(([, value]) => value)).toEqual(
    [0, 1, 1, 0, 0],
  );
});

test('real-world script: computes the moving average over three months of the monthly mean error of a forecast (R-H3, R-H4)', async () => {
  const months = [0, 1, 2, 3].map((month) => Date.UTC(2026, month, 15) / 1000);
  const rowsOf = (values: readonly number[]) => months.map((date, index): Row => [date, values[index] ?? 0]);
  const inputs = { forecast: rowsOf([11, 13, 12, 19]), actual: rowsOf([10, 10, 10, 10]) };
  const rows = await series('forecast-bias', { inputs });
  expect(rows.slice(2)).toEqual([
    [at('2026-03-01T00:00:00Z'), 2],
    [at('2026-04-01T00:00:00Z'), 14 / 3],
  ]);
});
