/** Routes below `/admin`: the state of the installation, its OAuth clients and its signing keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getIssuerKeys } from '../../../src/identity/keys/signing-keys.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
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
  it('is for administrators only (R-B8)', async () => {
    expect(await api.manager.get('/admin/operate')).toMatchObject({ status: 403 });
    expect(await admin.get('/admin/operate')).toMatchObject({ status: 200 });
  });

  it('counts runs by outcome, and lists the slowest scripts and the busiest accounts, each with account name, number of runs and duration', async () => {
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

  it('lists waiting work, signing keys, storage and clients, but no hashes of client secrets', async () => {
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

  it('examines only 20,000 runs and 20,000 rows of pushes, and counts each push of a row that several pushes share', async () => {
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
    // The newest row stands for two pushes.
    await api.database.query(
      `insert into push_operation (account_id, user_id, label, request_id, accepted_elements, accepted_readings, member_elements, member_readings)
       values ($1, 'someone', 'shared', '', 2, 10, '{1,1}', '{5,5}')`,
      [api.accountId],
    );
    const { runs, busiestAccounts } = await read();
    expect(runs.examined).toBe(20_000);
    expect(busiestAccounts[0]).toMatchObject({ pushes: 20_001, readings: 200_000 });
  });
});

interface Client {
  readonly clientId: string;
  readonly secret?: string;
  readonly isEnabled: boolean;
  readonly previousSecretUntil: string | null;
}

interface Tokens {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly error?: string;
}

/** Requests a token for the user `max`. @returns the answer, which may be a refusal. */
async function askToken(clientId: string, secret = '', refreshToken?: string): Promise<Tokens> {
  const grant =
    refreshToken === undefined
      ? { grant_type: 'password', username: 'max', password: PASSWORD }
      : { grant_type: 'refresh_token', refresh_token: refreshToken };
  const body = new URLSearchParams({ ...grant, client_id: clientId, client_secret: secret });
  const url = `${api.origin}/realms/tidemark/protocol/openid-connect/token`;
  return (await fetch(url, { method: 'POST', body })).json() as Promise<Tokens>;
}

const create = async (clientId: string, more: object = {}) =>
  (await admin.post<Client>('/admin/clients', { clientId, ...more })).body;
const rotate = async (clientId: string, body: object) =>
  (await admin.post<Client>(`/admin/clients/${clientId}/secret`, body)).body;
const issues = async (clientId: string, secret?: string) => (await askToken(clientId, secret)).error === undefined;

describe('accounts: OAuth clients', () => {
  it('the secret of a new client works, and only the creation of the client returns the secret (R-B3, R-B11)', async () => {
    const answer = await admin.post<Client>('/admin/clients', { clientId: 'north-import', scopes: ['push-data'] });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { secret = '' } = answer.body;
    expect(await issues('north-import', secret)).toBe(true);
    const { rows } = await api.database.query<{ text: string }>(
      `select c::text as text from oidc_client c where client_id = 'north-import'
       union all select details::text from audit_entry where target_id = 'north-import'`,
    );
    expect(rows).toHaveLength(2);
    expect(JSON.stringify([rows, (await admin.get('/admin/clients')).body])).not.toContain(secret);
  });

  it('a MANAGER gets 403 for all requests about clients, their secrets, and signing keys (R-B8)', async () => {
    const statuses = await Promise.all([
      api.manager.get('/admin/clients'),
      api.manager.post('/admin/clients', { clientId: 'mine' }),
      api.manager.put('/admin/clients/demo', { isEnabled: false }),
      api.manager.post('/admin/clients/demo/secret', {}),
      api.manager.delete('/admin/clients/demo'),
      api.manager.get('/admin/signingKeys'),
      api.manager.post('/admin/signingKeys', undefined),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(Array(7).fill(403));
  });

  it('a replaced secret stays valid for the given `overlapHours`, at most 168; when none are given, it is invalid immediately (R-B3)', async () => {
    const { secret: first } = await create('rotated');
    const { secret: second, previousSecretUntil } = await rotate('rotated', { overlapHours: 24 });
    expect(Date.parse(previousSecretUntil ?? '')).toBeGreaterThan(Date.now());
    expect([await issues('rotated', first), await issues('rotated', second)]).toEqual([true, true]);
    await api.database.query(
      `update oidc_client set previous_secret_until = now() - interval '1 s' where client_id = 'rotated'`,
    );
    expect([await issues('rotated', first), await issues('rotated', second)]).toEqual([false, true]);
    const { secret: third } = await rotate('rotated', {});
    expect([await issues('rotated', second), await issues('rotated', third)]).toEqual([false, true]);
    expect(await admin.post('/admin/clients/rotated/secret', { overlapHours: 169 })).toMatchObject({ status: 400 });
  });

  it('a disabled or deleted client gets no tokens; the refresh tokens of a disabled client stay invalid when the client is enabled again (R-B3)', async () => {
    const { secret } = await create('paused');
    const { refresh_token: refreshToken } = await askToken('paused', secret);
    await admin.put('/admin/clients/paused', { isEnabled: false });
    expect(await askToken('paused', secret)).toMatchObject({ error: 'invalid_client' });
    await admin.put('/admin/clients/paused', { isEnabled: true, name: 'Paused' });
    expect(await askToken('paused', secret, refreshToken)).toMatchObject({ error: 'invalid_grant' });
    expect(await issues('paused', secret)).toBe(true);
    expect(await admin.delete('/admin/clients/paused')).toMatchObject({ status: 200 });
    expect(await askToken('paused', secret)).toMatchObject({ error: 'invalid_client' });
    expect(await admin.delete('/admin/clients/paused')).toMatchObject({ status: 404 });
  });

  it('these are refused: a taken id, a relative redirect URI, a secret for a public client, a public client without a redirect URI, changing or deleting the console’s client (R-A5)', async () => {
    await create('page', { isPublic: true, redirectUris: ['https://page.example/cb'] });
    const refusals = await Promise.all([
      admin.post('/admin/clients', { clientId: 'page' }),
      admin.post('/admin/clients', { clientId: 'other', redirectUris: ['/cb'] }),
      admin.post('/admin/clients/page/secret', {}),
      admin.put('/admin/clients/page', { redirectUris: [] }),
      admin.put('/admin/clients/tidemark-console', { isEnabled: false }),
      admin.delete('/admin/clients/tidemark-console'),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([409, 400, 409, 400, 409, 409]);
  });
});

describe('accounts: signing keys', () => {
  it('a new key signs only after a delay; until then, no other key can be added (R-B1, R-B2)', async () => {
    const before = (await admin.get<readonly { kid: string; state: string }[]>('/admin/signingKeys')).body;
    expect(before.map(({ state }) => state)).toEqual(['Signing']);
    const { body: next } = await admin.post<{ kid: string; state: string; signsFrom: string }>(
      '/admin/signingKeys',
      undefined,
    );
    expect(next).toMatchObject({ state: 'Next', signsFrom: expect.any(String) });
    const message = `key ${next.kid} is already published and will start to sign tokens at ${next.signsFrom}; once this key signs tokens, you can add another key`;
    expect(await admin.post('/admin/signingKeys', undefined)).toMatchObject({ status: 409, body: { message } });
    const signing = async () => (await getIssuerKeys(api.database)).jwks.keys[0]?.kid;
    expect(await signing()).toBe(before[0]?.kid);
    await api.database.query(`update signing_key set created_date = created_date - interval '1 h'`);
    expect((await admin.get('/admin/signingKeys')).body).toMatchObject([
      { kid: next.kid, state: 'Signing', signsFrom: null },
      { kid: before[0]?.kid, state: 'Verifying' },
    ]);
    expect(await signing()).toBe(next.kid);
  });
});
