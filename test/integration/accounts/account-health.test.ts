/** `GET /account/health`: silent variables, failures, and an account of 100,000 variables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { userIdOf } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Health {
  readonly variables: {
    readonly total: number;
    readonly watched: number;
    readonly empty: number;
    readonly silent: { readonly count: number; readonly items: readonly Record<string, unknown>[] };
  };
  readonly [kind: string]: unknown;
}

const VARIABLES = 100_000;

let api: TestApi;
let siteId: number;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi();
  ({ siteId, sourceId } = await createStructure(api.manager));
});
afterAll(() => api.close());

const read = async (client = api.manager, query = ''): Promise<Health> =>
  (await client.get<Health>(`/account/health${query}`)).body;
const run = (sql: string, values: readonly unknown[] = []) => api.database.query(sql, [...values]);

async function addVariable(name: string, lastPoint: string | null, more: Record<string, unknown> = {}) {
  const body = { name, granularity: 15, granularityTimeBase: 'Minute', ...more };
  const { id } = (await api.manager.post<{ id: number }>(`/variables/source/${sourceId}`, body)).body;
  if (lastPoint !== null) {
    await run(
      `insert into series (variable_id, max_date) values ($1, now() + $2::interval)
       on conflict (variable_id) do update set max_date = excluded.max_date`,
      [id, lastPoint],
    );
  }
  return id;
}

describe('account health: silent variables', () => {
  it('a variable is silent when its last point is older than both `silentAfterHours` and three steps of its granularity (R-C6)', async () => {
    const before = (await read()).variables;
    const silent = await addVariable('silent', '-25 hours');
    await addVariable('late today', '-5 hours');
    await addVariable('forecast', '2 days');
    await addVariable('never', null);
    await addVariable('without granularity', '-99 days', { granularity: null, granularityTimeBase: null });
    const yearly = await addVariable('yearly', '-400 days', { granularity: 1, granularityTimeBase: 'Year' });
    const tenDays = { granularity: 10, granularityTimeBase: 'Day' };
    await addVariable('after 29 of 30 days', '-29 days', tenDays);
    const lapsed = await addVariable('after 31 of 30 days', '-31 days', tenDays);
    const { variables } = await read();
    expect(variables.silent.items).toEqual([
      expect.objectContaining({ variableId: silent, granularity: 15, granularityTimeBase: 'Minute' }),
      expect.objectContaining({ variableId: lapsed, ...tenDays }),
    ]);
    expect(variables).toMatchObject({ total: before.total + 8, empty: before.empty + 1, silent: { count: 2 } });
    const sooner = (await read(api.manager, '?silentAfterHours=4')).variables.silent.items;
    expect(sooner.map(({ name }) => name)).toEqual(['late today', 'silent', 'after 31 of 30 days']);
    expect(sooner.map(({ variableId }) => variableId)).not.toContain(yearly);
  });

  it('a USER sees silent variables only at sites that the USER may read; other accounts see none (R-B9)', async () => {
    const reader = await api.signIn('reader', 'USER', { sites: [siteId] });
    const outsider = await api.signIn('outsider', 'USER', { sites: [] });
    expect((await read(reader)).variables.silent.count).toBe(2);
    expect((await read(outsider)).variables).toMatchObject({ total: 0, silent: { count: 0, items: [] } });
    expect((await read(api.stranger)).variables).toMatchObject({ total: 0, silent: { count: 0 } });
  });
});

describe('account health: failures', () => {
  it('a calculation counts as failing until a later run succeeds (R-H8)', async () => {
    const id = await addVariable('calculated', '1 hour');
    await run(`update variable set calculated = '{}' where id = $1`, [id]);
    const addRun = (state: string, message: string | null) =>
      run(
        `insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave,
           attempt, default_version, requested_date, finished_date, message)
         values ($1, $2, $3, 'Input', now(), now(), now(), 1, 0, '', now(), now(), $4)`,
        [id, api.accountId, state, message],
      );
    await addRun('Failed', 'object energy not found');
    await addRun('Failed', 'object power not found');
    expect((await read()).calculations).toMatchObject({
      count: 1,
      items: [{ variableId: id, message: 'object power not found', date: expect.stringMatching(/Z$/) }],
    });
    await addRun('Succeeded', null);
    expect((await read()).calculations).toEqual({ count: 0, items: [] });
  });

  it('managers see the rejected pushes and the files with errors of all users; a USER sees only those that this USER sent (R-D7, R-E1)', async () => {
    const element = {
      sourceSerialNumber: 'missing',
      mappingConfig: 'x',
      data: [{ date: '2026-01-01T00:00:00Z', value: 1 }],
    };
    const user = await api.signIn('pusher', 'USER', { sites: [siteId] });
    const accepted = { variableId: await addVariable('pushed', null), data: element.data };
    await api.manager.post('/api/data?operationId=accepted', [accepted]);
    await api.manager.post('/api/data?operationId=night-import', [element]);
    await user.post('/api/data?operationId=own-import', [element]);
    await run(
      `insert into stored_file (account_id, user_id, filename, format, state, rejected_rows)
       values ($1, 'nobody', 'readings.csv', 'csv', 'PartiallyIngested', 3), ($1, $2, 'own.csv', 'csv', 'Failed', 0),
         ($1, $2, 'sound.csv', 'csv', 'Completed', 0)`,
      [api.accountId, await userIdOf(api, 'pusher')],
    );
    const { pushes, files } = await read();
    expect(pushes).toMatchObject({
      count: 2,
      items: expect.arrayContaining([
        expect.objectContaining({ label: 'night-import', rejectedElements: 1, state: 'Rejected' }),
        expect.objectContaining({ label: 'own-import' }),
      ]),
    });
    expect(files).toMatchObject({
      count: 2,
      items: expect.arrayContaining([
        expect.objectContaining({ filename: 'readings.csv', rejectedRows: 3 }),
        expect.objectContaining({ filename: 'own.csv', state: 'Failed' }),
      ]),
    });
    expect(await read(user)).toMatchObject({
      pushes: { count: 1, items: [{ label: 'own-import' }] },
      files: { count: 1, items: [{ filename: 'own.csv' }] },
    });
  });

  it('managers see the webhooks that the service disabled; the answer for a USER omits `webhooks` (R-I5)', async () => {
    const hook = { name: 'to ERP', url: 'https://receiver.example/x', eventType: 'DataPointsWritten' };
    const { status, body } = await api.manager.post<{ id: string }>('/account/webhooks', hook);
    expect({ status, body }).toMatchObject({ status: 200 });
    await api.manager.post('/account/webhooks', { ...hook, name: 'enabled' });
    await api.manager.post('/account/webhooks', { ...hook, name: 'disabled by a manager', isEnabled: false });
    await run(
      `update webhook set is_enabled = false, disabled_reason = 'no answer', disabled_date = now() where id = $1`,
      [body.id],
    );
    expect((await read()).webhooks).toMatchObject({ count: 1, items: [{ name: 'to ERP', reason: 'no answer' }] });
    expect(await read(await api.signIn('una', 'USER'))).not.toHaveProperty('webhooks');
  });
});

it('account health: for 100,000 variables, the answer counts all silent variables and lists the 50 that have the most recent last points', async () => {
  await run(
    `insert into variable (account_id, source_id, name, granularity, granularity_time_base)
     select $1, $2, 'v' || n, 15, 2 from generate_series(1, ${VARIABLES}) n`,
    [api.accountId, sourceId],
  );
  await run(
    `insert into series (variable_id, max_date)
     select id, now() - case when id % 1000 = 0 then interval '3 days' + id * interval '1 s' else interval '0' end
     from variable where account_id = $1 and name like 'v%' on conflict do nothing`,
    [api.accountId],
  );
  await run('analyze variable, series');
  const startMs = performance.now();
  const { variables } = await read();
  if (process.env.SHOW_TIMES)
    process.stdout.write(`health of 100,000 variables: ${performance.now() - startMs} ms
`);
  expect(variables.total).toBeGreaterThan(VARIABLES);
  expect(variables.silent.count).toBe(102);
  expect(variables.silent.items).toHaveLength(50);
  // The list begins with the shortest silence, which is that of the variable `silent` of another test. This test created
  // the others: their ids are 1000 apart, and a greater id has a longer silence.
  const [latest, ...others] = variables.silent.items;
  expect(latest).toMatchObject({ name: 'silent' });
  const first = Number(others[0]?.variableId);
  expect(others.map(({ variableId }) => variableId)).toEqual(others.map((_, index) => first + 1000 * index));
});
