/**
 * Saved declarations that are no longer valid, because an input or the owner of a form value was deleted, the unit of
 * an input was changed, or a newer rule refuses the declaration. The calculated variable keeps its declaration and can
 * still be changed. It reports deleted inputs, deleted owners and changed units as problems.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCalculation } from '../../../src/calculation/run/run-calculation.ts';
import type { SandboxJob } from '../../../src/calculation/sandbox/sandbox-types.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';
import { calculated, createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';
import { ok, sandboxOf } from './calculation-fixture.ts';

const [KWH, WH, CELSIUS] = [8, 7, 95];

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly problems?: readonly { readonly path: string; readonly message: string }[];
}

let api: TestApi;
let siteId: number;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi();
  siteId = await createSite(api.manager);
  sourceId = await createSource(api.manager, siteId);
});
afterAll(() => api?.close());

const pathOf = (id: number) => `/sources/${sourceId}/variables/${id}`;
const read = async (id: number) => (await api.manager.get<Shown>(`/variables/${id}`)).body;
const addInput = (members: object = {}) => createVariable(api.manager, sourceId, members);
const remove = async (path: string) =>
  expect((await api.manager.send('DELETE', `${path}?hardDelete=true`)).status).toBe(204);
const listed = async (query: string) =>
  (await api.manager.get<Shown[]>(`/variables?sourceId=${sourceId}&${query}`)).body.map(({ id }) => id);
const INPUT = '$.calculated.calculatedVariableFormulas[0].variables';

/**
 * Creates a calculated variable with two inputs, and deletes the first input.
 * @param members further members of the declaration.
 */
async function withDeletedInput(members: object = {}) {
  const [gone, kept] = [await addInput(), await addInput()];
  const declaration = calculated('a + b', [
    { alias: 'a', variableId: gone },
    { alias: 'b', variableId: kept },
  ]);
  const id = await createVariable(api.manager, sourceId, { name: 'Sum', calculated: { ...declaration, ...members } });
  await remove(pathOf(gone));
  return { id, gone, kept, declaration };
}

/** Forces an update of the variable, then runs its calculation. @returns the record of the run. */
async function run(id: number, jobs: SandboxJob[] = []) {
  const range = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
  expect((await api.manager.post(`/variables/${id}/forceUpdate`, range)).status).toBe(200);
  const sandbox = sandboxOf((job) => {
    jobs.push(job);
    return ok([]);
  });
  const { database } = api;
  const services = { database, dictionary: openDictionary(database), sandbox, clock: systemClock };
  await runCalculation({ ...services, maxInputPoints: 1000 }, id);
  return (await api.manager.get<Record<string, unknown>[]>(`/variables/${id}/runs`)).body[0];
}

describe('declaration: an input was deleted after the declaration was saved (R-H1)', () => {
  test('the calculated variable can still be renamed by PUT and by PATCH', async () => {
    const { id } = await withDeletedInput();
    expect(await api.manager.put(pathOf(id), { ...(await read(id)), name: 'One' })).toMatchObject({ status: 204 });
    expect((await read(id)).name).toBe('One');
    const operations = [{ op: 'replace', path: '/name', value: 'Two' }];
    expect(await api.manager.patch(pathOf(id), operations)).toMatchObject({ status: 204 });
    expect((await read(id)).name).toBe('Two');
    expect((await api.manager.put(pathOf(id), { name: 'Three' })).status).toBe(204);
    expect((await read(id)).name).toBe('Three');
    const history = await api.manager.get<unknown[]>(`${pathOf(id)}/calculated/history`);
    expect(history.body).toHaveLength(1);
  });

  test('the deleted input can stay in the declaration or be dropped, but cannot be added again', async () => {
    const { id, gone, kept, declaration } = await withDeletedInput();
    const change = (formula: string, ...ids: readonly number[]) => {
      const variables = ids.map((variableId, index) => ({ alias: `i${index}`, variableId }));
      return api.manager.put(pathOf(id), { calculated: { ...declaration, ...calculated(formula, variables) } });
    };
    expect(await change('i0 * 2', gone, kept)).toMatchObject({ status: 204 });
    expect(await change('i0 * 3', gone, kept, 2_000_000_000)).toMatchObject({
      status: 400,
      body: { details: [{ path: `${INPUT}[2].variableId`, message: 'variable 2000000000 does not exist' }] },
    });
    expect(await change('i0 * 4', kept)).toMatchObject({ status: 204 });
    expect(await change('i0 * 5', gone, kept)).toMatchObject({ status: 400 });
  });

  test('the calculated variable shows the problem, the filter hasProblems finds the variable, and the message of its run names the deleted input', async () => {
    const { id, gone } = await withDeletedInput();
    const whole = await createVariable(api.manager, sourceId, { calculated: calculated('1', []) });
    expect((await read(id)).problems).toEqual([
      { path: `${INPUT}[0].variableId`, message: `variable ${gone} does not exist` },
    ]);
    expect(await read(whole)).not.toHaveProperty('problems');
    const broken = await listed('hasProblems=true&displayLevel=Normal');
    expect(broken).toContain(id);
    expect(broken).not.toContain(whole);
    expect(await listed('hasProblems=false')).toEqual((await listed('')).filter((each) => !broken.includes(each)));
    const outcome = { outcome: 'invalid_input', message: `input a: variable ${gone} does not exist` };
    expect(await run(id)).toMatchObject(outcome);
  });

  test.each([
    ['without a note', {}],
    ['with a note', { note: 'why' }],
  ])(
    'when a newer rule forbids the saved declaration (%s), PUT accepts only the unchanged declaration',
    async (_, members) => {
      const { id } = await withDeletedInput(members);
      for (const table of ['variable', 'declaration_save']) {
        const column = table === 'variable' ? 'id' : 'variable_id';
        await api.database.query(
          `update ${table} set calculated = jsonb_set(calculated, '{calculatedVariableFormulas,0,variables,1,alias}', '"1 b"')
         where ${column} = $1`,
          [id],
        );
      }
      expect(await api.manager.put(pathOf(id), { ...(await read(id)), name: 'x' })).toMatchObject({ status: 204 });
      const { calculated: shown } = (await read(id)) as unknown as { calculated: object };
      const edited = { ...shown, friendlyName: 'edited' };
      expect(await api.manager.put(pathOf(id), { calculated: edited })).toMatchObject({ status: 400 });
    },
  );
});

describe('declaration: the unit of an input was changed after the declaration was saved (R-H1, R-C8)', () => {
  test('the calculated variable can still be changed, and shows the problem until the input has a convertible unit again', async () => {
    const inputId = await addInput({ unitId: KWH });
    const declaration = calculated('a', [{ alias: 'a', variableId: inputId, unitId: WH }]);
    const id = await createVariable(api.manager, sourceId, { calculated: declaration });
    await api.manager.put(pathOf(inputId), { unitId: CELSIUS });
    const change = { ...(await read(id)), name: 'x' };
    expect(await api.manager.put(pathOf(id), change)).toMatchObject({ status: 204 });
    const message = 'the variable is in degree Celsius, which cannot be converted into watt hour';
    expect((await read(id)).problems).toEqual([{ path: `${INPUT}[0].unitId`, message }]);
    expect(await listed('hasProblems=true')).toContain(id);
    expect(await run(id)).toMatchObject({ outcome: 'invalid_input', message: `input a, unitId: ${message}` });
    await api.manager.put(pathOf(inputId), { unitId: 987_654 });
    const unknown =
      'the variable has the unit 987654, which GET /units does not list, so its values cannot be converted into watt hour';
    expect((await read(id)).problems).toEqual([{ path: `${INPUT}[0].unitId`, message: unknown }]);
    await api.manager.put(pathOf(inputId), { unitId: WH });
    expect(await listed('hasProblems=true')).not.toContain(id);
    expect(await read(id)).not.toHaveProperty('problems');
  });
});

describe('declaration: the owner of a form was deleted after the declaration was saved (R-H1, R-H2)', () => {
  test('the calculated variable can still be changed, and shows the problem; its runs warn that the form value is NULL', async () => {
    const otherId = await createSite(api.manager, { clientData: { Form: { Factor: 2 } } });
    const [formula] = calculated('a', []).calculatedVariableFormulas;
    const entities = [{ alias: 'factor', entityType: 'Site', siteId: otherId, path: 'Form.Factor' }];
    const declaration = { calculatedVariableFormulas: [{ ...formula, entities }] };
    const id = await createVariable(api.manager, sourceId, { calculated: declaration });
    await remove(`/sites/${otherId}`);
    const message = `site ${otherId} does not exist`;
    expect(await api.manager.put(pathOf(id), { ...(await read(id)), name: 'x' })).toMatchObject({ status: 204 });
    expect((await read(id)).problems).toMatchObject([{ message }]);
    expect(await listed('hasProblems=true')).toContain(id);
    const jobs: SandboxJob[] = [];
    const warnings = [`inputForms$factor is NULL: ${message}`];
    expect(await run(id, jobs)).toMatchObject({ outcome: 'ok', notes: { warnings } });
    expect(jobs[0]?.forms).toEqual([{ alias: 'factor', value: null }]);
  });
});
