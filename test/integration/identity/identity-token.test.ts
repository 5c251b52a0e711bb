import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerClient } from '../../../src/accounts/clients/client-store.ts';
import { getIssuerKeys } from '../../../src/identity/keys/signing-keys.ts';
import { purgeExpired } from '../../../src/identity/passwords/revoke-sessions.ts';
import { basic, CLIENT, type IdentityFixture, PASSWORD, startIdentity, type TokenAnswer } from './identity-fixture.ts';

let identity: IdentityFixture;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

const CREDENTIALS = { client_id: CLIENT.clientId, client_secret: CLIENT.secret };
const MAX = { grant_type: 'password', username: 'max', password: PASSWORD };

const tokenForMax = (form: Readonly<Record<string, string>> = {}) =>
  identity.requestToken({ ...CREDENTIALS, ...MAX, ...form });
const refresh = (token: TokenAnswer, form: Readonly<Record<string, string>> = {}) =>
  identity.requestToken({
    ...CREDENTIALS,
    grant_type: 'refresh_token',
    refresh_token: token.body.refresh_token ?? '',
    ...form,
  });
const accountOf = (answer: TokenAnswer) => decodeJwt(answer.body.access_token ?? '').account;

describe('identity: the password grant', () => {
  it('issues a token that has the configured audience and the account, roles and name of the user (R-B3, R-B4)', async () => {
    const { status, body, headers } = await tokenForMax({ scope: 'datahub-api push-data' });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'datahub-api push-data' });
    expect(body.refresh_token).toBeTypeOf('string');
    expect(decodeProtectedHeader(body.access_token ?? '')).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(decodeJwt(body.access_token ?? '')).toMatchObject({
      iss: `${identity.origin}/realms/tidemark`,
      aud: 'tidemark',
      sub: identity.users.max,
      account: identity.accountId,
      scope: 'datahub-api push-data',
      roles: ['MANAGER'],
      preferred_username: 'max',
    });
  });

  it.each([
    ['form-encoded', `${encodeURIComponent(CLIENT.clientId)}:${encodeURIComponent(CLIENT.secret)}`],
    ['unencoded', `${CLIENT.clientId}:${CLIENT.secret}`],
  ])('accepts %s client credentials in HTTP Basic (R-B3)', async (_way, credentials) => {
    const { status } = await identity.requestToken(MAX, { headers: { authorization: basic(credentials) } });
    expect(status).toBe(200);
  });

  it('a realm alias issues tokens whose `iss` contains the realm `tidemark`, as do the URLs in its discovery document (R-B2)', async () => {
    const { status, body } = await identity.requestToken({ ...CREDENTIALS, ...MAX }, { realm: 'opinum' });
    expect(status).toBe(200);
    expect(decodeJwt(body.access_token ?? '').iss).toBe(`${identity.origin}/realms/tidemark`);
    const discovery = await identity.getJson('/realms/opinum/.well-known/openid-configuration');
    expect(discovery).toMatchObject({
      issuer: `${identity.origin}/realms/tidemark`,
      token_endpoint: `${identity.origin}/realms/tidemark/protocol/openid-connect/token`,
      jwks_uri: `${identity.origin}/realms/tidemark/protocol/openid-connect/certs`,
    });
  });

  it('a token path that ends in two slashes is accepted without a redirect (R-A3)', async () => {
    const { status } = await identity.requestToken({ ...CREDENTIALS, ...MAX }, { suffix: '//' });
    expect(status).toBe(200);
  });

  it('ignores the case of the user name (R-B11)', async () => {
    expect((await tokenForMax({ username: 'MAX' })).status).toBe(200);
  });

  it('a request without a scope gets all scopes of the client; a requested scope that cannot be granted is named in `refused_scope` (R-B3)', async () => {
    const all = await tokenForMax();
    expect(all.body.scope).toBe('datahub-api push-data');
    expect(all.body).not.toHaveProperty('refused_scope');
    const some = await tokenForMax({ scope: 'profile push-data' });
    expect(some.body).toMatchObject({ scope: 'push-data', refused_scope: 'profile' });
  });

  it('accepts `opisense-api` as another name for the scope `datahub-api`; the refresh grant accepts this name too (R-B6, §5)', async () => {
    const first = await tokenForMax({ scope: 'opisense-api push-data' });
    expect(first.body.scope).toBe('opisense-api push-data');
    expect(decodeJwt(first.body.access_token ?? '').scope).toBe('datahub-api push-data');
    expect(first.body).not.toHaveProperty('refused_scope');
    const second = await refresh(first, { scope: 'opisense-api' });
    expect(second).toMatchObject({ status: 200, body: { scope: 'opisense-api' } });
    expect(decodeJwt(second.body.access_token ?? '').scope).toBe('datahub-api');
  });

  it('when a sign-in or a refresh requests the scope `openid`, the answer has an ID token and repeats the scope names of the request (R-B3, §5)', async () => {
    const scope = 'openid opisense-api push-data';
    const first = await tokenForMax({ scope });
    for (const { status, body } of [first, await refresh(first, { scope })]) {
      expect({ status, ...body }).toMatchObject({ status: 200, scope });
      expect(body).not.toHaveProperty('refused_scope');
      const idToken = decodeJwt((body as { id_token?: string }).id_token ?? '');
      expect(idToken).toMatchObject({ sub: identity.users.max, aud: 'demo', preferred_username: 'max' });
      expect(decodeJwt(body.access_token ?? '').scope).toBe('datahub-api push-data');
    }
    expect((await tokenForMax({ scope: 'openid' })).body).toMatchObject({ error: 'invalid_scope' });
  });

  it('is served under the paths of the previous identity system (R-B2, R-B4, §5)', async () => {
    const discovery = (await identity.getJson('/.well-known/openid-configuration')) as { issuer: string };
    expect(discovery.issuer).toBe(`${identity.origin}/realms/tidemark`);
    const form = { ...MAX, scope: 'email opisense-api', acr_values: `accountId:${identity.otherAccountId}` };
    const answer = await fetch(`${identity.origin}/connect/token`, {
      method: 'POST',
      headers: { authorization: basic(`${CLIENT.clientId}:${CLIENT.secret}`) },
      body: new URLSearchParams(form),
      redirect: 'error',
    });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Record<string, string>;
    expect(body).toMatchObject({ scope: 'opisense-api', refused_scope: 'email' });
    expect(decodeJwt(body.access_token ?? '').account).toBe(identity.otherAccountId);
    const headers = { authorization: `Bearer ${body.access_token}` };
    const user = await (await fetch(`${identity.origin}/connect/userinfo`, { headers })).json();
    expect(user).toMatchObject({ preferred_username: 'max', account: identity.otherAccountId });
  });

  it('grants those requested scopes that the client has, and refuses the request when the client has none of them (R-B6)', async () => {
    await registerClient(identity.database, { clientId: 'pusher', secret: 'p', scopes: ['push-data'] });
    const pusher = { client_id: 'pusher', client_secret: 'p' };
    expect((await tokenForMax({ ...pusher, scope: 'datahub-api push-data' })).body.scope).toBe('push-data');
    const refused = await tokenForMax({ ...pusher, scope: 'datahub-api' });
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });
});

describe('identity: the account of a token', () => {
  it('is the account named in the field `account`; a USER who is not a member of this account is refused (R-B4)', async () => {
    const other = String(identity.otherAccountId);
    expect(accountOf(await tokenForMax({ account: other }))).toBe(identity.otherAccountId);
    expect(await tokenForMax({ username: 'uma', account: other })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('is the account in acr_values when the request has no field `account` (R-B4, §5)', async () => {
    const acr = { acr_values: `accountId:${identity.otherAccountId}` };
    expect(accountOf(await tokenForMax(acr))).toBe(identity.otherAccountId);
  });

  it('defaults to the active account when the request names no account (R-B4)', async () => {
    const setActive = (accountId: number) =>
      identity.database.query('update app_user set active_account_id = $2 where id = $1', [
        identity.users.max,
        accountId,
      ]);
    await setActive(identity.otherAccountId);
    expect(accountOf(await tokenForMax())).toBe(identity.otherAccountId);
    await setActive(identity.accountId);
    expect(accountOf(await tokenForMax())).toBe(identity.accountId);
  });

  it('may be any existing account when the user is an ADMIN without memberships, but the request must name the account (R-B8)', async () => {
    const account = String(identity.otherAccountId);
    expect(accountOf(await tokenForMax({ username: 'ada', account }))).toBe(identity.otherAccountId);
    for (const [form, advice] of [
      [{}, 'the form field `account` must contain the id of an account'],
      [{ account: '999999' }, 'Account 999999 does not exist, or the user has no access to it'],
    ] as const) {
      const body = { error: 'invalid_grant', error_description: expect.stringContaining(advice) };
      expect(await tokenForMax({ username: 'ada', ...form })).toMatchObject({ body });
    }
  });

  it('must be a number; any other text is refused with invalid_request (R-B3)', async () => {
    expect(await tokenForMax({ account: 'x' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('identity: a refresh', () => {
  it('keeps the account and the scope of the sign-in (R-B4)', async () => {
    const first = await tokenForMax({ account: String(identity.otherAccountId), scope: 'push-data' });
    const second = await refresh(first);
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ token_type: 'Bearer', scope: 'push-data', refresh_token: expect.any(String) });
    expect(accountOf(second)).toBe(identity.otherAccountId);
  });

  it('gives a token for another account of the user when the request names that account (R-B3, R-B4)', async () => {
    const first = await tokenForMax();
    expect(accountOf(await refresh(first, { account: String(identity.otherAccountId) }))).toBe(identity.otherAccountId);
    expect(accountOf(await refresh(first))).toBe(identity.accountId);
    expect(await refresh(first, { account: '999999' })).toMatchObject({ body: { error: 'invalid_grant' } });
  });

  it('by a USER is refused while this user is locked or is not a member of the account (R-B5)', async () => {
    const uma = await tokenForMax({ username: 'uma' });
    await identity.database.query('update app_user set is_locked = true where id = $1', [identity.users.uma]);
    expect(await refresh(uma)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await identity.database.query('update app_user set is_locked = false where id = $1', [identity.users.uma]);
    const member = [identity.accountId, identity.users.uma];
    await identity.database.query('delete from account_member where account_id = $1 and user_id = $2', member);
    expect(await refresh(uma)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await identity.database.query('insert into account_member values ($1, $2)', member);
    expect((await refresh(uma)).status).toBe(200);
  });

  it('is refused when the refresh token is unknown, has expired or was issued to another client (R-B3)', async () => {
    await registerClient(identity.database, { clientId: 'thief', secret: 't', scopes: ['push-data'] });
    const first = await tokenForMax();
    const asThief = { client_id: 'thief', client_secret: 't' };
    expect(await refresh(first, asThief)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await refresh(first, { refresh_token: 'x' })).toMatchObject({ body: { error: 'invalid_grant' } });
    await identity.database.query(`update oidc_payload set expires_date = now() - interval '1 second'`);
    expect(await refresh(first)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

describe('identity: a refused token request', () => {
  it.each([
    ['a wrong password', 400, 'invalid_grant', { password: 'x' }],
    ['an unknown user', 400, 'invalid_grant', { username: 'nobody' }],
    ['a user name that the database cannot store', 400, 'invalid_grant', { username: 'max\0' }],
    ['a client id that the database cannot store', 401, 'invalid_client', { client_id: 'demo\0' }],
    ['no password', 400, 'invalid_request', { password: '' }],
    ['a wrong client secret', 401, 'invalid_client', { client_secret: 'x' }],
    ['an unknown client', 401, 'invalid_client', { client_id: 'x' }],
    ['no client secret', 401, 'invalid_client', { client_secret: '' }],
    ['no client at all', 401, 'invalid_client', { client_id: '', client_secret: '' }],
    ['an unknown grant', 400, 'unsupported_grant_type', { grant_type: 'x' }],
    ['no known scope', 400, 'invalid_scope', { scope: 'x' }],
  ])('a request with %s is answered with %i %s (R-B3)', async (_case, status, error, form) => {
    const answer = await tokenForMax(form);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  it('a wrong client secret in HTTP Basic is answered with a Basic challenge (R-B3)', async () => {
    const answer = await identity.requestToken(MAX, { headers: { authorization: basic('demo:50%off') } });
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it('a client may use only the grant types for which it is registered (R-B3)', async () => {
    await registerClient(identity.database, {
      clientId: 'refresher',
      secret: 'r',
      scopes: ['push-data'],
      grantTypes: ['refresh_token'],
    });
    const answer = await tokenForMax({ client_id: 'refresher', client_secret: 'r' });
    expect(answer).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });

  it('a locked user gets no token until the lock ends (R-B11)', async () => {
    const lock = (isLocked: boolean, until: Date | null) =>
      identity.database.query('update app_user set is_locked = $2, locked_until = $3 where id = $1', [
        identity.users.uma,
        isLocked,
        until,
      ]);
    await lock(true, null);
    expect(await tokenForMax({ username: 'uma' })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await lock(true, new Date(identity.clock.nowMillis() - 1));
    expect((await tokenForMax({ username: 'uma' })).status).toBe(200);
    await lock(false, null);
  });

  it('after five wrong passwords from one network, the user cannot sign in from this network for 15 minutes, even with the right password (R-B11)', async () => {
    for (let attempt = 1; attempt <= 5; attempt++) await tokenForMax({ username: 'uma', password: 'x' });
    expect(await tokenForMax({ username: 'uma' })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    identity.clock.advanceSec(899);
    expect((await tokenForMax({ username: 'uma' })).status).toBe(400);
    identity.clock.advanceSec(1);
    expect((await tokenForMax({ username: 'uma' })).status).toBe(200);
  });

  it('a sign-in with the right password resets the count of wrong passwords to zero (R-B11)', async () => {
    for (let attempt = 1; attempt <= 4; attempt++) await tokenForMax({ username: 'uma', password: 'x' });
    expect((await tokenForMax({ username: 'uma' })).status).toBe(200);
    await tokenForMax({ username: 'uma', password: 'x' });
    expect((await tokenForMax({ username: 'uma' })).status).toBe(200);
  });

  it('a refused request is answered with the headers Api-Version and X-Request-Id, like a request that gets a token (R-A2, R-A10)', async () => {
    for (const form of [{}, { password: 'x' }]) {
      const { headers } = await tokenForMax(form);
      expect(headers.get('api-version')).toBe('1.7');
      expect(headers.get('x-request-id')).toBe('r1');
    }
  });
});

it('identity: a request to an unknown path of the issuer gets 404 with an error in JSON (R-A5)', async () => {
  const answer = await fetch(`${identity.origin}/realms/tidemark/nothing`);
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    ...{ status: 404, body: { error: 'not_found' } },
  });
});

describe('identity: stored state of the issuer', () => {
  it('contains no refresh token, password or client secret in plain text (R-B11)', async () => {
    const { body } = await tokenForMax();
    const { rows } = await identity.database.query<{ text: string }>(
      `select string_agg(t.line, '') as text from (
         select p::text as line from oidc_payload p union all select u::text from app_user u
         union all select c::text from oidc_client c) t`,
    );
    for (const secret of [body.refresh_token, PASSWORD, CLIENT.secret]) expect(rows[0]?.text).not.toContain(secret);
  });

  it('is deleted after it has expired; a live refresh token still works (R-B2)', async () => {
    const live = await tokenForMax();
    await identity.database.query(`insert into oidc_payload values ('Session', 'old', '{}', null, null, null, now())`);
    expect(await purgeExpired(identity.database)).toBeGreaterThan(0);
    const { rows } = await identity.database.query(`select from oidc_payload where id = 'old'`);
    expect(rows).toHaveLength(0);
    expect((await refresh(live)).status).toBe(200);
  });

  it('has one signing key when several processes start simultaneously for the first time (R-B2)', async () => {
    await identity.database.query('delete from signing_key');
    const starts = await Promise.all([1, 2, 3].map(() => getIssuerKeys(identity.database)));
    expect(new Set(starts.map(({ jwks }) => jwks.keys.map(({ kid }) => kid).join())).size).toBe(1);
    expect(starts[0]?.jwks.keys).toHaveLength(1);
  });
});
