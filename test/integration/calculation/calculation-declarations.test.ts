/** What a declaration says of inputs, forms, formulas and schedules, and what a script then gets (R-H1, R-H5, R-H6). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeRuns } from '../../../src/calculation/calculator.ts';
import { runCalculation } from '../../../src/calculation/run/run-calculation.ts';
import type { SandboxJob } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { fireSchedules } from '../../../src/calculation/schedule/schedules.ts';
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

/** A variable with a point every hour from START on: 0, 1, 2, … */
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

describe('granularity and aggregation of an input (R-H1)', () => {
  test.each([
    ['SUM', [276, 852]],
    ['MAX', [23, 47]],
    ['COUNT', [24, 24]],
  ])('by day, %s', async (aggregation, values) => {
    const variableId = await addHourly(48);
    const rows = await rowsFor(input(variableId, { granularity: 'Day', aggregation }), [START]);
    expect(rows).toEqual([
      [0, values[0]],
      [24, values[1]],
    ]);
  });

  test('without an aggregation that of the variable: an Integrated quantity is summed (R-C8)', async () => {
    const variableId = await addHourly(24, { quantity_type: 2 });
    expect(await rowsFor(input(variableId, { granularity: 'Day' }), [START])).toEqual([[0, 276]]);
  });

  test('days are those of the source, also when the clock changes', async () => {
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

  test('a relative window is widened to whole buckets: none is of a part of its points (R-H6)', async () => {
    const variableId = await addHourly(72);
    const relative = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour', granularity: 'Day' };
    const rows = await rowsFor(input(variableId, { ...relative, aggregation: 'COUNT' }), [START + 30 * HOUR]);
    expect(rows).toEqual([[24, 24]]);
  });
});

describe('LastNPoints (R-H6)', () => {
  test('is every changed date and the N − 1 points before it', async () => {
    const variableId = await addHourly(10);
    const rows = await rowsFor(input(variableId, { periodType: 'LastNPoints', period: 3 }), [
      START + 5 * HOUR,
      START + 6 * HOUR,
    ]);
    expect(rows?.map(([hour]) => hour)).toEqual([3, 4, 5, 6]);
  });

  test('is N points where none is at the changed date, as for a schedule', async () => {
    const variableId = await addHourly(10);
    const last = input(variableId, { periodType: 'LastNPoints', period: 3 });
    expect((await rowsFor(last, [START + 100 * HOUR]))?.map(([hour]) => hour)).toEqual([7, 8, 9]);
  });

  test('counts buckets where the input is by buckets', async () => {
    const variableId = await addHourly(96);
    const last = { periodType: 'LastNPoints', period: 2, granularity: 'Day', aggregation: 'COUNT' };
    expect(await rowsFor(input(variableId, last), [START + 50 * HOUR])).toEqual([
      [24, 24],
      [48, 24],
    ]);
  });

  test('counts in the pinned versions, not in the current ones', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(
      variableId,
      [0, 1, 2, 3].map((hour) => [START + hour * HOUR, hour, hour % 2 === 0 ? 'V1' : 'V2'] as const),
    );
    const last = { periodType: 'LastNPoints', period: 2, version: 'V1' };
    expect((await rowsFor(input(variableId, last), [START + 2 * HOUR]))?.map(([hour]) => hour)).toEqual([0, 2]);
  });
});

describe('the versions of an input, in the words of reading (R-G2)', () => {
  const both = async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    await store.write(variableId, [[START, 1, 'V1']]);
    await store.write(variableId, [[START, 2, 'V2']]);
    return variableId;
  };

  test.each([
    [{ version: ['V1', 'V2'] }, 2],
    [{ version: 'V1' }, 1],
    [{ relativeVersion: 'Current' }, 2],
    [{ relativeVersion: 'last 3 days' }, undefined],
    [{ horizon: 'P1D' }, undefined],
    [{ tags: 'quality:estimated' }, undefined],
  ])('%j', async (members, value) => {
    const rows = await rowsFor(input(await both(), members), [START]);
    expect(rows?.map((row) => row[1])).toEqual(value === undefined ? [] : [value]);
  });

  test('a horizon is counted back from each date: what was known a day before it', async () => {
    const variableId = await store.addVariable({ isVersioned: true });
    const tomorrow = (Math.floor(Date.now() / 3_600_000) + 40) * HOUR;
    await store.write(variableId, [[tomorrow, 7]]);
    const rows = await rowsFor(input(variableId, { horizon: 'P1D' }), [tomorrow]);
    expect(rows?.map((row) => row[1])).toEqual([7]);
  });

  test.each([{ horizon: 'a day' }, { relativeVersion: 'soon' }, { tags: 'quality' }, { version: '' }])(
    '%j is refused when saved',
    async (members) => {
      const refused = calculations.addCalculated(formula(input(await both(), members)));
      await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );
});

describe('the unit of an input (R-C8)', () => {
  const [KWH, WH, CELSIUS] = [8, 7, 95];

  test('is converted into', async () => {
    const variableId = await addHourly(3, { unit_id: KWH });
    expect(await rowsFor(input(variableId, { unitId: WH }), [START])).toEqual([
      [0, 0],
      [1, 1000],
      [2, 2000],
    ]);
  });

  test('of another family is refused when saved, naming the place', async () => {
    const variableId = await addHourly(1, { unit_id: KWH });
    const refused = calculations.addCalculated(formula(input(variableId, { unitId: CELSIUS })));
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '$.calculated.calculatedVariableFormulas[0].variables[0].unitId' }],
    });
  });
});

describe('form values (R-H1, R-H2)', () => {
  test('come by path from the forms of site and source; an unset one is there as null', async () => {
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

  test('of a site that does not exist are refused when saved', async () => {
    const entities = [{ alias: 'x', entityType: 'Site', siteId: 999_999, path: 'a' }];
    await expect(calculations.addCalculated(formula({ entities }))).rejects.toMatchObject({
      details: [{ path: '$.calculated.calculatedVariableFormulas[0].entities[0].siteId' }],
    });
  });
});

describe('several formulas (R-H1)', () => {
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

  test('each is run over the dates it is valid for; windows reach beyond', async () => {
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

  test('a change is left to the formula valid then, unless a window of the other reaches it', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    const scriptsFor = async (at: number) => (await calculations.jobsFor(variableId, [at])).map((job) => job.script);
    expect(await scriptsFor(NOON - 5 * HOUR)).toEqual(['before']);
    expect(await scriptsFor(NOON + 5 * HOUR)).toEqual(['after']);
    expect(await scriptsFor(NOON - HOUR)).toEqual(['before', 'after']);
  });

  test('of what each returns, the dates it is valid for are stored, in one run', async () => {
    const source = await addHourly(24);
    const variableId = await calculations.addCalculated(twoFormulas(source));
    await calculations.announce(source, [NOON]);
    await calculations.relay();
    const seconds = [NOON - HOUR, NOON, NOON + HOUR].map((micros) => micros / 1e6);
    const result = await calculations.runWith(variableId, () => ok(seconds));
    expect(result).toMatchObject({ report: { counts: { returned: 6, outside: 3, stored: 3 } } });
    expect(await calculations.runsOf(variableId)).toMatchObject([
      { state: 'Succeeded', formulas: [{ formula: 0 }, { formula: 1 }] },
    ]);
    expect((await store.read(variableId)).map(({ date }) => date)).toEqual(seconds.map((second) => second * 1e6));
  });

  test('where none is valid a run stores nothing and says so', async () => {
    const source = await addHourly(1);
    const variables = input(source, { periodType: 'RelativeDate' }).variables;
    const variableId = await calculations.addCalculated({
      calculatedVariableFormulas: [{ formula: 'x', validFrom: '2030-01-01T00:00:00Z', variables }],
    });
    await calculations.announce(source);
    await calculations.relay();
    await calculations.runWith(variableId, () => ok([1]));
    const notes = { warnings: ['no formula is valid for these dates'] };
    expect(await calculations.runsOf(variableId)).toMatchObject([{ state: 'Succeeded', notes }]);
  });
});

describe('schedules (R-H5)', () => {
  const scheduled = (schedule: unknown, members: object = {}) => formula({ schedule, ...members });
  const due = async (variableId: number) =>
    (
      await store.database.query(
        `select trigger, from_date as from, to_date as to, trigger_date as "triggerDate" from calculation_request
         where variable_id = $1`,
        [variableId],
      )
    ).rows;
  /** Looks at the schedules as if it were `now`. */
  const lookAt = (now: string) => fireSchedules(store.database, { nowMillis: () => Date.parse(now) });
  /** Saved as if at that instant. */
  const addScheduled = async (declaration: object, savedAt: string) => {
    const variableId = await calculations.addCalculated(declaration);
    await store.database.query('update calculation_schedule set after_date = $2 where variable_id = $1', [
      variableId,
      savedAt,
    ]);
    return variableId;
  };

  test('come in the zone of the source, once, also where the clock skips them', async () => {
    await setZone('Europe/Brussels');
    const variableId = await addScheduled(scheduled('30 2 * * *'), '2026-03-28T12:00:00Z');
    await lookAt('2026-03-29T00:59:59Z');
    expect(await due(variableId)).toEqual([]);
    await lookAt('2026-03-29T01:00:00Z');
    await lookAt('2026-03-29T01:00:01Z');
    await setZone('UTC');
    const at = '2026-03-29T01:00:00Z';
    expect(await due(variableId)).toEqual([{ trigger: 'Schedule', from: at, to: at, triggerDate: at }]);
    await store.database.query('delete from calculation_schedule where variable_id = $1', [variableId]);
  });

  test('what was missed comes once, over all the missed instants', async () => {
    const variableId = await addScheduled(scheduled('0 * * * *'), '2026-05-01T00:10:00Z');
    await lookAt('2026-05-01T00:20:00Z');
    await lookAt('2026-05-01T05:30:00Z');
    expect(await due(variableId)).toMatchObject([
      { from: '2026-05-01T01:00:00Z', to: '2026-05-01T05:00:00Z', triggerDate: '2026-05-01T05:00:00Z' },
    ]);
    await store.database.query('delete from calculation_request where variable_id = $1', [variableId]);
    await lookAt('2026-05-01T05:59:59Z');
    expect(await due(variableId)).toEqual([]);
    await lookAt('2026-05-01T06:00:00Z');
    expect(await due(variableId)).toMatchObject([{ from: '2026-05-01T06:00:00Z' }]);
  });

  test('two calculators that look at once ask once', async () => {
    const variableId = await addScheduled(scheduled('0 0 * * *'), '2026-06-01T12:00:00Z');
    const fired = await Promise.all([lookAt('2026-06-02T00:00:00Z'), lookAt('2026-06-02T00:00:00Z')]);
    expect(fired.flat().filter((id) => id === variableId)).toEqual([variableId]);
  });

  test('posting a declaration back skips nothing; another expression begins anew', async () => {
    const variableId = await addScheduled(scheduled('0 0 * * *'), '2026-07-01T12:00:00Z');
    await lookAt('2026-07-01T13:00:00Z');
    await calculations.save(variableId, scheduled('0 0 * * *'));
    await lookAt('2026-07-02T00:00:00Z');
    expect(await due(variableId)).toHaveLength(1);
    await calculations.save(variableId, scheduled(''));
    const { rows } = await store.database.query('select from calculation_schedule where variable_id = $1', [
      variableId,
    ]);
    expect(rows).toEqual([]);
  });

  test('end with the validity of their formula', async () => {
    const validity = { validFrom: '2026-08-10T00:00:00Z', validUntil: '2026-08-12T00:00:00Z' };
    const variableId = await addScheduled(scheduled('0 6 * * *', validity), '2026-08-01T00:00:00Z');
    await lookAt('2026-08-09T12:00:00Z');
    expect(await due(variableId)).toEqual([]);
    await lookAt('2026-08-20T12:00:00Z');
    expect(await due(variableId)).toMatchObject([{ from: '2026-08-10T06:00:00Z', to: '2026-08-11T06:00:00Z' }]);
  });

  test('a text that is no expression is refused', async () => {
    await expect(calculations.addCalculated(scheduled('every day'))).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('a wave (R-H11)', () => {
  test('does not come back to a variable by its own result, although the graph was turned around under way', async () => {
    const source = await addHourly(1);
    const passOn = (variableId: number) => formula(input(variableId, { periodType: 'RelativeDate' }));
    const first = await calculations.addCalculated(passOn(source));
    const second = await calculations.addCalculated(passOn(first));
    await calculations.announce(source);
    await calculations.relay();
    await calculations.runWith(first, () => ok([START / 1e6]));
    await calculations.relay();
    // Now the second no longer reads the first; the first reads the second.
    await calculations.save(second, passOn(source));
    await calculations.save(first, passOn(second));
    await calculations.runWith(second, () => ok([START / 1e6]));
    await calculations.relay();
    expect((await calculations.runWith(first, () => ok([START / 1e6]))).kind).toBe('idle');
    const runs = await calculations.runsOf(first);
    expect(runs).toMatchObject([{ state: 'Succeeded' }, { state: 'Failed', outcome: 'loop' }]);
    expect(runs[1]?.message).toContain(`by way of variables ${first}, ${second}`);
  });
});

describe('the records of runs (R-H8)', () => {
  test('are forgotten after their retention', async () => {
    const source = await addHourly(1);
    const variableId = await calculations.addCalculated(formula(input(source)));
    await calculations.announce(source);
    await calculations.relay();
    await calculations.runWith(variableId, () => ok([1]));
    const inDays = (days: number) => ({ nowMillis: () => Date.now() + days * (DAY / 1000) });
    await purgeRuns(store.database, inDays(89), 90);
    expect(await calculations.runsOf(variableId)).toHaveLength(1);
    await purgeRuns(store.database, inDays(91), 90);
    expect(await calculations.runsOf(variableId)).toEqual([]);
  });

  test('of one that was interrupted by a stop: it was handed back and is run again, uncounted (R-K2)', async () => {
    const source = await addHourly(1);
    const variableId = await calculations.addCalculated(formula(input(source)));
    await calculations.announce(source);
    await calculations.relay();
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
