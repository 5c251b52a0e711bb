/**
 * Tests daily sums over windows that begin or end within a day. With `alignTo`, only sums of whole days are stored
 * (R-H6).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SandboxJob, SandboxOutcome } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import {
  type CalculationFixture,
  formula,
  HOUR,
  openCalculationFixture,
  returned,
  START,
} from './calculation-fixture.ts';

const DAY_SECONDS = 86_400;

let store: PointStore;
let calculations: CalculationFixture;
let hourly: number;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store);
  hourly = await store.addVariable({ isVersioned: true });
  await store.write(
    hourly,
    Array.from({ length: 96 }, (_, hour) => [START + hour * HOUR, 1] as const),
  );
});
afterAll(() => store.close());

const byDay = (members: object) =>
  formula({ variables: [{ alias: 'a', variableId: hourly, period: 1, periodTimeBase: 'Day', ...members }] });

/** A script that sums the values of each day. */
function sumDays(job: SandboxJob): SandboxOutcome {
  const sums = new Map<number, number>();
  for (const input of job.inputs) {
    for (const [row, date] of input.series.dates.entries()) {
      const day = date - (date % DAY_SECONDS);
      sums.set(day, (sums.get(day) ?? 0) + (input.series.values[row] ?? 0));
    }
  }
  return returned(sums.keys(), sums.values());
}

async function runDays(variableId: number, hour: number): Promise<readonly SandboxJob[]> {
  const jobs: SandboxJob[] = [];
  await calculations.change(hourly, [START + hour * HOUR]);
  await calculations.runWith(variableId, (job) => {
    jobs.push(job);
    return sumDays(job);
  });
  return jobs;
}

const storedDays = async (variableId: number) =>
  (await store.read(variableId)).map(({ date, value }) => [(date - START) / (24 * HOUR), value]);

test('calculation: without `alignTo`, a change to the input stores partial sums for the days at the ends of the window (R-H6)', async () => {
  const variableId = await calculations.addCalculated(byDay({}));
  await runDays(variableId, 36);
  expect(await storedDays(variableId)).toEqual([
    [0, 11],
    [1, 24],
    [2, 13],
  ]);
});

test('calculation: with `alignTo` = Day, a change to the input stores only sums of whole days (R-H6)', async () => {
  const variableId = await calculations.addCalculated(byDay({ alignTo: 'Day' }));
  const days = [0, 1, 2].map((day) => [day, 24]);
  for (const hour of [36, 36]) {
    await runDays(variableId, hour);
    expect(await storedDays(variableId)).toEqual(days);
  }
});

test('calculation: output rows outside the whole days of an aligned input are counted and not stored (R-H6)', async () => {
  const declaration = formula({
    variables: [
      { alias: 'aligned', variableId: hourly, period: 0, alignTo: 'Day' },
      { alias: 'raw', variableId: hourly, period: 1, periodTimeBase: 'Day' },
    ],
  });
  const variableId = await calculations.addCalculated(declaration);
  const [job] = await runDays(variableId, 36);
  expect((await storedDays(variableId)).map(([day]) => day)).toEqual([1]);
  expect(await calculations.runsOf(variableId)).toMatchObject([
    { counts: { outside: 2, stored: 1 }, inputs: [{ alignTo: 'Day', from: '2026-01-02T00:00:00Z' }, { alias: 'raw' }] },
  ]);
  const noon = (START + 36 * HOUR) / 1e6;
  expect(job?.changed).toEqual({ from: noon, to: noon });
  expect(job?.inputs[0]?.window).toEqual({ from: noon - DAY_SECONDS / 2, to: noon + DAY_SECONDS / 2 - 1 });
});
