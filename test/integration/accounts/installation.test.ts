/** `GET /admin/operate`: who may read it, what it reports, and how many rows it examines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Installation {
  readonly waiting: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, number>>;
  readonly slowestScripts: readonly Record<string, unknown>[];
  readonly busiestAccounts: readonly Record<string, unknown>[];
  readonly clients: readonly { readonly clientId: string; readonly isPublic: boolean }[];
  readonly signingKeys: readonly { readonly state: string }[];
  readonly storage: readonly Record<string, unknown>[] | null;
}

let api: TestApi;
let admin: TestClient;
let variableId: number;
beforeAll(async () => {
  api = await startTestApi();
  admin = await api.signIn('ada', 'ADMIN');
  ({ variableId } = await createStructure(api.manager));
  await api.manager.post('/api/data', [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value: 1 }] }]);
  await api.ingest();
});
afterAll(() => api.close());

const read = async () => (await admin.get<Installation>('/admin/operate')).body;

describe('accounts: GET /admin/operate', () => {
  it('is for administrators only (R-B6)', async () => {
    expect(await api.manager.get('/admin/operate')).toMatchObject({ status: 403 });
    expect(await admin.get('/admin/operate')).toMatchObject({ status: 200 });
  });

  it('lists the most expensive accounts and scripts, each with the name of its account', async () => {
    await api.database.query(
      `insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
         default_version, requested_date, started_date, finished_date)
       select $1, $2, case number % 4 when 0 then 'Failed' else 'Succeeded' end, 'Input', now(), now(), now(), number, 1, '',
         now() - interval '11 s', now() - interval '10 s', now() - interval '8 s'
       from generate_series(1, 8) number`,
      [variableId, api.accountId],
    );
    const { runs, slowestScripts, busiestAccounts } = await read();
    expect(runs).toMatchObject({
      examined: 8,
      succeeded: 6,
      failed: 2,
      running: 0,
      medianSeconds: 2,
      medianWaitSeconds: 1,
    });
    expect(slowestScripts).toMatchObject([
      { variableId, accountName: 'North', runs: 8, meanSeconds: 2, totalSeconds: 16 },
    ]);
    expect(busiestAccounts).toMatchObject([{ accountName: 'North', pushes: 1, readings: 1, runs: 8, runSeconds: 16 }]);
  });

  it('lists waiting work by metric, clients without secrets, signing keys, and storage once it is measured', async () => {
    const { waiting, clients, signingKeys } = await read();
    expect(waiting).toMatchObject({ tidemark_push_waiting_batches: 0, tidemark_calculation_due: 0 });
    expect(clients).toContainEqual(expect.objectContaining({ clientId: 'tidemark-console', isPublic: true }));
    expect(JSON.stringify(clients)).not.toMatch(/scrypt|argon|hash/i);
    expect(signingKeys).toContainEqual(expect.objectContaining({ state: 'active' }));
    await eventually('the measured storage', async () => (await read()).storage !== null);
    expect((await read()).storage).toContainEqual(
      expect.objectContaining({ accountName: 'North', points: 1, bytes: expect.any(Number) }),
    );
  });

  it('examines the newest 20,000 runs and pushes, however many are stored', async () => {
    await api.database.query(
      `with run as (
         insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
           default_version, requested_date, finished_date)
         select $1, $2, 'Succeeded', 'Input', now(), now(), now(), number, 1, '', now(), now()
         from generate_series(1, 25000) number
       )
       insert into push_operation (account_id, user_id, label, request_id, accepted_elements, accepted_readings)
       select $2, 'someone', number::text, '', 1, 10 from generate_series(1, 25000) number`,
      [variableId, api.accountId],
    );
    const { runs, busiestAccounts } = await read();
    expect(runs.examined).toBe(20_000);
    expect(busiestAccounts[0]).toMatchObject({ pushes: 20_000, readings: 200_000 });
  });
});
