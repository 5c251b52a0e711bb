/**
 * Declared inputs, form values, formulas and schedules, and what a script gets from them (R-H1, R-H5, R-H6); loops, in
 * which the result of a run causes another run for the same variable (R-H11); and records of runs (R-H8).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeRuns } from '../../../src/calculation/calculator.ts';
import { runCalculation } from '../../../src/calculation/run/run-calculation.ts';
import type { SandboxJob } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { fireSchedules } from '../../../src/calculation/schedule/schedules.ts';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import { openPointStore, type PointStore } from '../../support/fixtures/point-store.ts';
import { type CalculationFixture, formula, HOUR, ok, openCalculationFixture, START } from './calculation-fixture.ts';

const DAY = 24 * HOUR;

let store: PointStore;
let calculations: CalculationFixture;
beforeAll(async () => {
  store = await openPointStore();
  calculations = openCalculationFixture(store);
});
afterAll(() => store.close());

/** Adds a variable with `count` hourly points from START, with the values 0, 1, 2, … */
async function addHourly(count: number, members: Readonly<Record<string, unknown>> = {}): Promise<number> {
  const variableId = await store.addVariable({ isVersioned: true });
  const columns = { quantity_type: null, unit_id: null, ...members };
  await store.database.query('update variable set quantity_type = $2, unit_id = $3 where id = $1', [
    variableId,
    columns.quantity_type,
    columns.unit_id,
  ]);
  await store.write(
    variableId,
    Array.from({ length: count }, (_, hour) => [START + hour * HOUR, hour] as const),
  );
  return variableId;
}

const input = (variableId: number, members: object = {}) => ({
  variables: [{ alias: 'a', variableId, periodType: 'AbsoluteDate', ...members }],
});

const rowsOf = (job: SandboxJob | undefined) => {
  const series = job?.inputs[0]?.series;
  return series && Array.from(series.dates, (date, row) => [(date * 1e6 - START) / HOUR, series.values[row]]);
};

const setZone = (zone: string) => store.database.query('update source set time_zone_id = $1', [zone]);

async function rowsFor(declaration: object, changed: readonly number[]) {
  const variableId = await calculations.addCalculated(formula(declaration));
  return rowsOf((await calculations.jobsFor(variableId, changed))[0]);
}

describe('calculation: granularity and aggregation of an input (R-H1)', () => {
  test.each([
    ['SUM', [276, 852]],
    ['MAX', [23, 47]],
    ['COUNT', [24, 24]],
  ])('points are aggregated into daily buckets with %s (R-H1)', async (aggregation, values) => {
    const variableId = await addHourly(48);
    const rows = await rowsFor(input(variableId, { granularity: 'Day', aggregation }), [START]);
    expect(rows).toEqual([
      [0, values[0]],
      [24, values[1]],
    ]);
  });

  test('the default aggregation is taken from the variable: an Integrated quantity is summed (R-C8)', async () => {
    const variableId = await addHourly(24, { quantity_type: 2 });
    expect(await rowsFor(input(variableId, { granularity: 'Day' }), [START])).toEqual([[0, 276]]);
  });

  test("daily buckets begin at midnight in the source's time zone, even after a clock change (R-H6)", async () => {
    await setZone('Europe/Brussels');
    const spring = Date.UTC(2026, 2, 28, 23) * 1000;
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(
      variableId,
      Array.from({ length: 48 }, (_, hour) => [spring + hour * HOUR, 1] as const),
    );
    const counted = input(variableId, { granularity: 'Day', aggregation: 'COUNT' });
    const rows = await rowsFor(counted, [START]);
    await setZone('UTC');
    expect(rows?.map(([, count]) => count)).toEqual([23, 24, 1]);
  });

  test('a relative window is widened to whole buckets (R-H6)', async () => {
    const variableId = await addHourly(72);
    const relative = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour', granularity: 'Day' };
    const rows = await rowsFor(input(variableId, { ...relative, aggregation: 'COUNT' }), [START + 30 * HOUR]);
    expect(rows).toEqual([[24, 24]]);
  });
});

describe('calculation: LastNPoints (R-H6)', () => {
  test('reads the points at the changed dates, and the N − 1 points before the first changed date (R-H6)', async () => {
    const variableId = await addHourly(10);
    const rows = await rowsFor(input(variableId, { periodType: 'LastNPoints', period: 3 }), [
      START + 5 * HOUR,
      START + 6 * HOUR,
    ]);
    expect(rows?.map(([hour]) => hour)).toEqual([3, 4, 5, 6]);
  });

  test('if no point has the date of the change, the input has the last N points before that date (R-H6)', async () => {
    const variableId = await addHourly(10);
    const last = input(variableId, { periodType: 'LastNPoints', period: 3 });
    expect((await rowsFor(last, [START + 100 * HOUR]))?.map(([hour]) => hour)).toEqual([7, 8, 9]);
  });

  test('counts buckets when the input has a granularity (R-H6)', async () => {
    const variableId = await addHourly(96);
    const last = { periodType: 'LastNPoints', period: 2, granularity: 'Day', aggregation: 'COUNT' };
    expect(await rowsFor(input(variableId, last), [START + 50 * HOUR])).toEqual([
      [24, 24],
      [48, 24],
    ]);
  });

  test('counts only points of the declared version (R-H6)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(
      variableId,
      [0, 1, 2, 3].map((hour) => [START + hour * HOUR, hour, hour % 2 === 0 ? 'V1' : 'V2'] as const),
    );
    const last = { periodType: 'LastNPoints', period: 2, version: 'V1' };
    expect((await rowsFor(input(variableId, last), [START + 2 * HOUR]))?.map(([hour]) => hour)).toEqual([0, 2]);
  });
});

describe('calculation: versions of an input, selected as in a read (R-G2)', () => {
  const both = async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [[START, 1, 'V1']]);
    await store.write(variableId, [[START, 2, 'V2']]);
    return variableId;
  };

  test.each([
    [{ version: ['V1', 'V2'] }, 'the value 2', [2]],
    [{ version: 'V1' }, 'the value 1', [1]],
    [{ relativeVersion: 'Current' }, 'the value 2', [2]],
    [{ relativeVersion: 'last 3 days' }, 'no value', []],
    [{ horizon: 'P1D' }, 'no value', []],
    [{ tags: 'quality:estimated' }, 'no value', []],
  ])(
    'given the value 1 (VersionTag V1) and the later value 2 (V2), an input with %j selects %s (R-G2)',
    async (members, _what, values) => {
      const rows = await rowsFor(input(await both(), members), [START]);
      expect(rows?.map((row) => row[1])).toEqual(values);
    },
  );

  test('a horizon of a day selects the values known a day before each date (R-G2)', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    const tomorrow = (Math.floor(Date.now() / 3_600_000) + 40) * HOUR;
    await store.write(variableId, [
      [tomorrow - 20 * HOUR, 6],
      [tomorrow, 7],
    ]);
    const rows = await rowsFor(input(variableId, { horizon: 'P1D' }), [tomorrow]);
    expect(rows?.map((row) => row[1])).toEqual([7]);
  });

  test.each([{ horizon: 'a day' }, { relativeVersion: 'soon' }, { tags: 'quality' }, { version: '' }])(
    'an input with %j is refused with invalid_input (R-G2)',
    async (members) => {
      const refused = calculations.addCalculated(formula(input(await both(), members)));
      await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );
});

describe('calculation: unit of an input (R-C8)', () => {
  const [KWH, WH, CELSIUS] = [8, 7, 95];

  test('values are converted to the declared unit (R-C8)', async () => {
    const variableId = await addHourly(3, { unit_id: KWH });
    expect(await rowsFor(input(variableId, { unitId: WH }), [START])).toEqual([
      [0, 0],
      [1, 1000],
      [2, 2000],
    ]);
  });

  test('a unit outside the unit family of the variable is refused; the error has the path of `unitId` (R-C8)', async () => {
    const variableId = await addHourly(1, { unit_id: KWH });
    const refused = calculations.addCalculated(formula(input(variableId, { unitId: CELSIUS })));
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '$.calculated.calculatedVariableFormulas[0].variables[0].unitId' }],
    });
  });
});

describe('calculation: form values (R-H1, R-H2)', () => {
  test('`path` selects a value from the forms of the site or of the source, and gives null when the value is not set (R-H2)', async () => {
    const area = { Form: { Building: { 'Floor area': 120.5, heated: true, tags: ['a'] } } };
    await store.database.query('update site set client_data = $1', [area]);
    await store.database.query(`update source set client_data = '{"Meter":{"factor":2}}'`);
    const entities = [
      { alias: 'area', entityType: 'site', path: "Form.Building.'Floor area'" },
      { alias: 'heated', entityType: 'Site', path: 'clientData.Form.Building.heated' },
      { alias: 'tags', entityType: 'Site', path: 'Form.Building.tags' },
      { alias: 'factor', entityType: 'Source', path: 'Meter.factor' },
      { alias: 'unset', entityType: 'Source', path: 'Meter.nothing' },
    ];
    const variableId = await calculations.addCalculated(formula({ entities }));
    const [job] = await calculations.jobsFor(variableId, [START]);
    expect(job?.forms).toEqual([
      { alias: 'area', value: 120.5 },
      { alias: 'heated', value: true },
      { alias: 'tags', value: '["a"]' },
      { alias: 'factor', value: 2 },
      { alias: 'unset', value: null },
    ]);
  });

  test('an unknown site is refused with the path of the member `siteId` (R-H1)', async () => {
    const entities = [{ alias: 'x', entityType: 'Site', siteId: 999_999, path: 'a' }];
    await expect(calculations.addCalculated(formula({ entities }))).rejects.toMatchObject({
      details: [{ path: '$.calculated.calculatedVariableFormulas[0].entities[0].siteId' }],
    });
  });
});

describe('calculation: several formulas (R-H1)', () => {
  const noon = '2026-01-01T12:00:00Z';
  const NOON = START + 12 * HOUR;
  const twoFormulas = (variableId: number) => {
    const window = { periodType: 'RelativeDate', period: 2, periodTimeBase: 'Hour' };
    const { variables } = input(variableId, window);
    return {
      calculatedVariableFormulas: [
        { formula: 'before', validUntil: noon, variables },
        { formula: 'after', validFrom: noon, variables },
      ],
    };
  };

  test('each formula runs only for the changed dates in its validity period, but reads its whole window, also outside that period (R-H1)', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    const jobs = await calculations.jobsFor(variableId, [NOON - 3 * HOUR, NOON + 3 * HOUR]);
    expect(jobs.map(({ script, triggerDate }) => [script, triggerDate])).toEqual([
      ['before', NOON / 1e6 - 1],
      ['after', (NOON + 3 * HOUR) / 1e6],
    ]);
    expect(jobs.map((job) => rowsOf(job)?.map(([hour]) => hour))).toEqual([
      [8, 9, 10, 11, 12, 13],
      [11, 12, 13, 14, 15, 16, 17],
    ]);
  });

  test('a change runs the formula whose validity period contains the changed date, and every other formula whose window includes that date (R-H1)', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    const scriptsFor = async (at: number) => (await calculations.jobsFor(variableId, [at])).map((job) => job.script);
    expect(await scriptsFor(NOON - 5 * HOUR)).toEqual(['before']);
    expect(await scriptsFor(NOON + 5 * HOUR)).toEqual(['after']);
    expect(await scriptsFor(NOON - HOUR)).toEqual(['before', 'after']);
  });

  test('a result is stored only if its date is in the validity period of its formula (R-H1)', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    await calculations.change(source, [NOON]);
    const seconds = [NOON - HOUR, NOON, NOON + HOUR].map((micros) => micros / 1e6);
    const result = await calculations.runWith(variableId, () => ok(seconds));
    expect(result).toMatchObject({ report: { counts: { returned: 6, outside: 3, stored: 3 } } });
    expect(await calculations.runsOf(variableId)).toMatchObject([
      { state: 'Succeeded', formulas: [{ formula: 0 }, { formula: 1 }] },
    ]);
    expect((await store.read(variableId)).map(({ date }) => date)).toEqual(seconds.map((second) => second * 1e6));
  });

  test('when a run has too many input points, the error names the input and the formula (R-H1)', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    await calculations.change(source, [NOON]);
    // Each formula reads four points.
    await calculations.runWith(variableId, () => ok([]), { maxInputPoints: 6 });
    const message = expect.stringMatching(/^formula 1: input a brings the run above its maximum of 6 input points /);
    expect(await calculations.runsOf(variableId)).toMatchObject([{ outcome: 'invalid_input', message }]);
  });

  test('a run for dates at which no formula is valid stores nothing and records a warning (R-H1)', async () => {
    const source = await addHourly(1);
    const variables = input(source, { periodType: 'RelativeDate' }).variables;
    const variableId = await calculations.addCalculated({
      calculatedVariableFormulas: [{ formula: 'x', validFrom: '2030-01-01T00:00:00Z', variables }],
    });
    await calculations.change(source);
    await calculations.runWith(variableId, () => ok([1]));
    const notes = { warnings: ['for the dates of the run, the variable has no formula with a script'] };
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Succeeded', notes }]);
    expect(await store.read(variableId)).toEqual([]);
  });
});

describe('calculation: schedules (R-H5)', () => {
  const scheduled = (schedule: unknown, members: object = {}) => formula({ schedule, ...members });
  const due = async (variableId: number) =>
    (
      await store.database.query(
        `select trigger, from_date as from, to_date as to, trigger_date as "triggerDate" from calculation_request
         where variable_id = $1`,
        [variableId],
      )
    ).rows;
  /** Sets the clock to `now`, then fires the schedules. */
  const fireAt = (now: string) => fireSchedules(store.database, { nowMillis: () => Date.parse(now) });
  /** Adds a scheduled variable as if it had been saved at `savedAt`. */
  const addScheduled = async (declaration: object, savedAt: string) => {
    const variableId = await calculations.addCalculated(declaration);
    await store.database.query('update calculation_schedule set after_date = $2 where variable_id = $1', [
      variableId,
      savedAt,
    ]);
    return variableId;
  };

  test('when the clock change skips the local time of a schedule, the schedule fires once (R-H5)', async () => {
    await setZone('Europe/Brussels');
    const variableId = await addScheduled(scheduled('30 2 * * *'), '2026-03-28T12:00:00Z');
    await fireAt('2026-03-29T00:59:59Z');
    expect(await due(variableId)).toEqual([]);
    await fireAt('2026-03-29T01:00:00Z');
    await fireAt('2026-03-29T01:00:01Z');
    await setZone('UTC');
    const at = '2026-03-29T01:00:00Z';
    expect(await due(variableId)).toEqual([{ trigger: 'Schedule', from: at, to: at, triggerDate: at }]);
    await store.database.query('delete from calculation_schedule where variable_id = $1', [variableId]);
  });

  test('a schedule that missed several instants requests one run over their whole range (R-H5)', async () => {
    const variableId = await addScheduled(scheduled('0 * * * *'), '2026-05-01T00:10:00Z');
    await fireAt('2026-05-01T00:20:00Z');
    await fireAt('2026-05-01T05:30:00Z');
    expect(await due(variableId)).toMatchObject([
      { from: '2026-05-01T01:00:00Z', to: '2026-05-01T05:00:00Z', triggerDate: '2026-05-01T05:00:00Z' },
    ]);
    await store.database.query('delete from calculation_request where variable_id = $1', [variableId]);
    await fireAt('2026-05-01T05:59:59Z');
    expect(await due(variableId)).toEqual([]);
    await fireAt('2026-05-01T06:00:00Z');
    expect(await due(variableId)).toMatchObject([{ from: '2026-05-01T06:00:00Z' }]);
  });

  test('when two calculators fire the same schedule at the same time, only one of them requests a run (R-H5)', async () => {
    const variableId = await addScheduled(scheduled('0 0 * * *'), '2026-06-01T12:00:00Z');
    const firing = await withTransaction(
      store.database,
      async (holder) => {
        // One calculator locks the row of the schedule, and then waits for this table lock before it requests the run.
        // The other calculator skips the locked row and finishes first.
        await holder.query('lock table calculation_request in share mode');
        const both = [fireAt('2026-06-02T00:00:00Z'), fireAt('2026-06-02T00:00:00Z')];
        await Promise.race(both);
        return { both };
      },
      { idleTimeoutMs: 0 },
    );
    const fired = await Promise.all(firing.both);
    expect(fired.flat().filter((id) => id === variableId)).toEqual([variableId]);
  });

  test('a schedule that is saved unchanged still starts its next run; a schedule that is saved empty is removed (R-H5)', async () => {
    const variableId = await addScheduled(scheduled('0 0 * * *'), '2026-07-01T12:00:00Z');
    await fireAt('2026-07-01T13:00:00Z');
    await calculations.save(variableId, scheduled('0 0 * * *'));
    await fireAt('2026-07-02T00:00:00Z');
    expect(await due(variableId)).toHaveLength(1);
    await calculations.save(variableId, scheduled(''));
    const { rows } = await store.database.query('select from calculation_schedule where variable_id = $1', [
      variableId,
    ]);
    expect(rows).toEqual([]);
  });

  test('a schedule fires only within the validity of its formula (R-H5)', async () => {
    const validity = { validFrom: '2026-08-10T00:00:00Z', validUntil: '2026-08-12T00:00:00Z' };
    const variableId = await addScheduled(scheduled('0 6 * * *', validity), '2026-08-01T00:00:00Z');
    await fireAt('2026-08-09T12:00:00Z');
    expect(await due(variableId)).toEqual([]);
    await fireAt('2026-08-20T12:00:00Z');
    expect(await due(variableId)).toMatchObject([{ from: '2026-08-10T06:00:00Z', to: '2026-08-11T06:00:00Z' }]);
  });

  test('an invalid cron expression is refused (R-H5)', async () => {
    await expect(calculations.addCalculated(scheduled('every day'))).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('calculation: a chain of calculations (R-H11)', () => {
  test('when the results of a variable lead back to this variable, the repeated run fails with the outcome `loop` (R-H11)', async () => {
    const source = await addHourly(1);
    const passOn = (variableId: number) => formula(input(variableId, { periodType: 'RelativeDate' }));
    const first = await calculations.addCalculated(passOn(source));
    const second = await calculations.addCalculated(passOn(first));
    await calculations.change(source);
    await calculations.runWith(first, () => ok([START / 1e6]));
    await calculations.relay();
    // Reverses the dependency: the second variable no longer reads the first; instead, the first reads the second.
    await calculations.save(second, passOn(source));
    await calculations.save(first, passOn(second));
    await calculations.runWith(second, () => ok([START / 1e6]));
    await calculations.relay();
    expect((await calculations.runWith(first, () => ok([START / 1e6]))).kind).toBe('idle');
    const runs = await calculations.runsOf(first);
    expect(runs).toMatchObject([{ state: 'Succeeded' }, { state: 'Failed', outcome: 'loop' }]);
    expect(runs[1]?.message).toContain(`its path is variables ${first}, ${second}`);
  });
});

describe('calculation: records of runs (R-H8)', () => {
  test('records are deleted after the retention period (R-H8)', async () => {
    const source = await addHourly(1);
    const variableId = await calculations.addCalculated(formula(input(source)));
    await calculations.change(source);
    await calculations.runWith(variableId, () => ok([1]));
    const inDays = (days: number) => ({ nowMillis: () => Date.now() + days * (DAY / 1000) });
    await purgeRuns(store.database, inDays(89), 90);
    expect(await calculations.runsOf(variableId)).toHaveLength(1);
    await purgeRuns(store.database, inDays(91), 90);
    expect(await calculations.runsOf(variableId)).toEqual([]);
  });

  test('a run that stops because its calculator stops is recorded as Abandoned, does not count as an attempt, and is repeated (R-K2)', async () => {
    const source = await addHourly(1);
    const variableId = await calculations.addCalculated(formula(input(source)));
    await calculations.change(source);
    const abort = new AbortController();
    const sandbox = {
      run: () => {
        abort.abort(new Error('stop'));
        return Promise.reject(abort.signal.reason);
      },
      checkHealth: async () => {},
      close: async () => {},
    };
    const { database } = store;
    const clock = { nowMillis: () => Date.now() };
    const services = { database, dictionary: openDictionary(database), sandbox, clock, maxInputPoints: 10 };
    await runCalculation(services, variableId, abort.signal);
    await calculations.runWith(variableId, () => ok([1]));
    expect(await calculations.runsOf(variableId)).toMatchObject([
      { state: 'Abandoned', outcome: 'stopped', attempt: 0 },
      { state: 'Succeeded', attempt: 0 },
    ]);
  });
});
