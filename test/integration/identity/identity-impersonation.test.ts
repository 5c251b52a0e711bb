import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerClient } from '../../../src/accounts/clients/client-store.ts';
import { TOKEN_EXCHANGE_GRANT } from '../../../src/identity/issuer/grants/token-exchange.ts';
import { postToken } from '../../support/clients/authorization.ts';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { addPerson, signInPerson } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let admin: TestClient;
let ada: string;
let uma: string;
beforeAll(async () => {
  api = await startTestApi();
  ada = await addPerson(api, 'ada', { role: 'ADMIN' });
  uma = await addPerson(api, 'uma', { role: 'MANAGER' });
  admin = await signInPerson(api, 'ada');
  await registerClient(api.database, {
    ...{ clientId: 'support', secret: 's', scopes: ['datahub-api'] },
    grantTypes: [TOKEN_EXCHANGE_GRANT],
  });
});
afterAll(() => api.close());

const exchange = (form: Readonly<Record<string, string>> = {}) =>
  postToken(api.origin, {
    ...{ grant_type: TOKEN_EXCHANGE_GRANT, client_id: 'support', client_secret: 's' },
    ...{ subject_token: admin.token ?? '', requested_subject: uma },
    ...form,
  });

async function impersonate(form = {}): Promise<TestClient> {
  const { status, body } = await exchange(form);
  expect(status).toBe(200);
  return createTestClient(api.origin, String(body.access_token));
}

describe('identity: impersonation', () => {
  it('gives an access token that names the user and, in the claim `act`, the ADMIN, but gives no refresh token (R-B14)', async () => {
    const { body } = await exchange({ requested_subject: 'UMA' });
    expect(body).toEqual({
      access_token: expect.any(String),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...{ token_type: 'Bearer', expires_in: 3600, scope: 'datahub-api' },
    });
    expect(decodeJwt(String(body.access_token))).toMatchObject({
      ...{ sub: uma, account: api.accountId, roles: ['MANAGER'], preferred_username: 'uma' },
      act: { sub: ada, preferred_username: 'ada' },
    });
  });

  it('gives the ADMIN the role of the impersonated user, not the role ADMIN (R-B14, R-B8)', async () => {
    const client = await impersonate();
    expect((await client.get('/account/audit')).status).toBe(200);
    expect((await client.get(`/account/usersForAccount/${api.accountId}`)).status).toBe(403);
  });

  it('ends when the tokens of the ADMIN are revoked, and cannot be started with a revoked token (R-B14, R-B11)', async () => {
    const client = await impersonate();
    await api.database.query(`update app_user set tokens_valid_from = now() + interval '1 min' where id = $1`, [ada]);
    expect((await client.get('/account')).status).toBe(401);
    expect((await exchange()).body.error).toBe('invalid_grant');
    await api.database.query('update app_user set tokens_valid_from = null where id = $1', [ada]);
    expect((await client.get('/account')).status).toBe(200);
  });

  it('the audit trail and the history of a calculation name both the ADMIN and the user (R-B14, R-H12)', async () => {
    const client = await impersonate();
    await client.put('/account', { currency: 'EUR' });
    const { body } = await api.manager.get<readonly object[]>('/account/audit?itemsPerPage=2');
    const impersonator = { userId: ada, userName: 'ada' };
    expect(body).toMatchObject([
      { action: 'AccountUpdated', userId: uma, userName: 'uma', impersonator },
      { action: 'ImpersonationStarted', userId: uma, impersonator },
    ]);
    const { sourceId, variableId } = await createStructure(client, { calculated: {} });
    const saves = await client.get(`/sources/${sourceId}/variables/${variableId}/calculated/history`);
    expect(saves.body).toMatchObject([{ userId: uma, userName: 'uma', impersonator }]);
    const byAda = await api.manager.get<readonly object[]>(`/account/audit?userId=${ada}`);
    expect(byAda.body.length).toBeGreaterThan(1);
  });

  it('has the same request id in the answer and in the audit entry, whether the client gave the id or the service generated it (R-A10, R-B14)', async () => {
    for (const given of [undefined, 'mine-1', 'not one\tof ours']) {
      const form = {
        ...{ grant_type: TOKEN_EXCHANGE_GRANT, client_id: 'support', client_secret: 's' },
        ...{ subject_token: admin.token ?? '', requested_subject: uma },
      };
      const { headers } = await fetch(`${api.origin}/realms/tidemark/protocol/openid-connect/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: given === undefined ? {} : { 'x-request-id': given },
      });
      const requestId = headers.get('x-request-id');
      expect(requestId).toMatch(given === 'mine-1' ? /^mine-1$/ : /^[\w-]{36}$/);
      const { body } = await api.manager.get('/account/audit?action=ImpersonationStarted&itemsPerPage=1');
      expect(body).toMatchObject([{ requestId }]);
    }
  });

  it('gives a token that is refused while the ADMIN is locked or no longer has the role ADMIN (R-B14, R-B5)', async () => {
    const client = await impersonate();
    for (const [change, undo] of [
      ['is_locked = true', 'is_locked = false'],
      [`role = 'MANAGER'`, `role = 'ADMIN'`],
    ]) {
      await api.database.query(`update app_user set ${change} where id = $1`, [ada]);
      expect(await client.get('/account')).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
      await api.database.query(`update app_user set ${undo} where id = $1`, [ada]);
      expect((await client.get('/account')).status).toBe(200);
    }
  });

  it('gives a token for the requested `account` if the impersonated user belongs to that account; otherwise, the request is refused (R-B4)', async () => {
    const { body } = await exchange({ account: String(api.accountId) });
    expect(decodeJwt(String(body.access_token)).account).toBe(api.accountId);
    expect(await exchange({ account: String(api.otherAccountId) })).toMatchObject({ body: { error: 'invalid_grant' } });
  });
});

describe('identity: impersonation is refused', () => {
  it.each([
    [
      'the subject token belongs to a MANAGER',
      async () => ({ subject_token: api.manager.token ?? '' }),
      'invalid_grant',
    ],
    ['the subject token is not a token', async () => ({ subject_token: 'x' }), 'invalid_grant'],
    ['the requested user is an ADMIN', async () => ({ requested_subject: ada }), 'invalid_grant'],
    ['the requested user does not exist', async () => ({ requested_subject: 'nobody' }), 'invalid_grant'],
    ['no user is requested', async () => ({ requested_subject: '' }), 'invalid_request'],
    ['the type of the subject token is unknown', async () => ({ subject_token_type: 'x' }), 'invalid_request'],
    [
      'the subject token comes from an impersonation',
      async () => ({ subject_token: (await impersonate()).token ?? '' }),
      'invalid_grant',
    ],
    [
      'the client may not use token exchange',
      async () => ({ client_id: 'demo', client_secret: 's3cret' }),
      'unauthorized_client',
    ],
    [
      'the subject token has none of the scopes of the client',
      async () => ({ subject_token: (await signInPerson(api, 'ada', undefined, 'push-data')).token ?? '' }),
      'invalid_scope',
    ],
    ['the client may not have the requested scope', async () => ({ scope: 'push-data' }), 'invalid_scope'],
  ])('when %s (R-B14)', async (_case, form, error) => {
    expect(await exchange(await form())).toMatchObject({ status: 400, body: { error } });
  });

  it('with a description of the broken rule, such as the rule for requested_subject (R-B14)', async () => {
    const pushToken = (await signInPerson(api, 'ada', undefined, 'push-data')).token ?? '';
    for (const [form, description] of [
      [{ requested_subject: 'nobody' }, 'requested_subject must be the id or the name of a user'],
      [{ subject_token: pushToken }, 'the subject token must have at least one of the scopes datahub-api'],
    ] as const) {
      expect(await exchange(form)).toMatchObject({ body: { error_description: description } });
    }
  });

  it('when the requested user is locked (R-B11)', async () => {
    const id = await addPerson(api, 'locked');
    await api.database.query('update app_user set is_locked = true where id = $1', [id]);
    expect(await exchange({ requested_subject: id })).toMatchObject({ body: { error: 'invalid_grant' } });
  });
});
