/** Calculated variables as a client sees them: push an input, read the result (R-H2–H5, R-H8, §9.4). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchAnswerChecker } from '../support/answers/described-answers.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, MANAGER, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

interface Row {
  readonly date: string;
  readonly rawValue: number;
  readonly version?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

interface Run {
  readonly id: number;
  readonly state: string;
  readonly outcome: string;
  readonly message: string | null;
  readonly defaultVersion: string;
  readonly trigger: string;
  readonly wave: number;
  readonly formulas: readonly object[];
  readonly inputs: readonly {
    readonly alias: string;
    readonly points: number;
    readonly from: string;
    readonly to: string;
  }[];
  readonly notes: Readonly<Record<string, unknown>>;
  readonly counts: Readonly<Record<string, number>>;
}

let world: World;
let roles: RoleProcess;
let api: ApiClient;
let sourceId: number;

beforeAll(async () => {
  world = await createWorld();
  roles = await startRoles(['api', 'ingester', 'calculator'], { ...world.environment, R_ROOT: testRRoot() });
  api = await signIn(roles.http, await fetchAnswerChecker(roles.http));
  ({ sourceId } = await createSiteAndSource(api));
}, 60_000);

afterAll(async () => {
  await roles?.kill('SIGTERM');
  await world?.close();
});

const push = (variableId: number, data: readonly unknown[], version?: string) =>
  api.call('POST', '/api/data', [{ variableId, data, ...(version && { version }) }]);

const readings = (values: readonly number[], start = '2026-03-01T00:00:00Z') =>
  values.map((value, index) => ({ date: new Date(Date.parse(start) + index * 900_000).toISOString(), value }));

const read = (variableId: number, query = '') => api.call<Row[]>('GET', `/data?variableId=${variableId}${query}`);
const runs = (variableId: number) => api.call<Run[]>('GET', `/variables/${variableId}/runs`);

/**
 * Waits until all earlier pushes are written and their runs are requested. This function makes a push to a new input
 * and waits for the run that the new push triggers, because this run is requested after the runs of all earlier pushes.
 */
async function settled(): Promise<void> {
  const input = await createVariable(api, sourceId);
  const follower = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, [hourly(input)]) });
  await push(input, readings([1]));
  await lastRun(follower);
}

/**
 * Waits until the newest run of a variable has ended.
 * @param isWanted function that `lastRun` calls with the newest run; `lastRun` waits until this function returns true.
 */
async function lastRun(variableId: number, isWanted: (run: Run) => boolean = () => true): Promise<Run> {
  return eventually(`a run of variable ${variableId}`, async () => {
    const [run] = await runs(variableId);
    return run && run.state !== 'Running' && isWanted(run) && run;
  });
}

const hourly = (variableId: number, members: object = {}) => ({
  ...{ alias: 'a', variableId, periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour' },
  ...{ canBeUsedAsATrigger: true, ...members },
});

const IDENTITY = 'list(TimeSeries = inputVariables$a$TimeSeries[, c("Dates", "Values")])';

describe('calculation: a write to an input', () => {
  test('when the input is a trigger, the script runs on the window around the changed dates, its result is stored, and a replay of the run reproduces the result (R-H5, R-H6, R-H12)', async () => {
    const input = await createVariable(api, sourceId);
    await push(input, readings([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]));
    await settled();
    const doubled = await createVariable(api, sourceId, {
      calculated: calculated(
        'list(TimeSeries = data.frame(Dates = inputVariables$a$TimeSeries$Dates, Values = 2 * inputVariables$a$TimeSeries$Values))',
        [hourly(input)],
      ),
    });
    await push(input, [{ date: '2026-03-01T02:00:00Z', value: 100 }]);
    const run = await lastRun(doubled);
    expect(run).toMatchObject({ state: 'Succeeded', outcome: 'ok', trigger: 'Input', counts: { read: 8, stored: 8 } });
    expect(run.inputs).toMatchObject([
      { alias: 'a', points: 8, from: '2026-03-01T01:00:00.000001Z', to: '2026-03-01T03:00:00Z' },
    ]);
    expect((await read(doubled)).map((row) => row.rawValue)).toEqual([12, 14, 16, 200, 20, 22, 24, 26]);
    const { declaration } = await api.call<{ declaration: object }>('GET', `/runs/${run.id}`);
    expect(declaration).toMatchObject({
      calculatedVariableFormulas: [{ variables: [{ alias: 'a', variableId: input }] }],
    });
    expect(await api.call('GET', `/runs/${run.id}/replay`)).toMatchObject({
      ...{ runId: run.id, isReproduced: true, differences: [] },
      counts: { recorded: 8, replayed: 8, equal: 8 },
    });
  });

  test('in a chain of calculated variables, each variable reads the result of the previous variable (R-H5)', async () => {
    const input = await createVariable(api, sourceId);
    const first = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, [hourly(input)]) });
    const sum = 'list(TimeSeries = data.frame(Dates = triggerDate, Values = sum(inputVariables$a$TimeSeries$Values)))';
    const second = await createVariable(api, sourceId, { calculated: calculated(sum, [hourly(first)]) });
    await push(input, readings([1, 2, 3]));
    const run = await lastRun(second);
    expect(await read(second)).toMatchObject([{ date: '2026-03-01T00:30:00Z', rawValue: 6 }]);
    expect(run.wave).toBe((await lastRun(first)).wave);
  });

  test('a variable that depends on the input through two other variables runs once, after both of them (R-H5)', async () => {
    const input = await createVariable(api, sourceId);
    const pass = (seconds: number) => `Sys.sleep(${seconds}); ${IDENTITY}`;
    const quick = await createVariable(api, sourceId, { calculated: calculated(pass(0), [hourly(input)]) });
    const slow = await createVariable(api, sourceId, { calculated: calculated(pass(0.5), [hourly(input)]) });
    const script =
      'list(TimeSeries = data.frame(Dates = triggerDate, Values = sum(inputVariables$a$TimeSeries$Values, inputVariables$b$TimeSeries$Values)))';
    const inputs = [hourly(quick), hourly(slow, { alias: 'b' })];
    const both = await createVariable(api, sourceId, { calculated: calculated(script, inputs) });
    await push(input, readings([1, 2]));
    await lastRun(both);
    await settled();
    expect(await runs(both)).toHaveLength(1);
    expect(await read(both)).toMatchObject([{ rawValue: 6 }]);
  });

  test('a waiting run starts even when the run it waits for fails (R-H5)', async () => {
    const input = await createVariable(api, sourceId);
    const fine = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, [hourly(input)]) });
    const failing = await createVariable(api, sourceId, {
      calculated: calculated('Sys.sleep(0.5); stop("no")', [hourly(input)]),
    });
    const inputs = [hourly(fine), hourly(failing, { alias: 'b' })];
    const both = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, inputs) });
    await push(input, readings([3]));
    expect(await lastRun(both)).toMatchObject({ state: 'Succeeded' });
    expect((await runs(failing)).map(({ state }) => state)).toEqual(['Failed']);
    expect(await runs(both)).toHaveLength(1);
  });

  test('when the input is not a trigger, the script does not run, but a later run reads the written points (R-H1)', async () => {
    const trigger = await createVariable(api, sourceId);
    const quiet = await createVariable(api, sourceId);
    const script =
      'list(TimeSeries = data.frame(Dates = triggerDate, Values = sum(inputVariables$quiet$TimeSeries$Values)))';
    const inputs = [hourly(trigger), hourly(quiet, { alias: 'quiet', canBeUsedAsATrigger: false })];
    const variable = await createVariable(api, sourceId, { calculated: calculated(script, inputs) });
    await push(quiet, readings([5, 6]));
    await settled();
    await push(trigger, readings([1]));
    expect((await lastRun(variable)).inputs.map(({ points }) => points)).toEqual([1, 2]);
    expect(await runs(variable)).toHaveLength(1);
    expect(await read(variable)).toMatchObject([{ rawValue: 11 }]);
  });
});

describe('calculation: versions of a calculated variable (§9.4)', () => {
  test('rows without a `Version` get the time of the run, rounded up to the hour, as their Version; a second run in the same hour overwrites these rows', async () => {
    const input = await createVariable(api, sourceId);
    const variable = await createVariable(api, sourceId, {
      isVersioned: true,
      calculated: calculated(IDENTITY, [hourly(input)]),
    });
    await push(input, readings([1]));
    const first = await lastRun(variable);
    await push(input, readings([2]));
    const second = await lastRun(variable, ({ id }) => id !== first.id);
    expect(second.defaultVersion).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00$/);
    const rows = await read(variable);
    expect(rows).toMatchObject([
      { rawValue: 2, version: second.defaultVersion, tags: { version: second.defaultVersion } },
    ]);
    // The second run adds a version only when it starts in a later clock hour than the first.
    const versions = await read(variable, '&versions=all');
    expect(versions).toHaveLength(first.defaultVersion === second.defaultVersion ? 1 : 2);
  });

  test('the script can copy the VersionTags of its input to its output', async () => {
    const input = await createVariable(api, sourceId, { isVersioned: true });
    const script =
      'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = ts$Values, Version = ts$Version, Tags = \'{"q":"e"}\'))';
    const variable = await createVariable(api, sourceId, {
      isVersioned: true,
      calculated: calculated(script, [hourly(input)]),
    });
    await push(input, readings([1]), 'V1');
    const first = await lastRun(variable);
    await push(input, readings([2]), 'V2');
    await lastRun(variable, ({ id }) => id !== first.id);
    expect(await read(variable, '&version=V1')).toMatchObject([
      { rawValue: 1, version: 'V1', tags: { q: 'e', version: 'V1' } },
    ]);
    expect(await read(variable, '&version=V2')).toMatchObject([{ rawValue: 2, version: 'V2' }]);
    expect(await read(variable)).toMatchObject([{ rawValue: 2, version: 'V2' }]);
  });

  test('a declared input can be pinned to a VersionTag (R-H6)', async () => {
    const input = await createVariable(api, sourceId, { isVersioned: true });
    const variable = await createVariable(api, sourceId, {
      calculated: calculated(IDENTITY, [hourly(input, { version: 'V1' })]),
    });
    await push(input, readings([1]), 'V1');
    await push(input, readings([2]), 'V2');
    await settled();
    await api.call('POST', `/variables/${variable}/forceUpdate`);
    await lastRun(variable, ({ trigger }) => trigger === 'ForceUpdate');
    expect(await read(variable)).toMatchObject([{ rawValue: 1 }]);
  });
});

describe('calculation: the record of a run (R-H8)', () => {
  test('the record contains the message and line of a script error', async () => {
    const input = await createVariable(api, sourceId);
    const variable = await createVariable(api, sourceId, {
      calculated: calculated('message("so far")\nx <- 1\nstop("no such meter")', [hourly(input)]),
    });
    await push(input, readings([1]));
    const run = await lastRun(variable);
    expect(run).toMatchObject({
      state: 'Failed',
      outcome: 'script_error',
      message: 'no such meter',
      notes: { line: 3 },
    });
    expect(run.notes.messages).toEqual(['so far']);
    expect(await api.call<Run>('GET', `/runs/${run.id}`)).toMatchObject(run);
    expect(await read(variable)).toEqual([]);
  });

  test('when the columns `Version` and `Dates` differ in length, the run fails with the message from §7', async () => {
    const input = await createVariable(api, sourceId);
    const script = 'list(TimeSeries = list(Dates = c(1L, 2L), Values = c(1, 2), Version = "one"))';
    const variable = await createVariable(api, sourceId, { calculated: calculated(script, [hourly(input)]) });
    await push(input, readings([1]));
    expect(await lastRun(variable)).toMatchObject({
      state: 'Failed',
      message: 'Version must be the same length as Dates/Values',
    });
  });
});

describe('calculation: force-update (§6, R-H5)', () => {
  test('force-update of a source calculates the variables of the source from all points of the inputs', async () => {
    const { sourceId: own } = await createSiteAndSource(api);
    const input = await createVariable(api, own);
    await push(input, readings([1, 2], '2020-01-01T00:00:00Z'));
    await settled();
    const variable = await createVariable(api, own, { calculated: calculated(IDENTITY, [hourly(input)]) });
    expect(await api.call('POST', `/sources/${own}/forceUpdate`)).toEqual({ variableIds: [variable] });
    await lastRun(variable);
    expect((await read(variable)).map(({ rawValue }) => rawValue)).toEqual([1, 2]);
  });

  test('force-update of a site runs each calculated variable once, in dependency order', async () => {
    const { siteId, sourceId: own } = await createSiteAndSource(api);
    const input = await createVariable(api, own);
    await push(input, readings([1, 2]));
    await settled();
    const slow = `Sys.sleep(0.3); ${IDENTITY}`;
    const first = await createVariable(api, own, { calculated: calculated(slow, [hourly(input)]) });
    const second = await createVariable(api, own, { calculated: calculated(IDENTITY, [hourly(first)]) });
    expect(await api.call('POST', `/sites/${siteId}/forceUpdate`)).toEqual({ variableIds: [first, second] });
    await lastRun(second);
    await settled();
    expect((await read(second)).map(({ rawValue }) => rawValue)).toEqual([1, 2]);
    expect([await runs(first), await runs(second)].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('stopUpdate ends a running script; the record of the run says who stopped it, and a listing by state finds the record (R-H5, R-H8)', async () => {
    const input = await createVariable(api, sourceId);
    const slow = calculated('Sys.sleep(20); list(TimeSeries = list(Dates = integer(), Values = numeric()))', [
      { alias: 'a', variableId: input },
    ]);
    const variable = await createVariable(api, sourceId, { calculated: slow });
    await api.call('POST', `/variables/${variable}/forceUpdate`, {});
    const state = () => api.call<{ running: { runId: number } | null }>('GET', `/variables/${variable}/updateState`);
    await eventually('the run', async () => (await state()).running !== null);
    const { runIds } = await api.call<{ runIds: number[] }>('POST', `/variables/${variable}/stopUpdate`);
    expect(await state()).toEqual({ running: null, waiting: [], usualMs: null });
    const [run, ...others] = await api.call<Run[]>(
      'GET',
      `/variables/${variable}/runs?states=Failed&triggers=ForceUpdate`,
    );
    expect([run?.id, others]).toEqual([runIds[0], []]);
    expect(run).toMatchObject({ outcome: 'cancelled', message: expect.stringContaining(`stopped by ${MANAGER};`) });
    expect(await api.call('GET', `/variables/${variable}/runs?states=Succeeded`)).toEqual([]);
    expect(await api.call('GET', `/runs/${run?.id}/wave`)).toMatchObject({ nodes: [{ state: 'Failed' }], edges: [] });
  });

  test('force-update of a variable without a calculation is refused with 409', async () => {
    const input = await createVariable(api, sourceId);
    expect((await api.post(`/variables/${input}/forceUpdate`, {})).status).toBe(409);
  });
});

describe('calculation: members of a declaration (R-H1)', () => {
  test('the script gets form values, constants, and the input as buckets in the declared unit', async () => {
    const { siteId, sourceId: own } = await createSiteAndSource(api);
    const site = { clientData: { Form: { Building: { 'Floor area': 50 } } } };
    await api.call('PUT', `/sites/${siteId}`, site);
    const [KWH, WH] = [8, 7];
    const input = await createVariable(api, own, { unitId: KWH, quantityType: 'Integrated' } as object);
    const variables = [hourly(input, { granularity: 'Day', unitId: WH, period: 1, periodTimeBase: 'Day' })];
    const entities = [{ alias: 'area', entityType: 'Site', path: "Form.Building.'Floor area'" }];
    const constants = [{ alias: 'factor', value: 2 }];
    const script = (sign: string) =>
      `ts <- inputVariables$a$TimeSeries
       list(TimeSeries = data.frame(Dates = ts$Dates, Values = ${sign} inputConstants$factor * ts$Values / inputForms$area))`;
    const common = { variables, entities, constants };
    const variable = await createVariable(api, own, {
      calculated: {
        calculatedVariableFormulas: [
          { ...common, formula: script('-'), validUntil: '2026-03-02T00:00:00+01:00' },
          { ...common, formula: script('+'), validFrom: '2026-03-02T00:00:00+01:00' },
        ],
      },
    });
    await push(input, [
      { date: '2026-03-01T08:00:00Z', value: 1 },
      { date: '2026-03-01T09:00:00Z', value: 2 },
      { date: '2026-03-02T08:00:00Z', value: 4 },
    ]);
    const run = await lastRun(variable);
    expect(run).toMatchObject({
      state: 'Succeeded',
      counts: { stored: 2 },
      formulas: [{ formula: 0 }, { formula: 1 }],
    });
    // The days are those of the source's time zone, which is an hour ahead of UTC.
    expect(await read(variable)).toMatchObject([
      { date: '2026-02-28T23:00:00Z', rawValue: -120 },
      { date: '2026-03-01T23:00:00Z', rawValue: 160 },
    ]);
  });

  test('the instants of a schedule follow its time zone, even across a clock change (R-H5)', async () => {
    const query = 'cron=30+2+*+*+*&timeZoneId=Europe/Brussels&from=2035-03-24T00:00:00&until=2035-03-27&count=10';
    expect(await api.call('GET', `/calculated/instants?${query}`)).toEqual({
      timeZoneId: 'Europe/Brussels',
      instants: ['2035-03-24T01:30:00Z', '2035-03-25T01:00:00Z', '2035-03-26T00:30:00Z'],
    });
    const late = 'cron=0+*+*+*+*&timeZoneId=UTC&from=2035-01-01T12:00:00.0005Z&count=1';
    expect(await api.call('GET', `/calculated/instants?${late}`)).toMatchObject({ instants: ['2035-01-01T13:00:00Z'] });
    expect(await api.get('/calculated/instants?cron=61+*+*+*+*&timeZoneId=UTC')).toMatchObject({ status: 400 });
  });

  test('a schedule runs the script (R-H5)', async () => {
    const script = 'list(TimeSeries = data.frame(Dates = triggerDate, Values = 1))';
    const everySecond = { calculatedVariableFormulas: [{ formula: script, schedule: '* * * * * *' }] };
    const variable = await createVariable(api, sourceId, { calculated: everySecond });
    const run = await lastRun(variable, ({ trigger }) => trigger === 'Schedule');
    expect(run).toMatchObject({ state: 'Succeeded', counts: { stored: 1 } });
    await api.call('DELETE', `/sources/${sourceId}/variables/${variable}?hardDelete=true`);
  });
});

describe('calculation: saving a declaration (R-H1)', () => {
  test('a declaration that would form a cycle is refused with 409; the message names the variables of the cycle, and the stored declaration is kept', async () => {
    const input = await createVariable(api, sourceId);
    const first = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, [hourly(input)]) });
    const second = await createVariable(api, sourceId, { calculated: calculated(IDENTITY, [hourly(first)]) });
    const path = `/sources/${sourceId}/variables/${first}`;
    const answer = await api.put(path, { calculated: calculated(IDENTITY, [hourly(second)]) });
    expect(answer).toMatchObject({
      status: 409,
      body: {
        code: 'calculation_cycle',
        message: `variables ${first} -> ${second} -> ${first} would form a cycle`,
      },
    });
    const { calculated: kept } = await api.call<{ calculated: object }>('GET', `/variables/${first}`);
    expect(kept).toMatchObject(calculated(IDENTITY, [hourly(input)]));
  });

  test('a variable may be an input of its own formula, but not a trigger', async () => {
    const variable = await createVariable(api, sourceId);
    const path = `/sources/${sourceId}/variables/${variable}`;
    const own = (canBeUsedAsATrigger: boolean) => ({
      calculated: calculated(IDENTITY, [hourly(variable, { canBeUsedAsATrigger })]),
    });
    expect((await api.put(path, own(false))).status).toBe(204);
    expect((await api.put(path, own(true))).status).toBe(409);
  });

  test('a declaration with an empty formula is accepted, and the formula can be set later', async () => {
    const input = await createVariable(api, sourceId);
    const empty = { friendlyName: 'later', calculatedVariableFormulas: [{}] };
    const variable = await createVariable(api, sourceId, { calculated: empty });
    const filled = { calculated: calculated(IDENTITY, [hourly(input)]) };
    expect((await api.put(`/sources/${sourceId}/variables/${variable}`, filled)).status).toBe(204);
    await push(input, readings([7]));
    await lastRun(variable);
    expect(await read(variable)).toMatchObject([{ rawValue: 7 }]);
  });

  test('an unknown input, a repeated alias, an unknown enumeration value and an incompatible unit are refused, each with its path', async () => {
    const [input, unknown] = [await createVariable(api, sourceId), 999_999];
    const save = async (inputs: Parameters<typeof calculated>[1]) => {
      const answer = await api.post<{ details: { path: string }[] }>(`/variables/source/${sourceId}`, {
        calculated: calculated(IDENTITY, inputs),
      });
      return [answer.status, answer.body.details.map(({ path }) => path)];
    };
    const at = '$.calculated.calculatedVariableFormulas[0].variables';
    expect(await save([hourly(unknown)])).toEqual([400, [`${at}[0].variableId`]]);
    expect(await save([hourly(input), hourly(input)])).toEqual([400, [`${at}[1].alias`]]);
    expect(await save([hourly(input, { granularity: 'Fortnight' })])).toEqual([400, [`${at}[0].granularity`]]);
    expect(await save([hourly(input, { unitId: 8 })])).toEqual([400, [`${at}[0].unitId`]]);
  });
});
