/**
 * A password change revokes the HTTP Basic credentials that pushes have cached, the refresh tokens, and all sessions
 * except the session that makes the change. A reset through an emailed link also revokes the access tokens. While a
 * user is locked, cached credentials are refused. A password grant fails when the password changes while the grant is
 * in progress.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import { findTokenUser } from '../../../src/identity/authentication/find-token-user.ts';
import { writeTokenGrant } from '../../../src/identity/issuer/grants/token-grant.ts';
import { passwordFingerprint } from '../../../src/identity/passwords/password-fingerprint.ts';
import { makePasswordReset } from '../../../src/identity/passwords/password-reset.ts';
import { type ApiRole, startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { openParts, type Parts } from '../../../src/roles/parts.ts';
import { type Browser, createBrowser } from '../../support/browser/browser.ts';
import { postToken } from '../../support/clients/authorization.ts';
import { createTestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson, signInPerson } from '../../support/fixtures/people.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const CHOSEN = 'another one, chosen well';
const PROFILE = 'https://app.example/profile';

let api: TestApi;
/** A second API, which acts as another process: it has its own caches. */
let other: { readonly origin: string; readonly parts: Parts; readonly role: ApiRole };
beforeAll(async () => {
  api = await startTestApi({ ACCESS_CACHE_SEC: '30', TOKEN_RATE_PER_MINUTE: '0', RETURN_URLS: PROFILE });
  const listener = await listenHttp('127.0.0.1', 0);
  const parts = openParts(api.parts.config, api.parts.log);
  other = { parts, role: await startApi(parts, listener), origin: `http://127.0.0.1:${listener.port}` };
});
afterAll(async () => {
  await other.role.stop();
  await other.parts.close();
  await api.close();
});

async function addPusher(name: string): Promise<string> {
  const userId = await addPerson(api, name, { email: `${name}@north.example` });
  await addClaim(api.database, { accountId: api.accountId, userId, claimType: 'datapusher.standard' });
  return userId;
}

async function push(origin: string, name: string, password: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  return (await createTestClient(origin).post('/api/data', [], { authorization })).status;
}

async function choose(browser: Browser, address: string): Promise<void> {
  const page = await browser.open(address);
  await browser.submit(page, { newPassword: CHOSEN, repeatedPassword: CHOSEN });
}

/** Changes the password through a link like the one in a reset email. */
async function reset(name: string, userId: string): Promise<void> {
  const { token } = await makePasswordReset(api.database, userId, `${name}@north.example`);
  await choose(createBrowser(), `${api.origin}/realms/tidemark/reset-password?token=${token}`);
}

async function signInBrowser(name: string): Promise<Browser> {
  const browser = createBrowser(['https://app.example']);
  const page = await browser.open(`${api.origin}/realms/tidemark/signed-in`);
  await browser.submit(page, { username: name, password: PASSWORD });
  return browser;
}

/** Changes the password on the password page, in a browser with a session. */
async function change(browser: Browser, name: string): Promise<void> {
  const client = await signInPerson(api, name);
  await choose(browser, (await client.get<{ link: string }>('/user/updatePasswordLink')).body.link);
}

const FORM = { client_id: 'demo', client_secret: 's3cret' };
const tokensOf = async (username: string, password = PASSWORD) =>
  (await postToken(api.origin, { ...FORM, grant_type: 'password', username, password })).body;
const refresh = (token: unknown) =>
  postToken(api.origin, { ...FORM, grant_type: 'refresh_token', refresh_token: String(token) });

describe('identity: cached push credentials', () => {
  it.each([
    ['through an emailed link', 'rita', reset],
    ['on the password page', 'paul', async (name: string) => change(await signInBrowser(name), name)],
  ])(
    'are refused in every process after the password is changed %s, and the new password is accepted (R-B7, R-B5)',
    async (_how, name, by) => {
      const userId = await addPusher(name);
      for (const origin of [api.origin, other.origin]) expect(await push(origin, name, PASSWORD)).toBe(200);
      await by(name, userId);
      expect(await push(api.origin, name, PASSWORD)).toBe(401);
      // The other process must act on the invalidation message: without it, the cache entry would last half a minute.
      await eventually('the invalidation', async () => (await push(other.origin, name, PASSWORD)) === 401, 5000);
      for (const origin of [api.origin, other.origin]) expect(await push(origin, name, CHOSEN)).toBe(200);
    },
  );

  it('are accepted after a password change in the database until the cache entry is invalidated (R-B7, R-B5)', async () => {
    const [changed, void_] = [await addPusher('cora'), await addPusher('vera')];
    for (const name of ['cora', 'vera']) expect(await push(api.origin, name, PASSWORD)).toBe(200);
    await api.database.query(`update app_user set password_hash = password_hash || 'x' where id = $1`, [changed]);
    await api.database.query('update app_user set must_change_password = true where id = $1', [void_]);
    for (const name of ['cora', 'vera']) expect(await push(api.origin, name, PASSWORD)).toBe(200);
    await api.parts.accessInvalidation.publish([changed, void_]);
    for (const name of ['cora', 'vera']) expect(await push(api.origin, name, PASSWORD)).toBe(401);
  });

  it('are refused while the user is locked and accepted again after the user is unlocked (R-B7, R-B11)', async () => {
    const userId = await addPusher('lola');
    expect(await push(api.origin, 'lola', PASSWORD)).toBe(200);
    for (const [isLocked, status] of [
      [true, 401],
      [false, 200],
    ] as const) {
      await api.manager.post(`/account/user/${userId}/lock`, { isLocked });
      expect(await push(api.origin, 'lola', PASSWORD)).toBe(status);
    }
  });
});

describe('identity: sessions and tokens when a password changes', () => {
  it('a reset revokes refresh tokens, browser sessions and live access tokens (R-B11, R-B5)', async () => {
    const userId = await addPusher('theo');
    const browser = await signInBrowser('theo');
    const { access_token: token, refresh_token: refreshToken } = await tokensOf('theo');
    const thief = createTestClient(api.origin, String(token));
    expect((await thief.get('/account')).status).toBe(200);
    await nextSecond();
    await reset('theo', userId);
    expect((await refresh(refreshToken)).body.error).toBe('invalid_grant');
    expect((await browser.open(`${api.origin}/realms/tidemark/signed-in`)).title).toBe('Sign in');
    expect(await thief.get('/account')).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect((await thief.post('/api/data', [])).status).toBe(401);
    const own = createTestClient(api.origin, String((await tokensOf('theo', CHOSEN)).access_token));
    expect((await own.get('/account')).status).toBe(200);
  });

  it('a change on the password page revokes refresh tokens and ends other browser sessions, but not the session that makes the change (R-B13)', async () => {
    await addPusher('olga');
    const [here, elsewhere] = [await signInBrowser('olga'), await signInBrowser('olga')];
    const { refresh_token: refreshToken } = await tokensOf('olga');
    await change(here, 'olga');
    const title = async (browser: Browser) => (await browser.open(`${api.origin}/realms/tidemark/signed-in`)).title;
    expect([await title(here), await title(elsewhere)]).toEqual(['You are signed in', 'Sign in']);
    expect((await refresh(refreshToken)).body.error).toBe('invalid_grant');
  });

  it('a password grant is refused when the password changes while the grant is in progress (R-B11)', async () => {
    const userId = await addPusher('race');
    const client = await api.database.connect();
    try {
      await client.query(BEGIN_HOLDING);
      await client.query(`update app_user set password_hash = 'other' where id = $1`, [userId]);
      const answer = tokensOf('race');
      await eventually('the sign-in at the row', async () => {
        const { rowCount } = await api.database.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%last_login_date%'
             and datname = current_database()`,
        );
        return (rowCount ?? 0) > 0;
      });
      await client.query('commit');
      expect((await answer).error).toBe('invalid_grant');
    } finally {
      client.release();
    }
  });

  it('a token grant is stored only if the password that was checked is still the password of the user (R-B11)', async () => {
    const userId = await addPusher('grant');
    const { rows } = await api.database.query<{ hash: string }>(
      'select password_hash as hash from app_user where id = $1',
      [userId],
    );
    const grant = { userId, accountId: api.accountId, ttlSec: 60 };
    const mark = passwordFingerprint(rows[0]?.hash ?? '');
    expect(await writeTokenGrant(api.database, { ...grant, grantId: 'g1', passwordFingerprint: mark })).toBe(true);
    expect(await writeTokenGrant(api.database, { ...grant, grantId: 'g2', passwordFingerprint: 'another' })).toBe(
      false,
    );
    expect((await findTokenUser(api.database, userId, undefined, new Date()))?.tokensValidFromSec).toBe(0);
  });
});

/** Waits for the next second, because `iat` of tokens counts whole seconds. */
async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await eventually('the next second', async () => Math.floor(Date.now() / 1000) > second);
}
