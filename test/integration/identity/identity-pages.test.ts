import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowserPage, createBrowser } from '../../support/browser/browser.ts';
import {
  APP_CALLBACK,
  APP_ORIGIN,
  exchangeCode,
  postToken,
  registerApp,
  startAuthorization,
} from '../../support/clients/authorization.ts';
import { createTestClient } from '../../support/clients/test-client.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await registerApp(api.database);
  await addPerson(api, 'uma', { email: 'uma@north.example', firstName: 'Uma' });
  await addPerson(api, 'both', { accountIds: [api.accountId, api.otherAccountId] });
});
afterAll(() => api.close());

const appBrowser = () => createBrowser([APP_ORIGIN]);

async function signIn(username: string, parameters = {}, browser = appBrowser()) {
  const { address, verifier } = startAuthorization(api.origin, parameters);
  const form = await browser.open(address);
  const page = await browser.submit(form, { username, password: PASSWORD });
  return { browser, page, verifier };
}

async function tokensOf(page: BrowserPage, verifier: string) {
  const { status, body } = await exchangeCode(api.origin, page.url, verifier);
  expect(status).toBe(200);
  return body;
}

describe('identity: the sign-in page', () => {
  it('is HTML without scripts, and has a language, a heading and a label for each field (R-B2)', async () => {
    const page = await appBrowser().open(startAuthorization(api.origin).address);
    expect(page).toMatchObject({ status: 200, title: 'Sign in', fields: ['username', 'password'], problem: undefined });
    expect(page.html).not.toMatch(/<script|\son\w+=|javascript:/i);
    expect(page.html).toContain('<html lang="en">');
    expect(page.html).toContain('<h1>Sign in</h1>');
    for (const name of page.fields) expect(page.html).toMatch(new RegExp(`<label for="${name}">[^<]+</label>`));
    expect(page.html).toContain('The App');
  });

  it('has a content security policy that forbids sources the page does not use, but lets the form redirect to the client (R-B2)', async () => {
    const { headers } = await appBrowser().open(startAuthorization(api.origin).address);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`default-src 'none'`);
    expect(policy).toContain(`frame-ancestors 'none'`);
    expect(policy).toContain(`form-action 'self' ${APP_ORIGIN}`);
    expect(policy).not.toContain('unsafe-inline');
    expect(headers.get('cache-control')).toContain('no-store');
  });

  it.each([
    ['fr-BE,fr;q=0.9', 'Se connecter'],
    ['nl', 'Aanmelden'],
    ['xx, de-AT', 'Anmelden'],
    ['es', 'Sign in'],
  ])('answers Accept-Language "%s" with the heading "%s" (R-B2)', async (language, title) => {
    expect(await htmlFor(language)).toContain(`<h1>${title}</h1>`);
  });

  it('prefers ui_locales to Accept-Language (R-B2)', async () => {
    expect(await htmlFor('de', { ui_locales: 'nl fr' })).toContain('<h1>Aanmelden</h1>');
  });

  async function htmlFor(language: string, parameters = {}): Promise<string> {
    const { address } = startAuthorization(api.origin, parameters);
    const redirect = await fetch(address, { redirect: 'manual' });
    const cookie = redirect.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const headers = { 'accept-language': language, cookie };
    return (await fetch(redirect.headers.get('location') ?? '', { headers })).text();
  }

  it('shows the same message for a wrong password and an unknown user, and keeps the user name (R-B11)', async () => {
    const browser = appBrowser();
    const form = await browser.open(startAuthorization(api.origin).address);
    const wrong = await browser.submit(form, { username: 'uma', password: 'x' });
    const unknown = await browser.submit(wrong, { username: '"><b>nobody', password: 'x' });
    expect(wrong).toMatchObject({ status: 401, problem: 'The user name or password is wrong.' });
    expect(unknown).toMatchObject({ status: 401, problem: wrong.problem });
    // The existing user and the unknown user get the same warning, because a difference would reveal which users exist.
    for (const { html } of [wrong, unknown])
      expect(html).toContain('After 5 wrong passwords, sign-in is blocked for 15 min');
    expect(wrong.html).toContain('value="uma"');
    expect(unknown.html).toContain('value="&quot;&gt;&lt;b&gt;nobody"');
    expect(wrong.html).toContain('aria-describedby="problem"');
    const page = await browser.submit(unknown, { username: 'UMA', password: PASSWORD });
    expect(page.url).toMatch(/^https:\/\/app\.example\/callback\?code=/);
  });

  it('refuses the right password after five wrong ones (R-B11)', async () => {
    await addPerson(api, 'guessed');
    const browser = appBrowser();
    let page = await browser.open(startAuthorization(api.origin).address);
    for (let attempt = 1; attempt <= 5; attempt++)
      page = await browser.submit(page, { username: 'guessed', password: 'x' });
    expect(await browser.submit(page, { username: 'guessed', password: PASSWORD })).toMatchObject({ status: 401 });
  });

  it('tells a locked user about the lock only if the user enters the right password (R-B11)', async () => {
    const id = await addPerson(api, 'locked');
    await api.database.query('update app_user set is_locked = true where id = $1', [id]);
    const browser = appBrowser();
    const form = await browser.open(startAuthorization(api.origin).address);
    const wrong = await browser.submit(form, { username: 'locked', password: 'x' });
    expect(wrong.problem).toBe('The user name or password is wrong.');
    const right = await browser.submit(wrong, { username: 'locked', password: PASSWORD });
    expect(right.problem).toBe('This user is locked. Please contact the manager of your account.');
  });
});

describe('identity: a posted sign-in form', () => {
  const post = async (headers: Readonly<Record<string, string>>, isWithCookie = true) => {
    const browser = appBrowser();
    const form = await browser.open(startAuthorization(api.origin).address);
    const cookie = isWithCookie ? browser.cookiesFor(form.url) : '';
    const body = new URLSearchParams({ username: 'uma', password: PASSWORD });
    return fetch(form.url, { method: 'POST', body, redirect: 'manual', headers: { cookie, ...headers } });
  };

  it.each([
    ['comes from another site', { 'sec-fetch-site': 'cross-site' }],
    ['comes from a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['comes from another origin', { origin: 'https://evil.example' }],
    ['comes from an opaque origin', { origin: 'null' }],
    ['has the media type text/plain', { 'content-type': 'text/plain' }],
  ])('is refused when it %s (R-B2)', async (_case, headers) => {
    const response = await post(headers);
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
  });

  it('is refused when it lacks the cookies of the authorization request; all these cookies are SameSite=Lax and HttpOnly (R-B2)', async () => {
    expect((await post({ 'sec-fetch-site': 'same-origin' }, false)).status).toBe(400);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(303);
    const redirect = await fetch(startAuthorization(api.origin).address, { redirect: 'manual' });
    for (const line of redirect.headers.getSetCookie()) {
      expect(line).toMatch(/httponly/i);
      expect(line).toMatch(/samesite=lax/i);
    }
  });

  it('is refused when it has the cookies of a different authorization request (R-B2)', async () => {
    const browser = appBrowser();
    const first = await browser.open(startAuthorization(api.origin).address);
    const other = await appBrowser().open(startAuthorization(api.origin).address);
    const headers = { cookie: browser.cookiesFor(first.url), 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams({ username: 'uma', password: PASSWORD });
    expect((await fetch(other.url, { method: 'POST', body, headers, redirect: 'manual' })).status).toBe(400);
  });
});

describe('identity: the authorization code flow', () => {
  it('gives an ID token, and an access token that the API accepts (R-B2, R-B4)', async () => {
    const { page, verifier } = await signIn('uma');
    expect(new URL(page.url).searchParams.get('state')).toBe('state-1');
    const tokens = await tokensOf(page, verifier);
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'datahub-api push-data' });
    const claims = decodeJwt(String(tokens.access_token));
    expect(claims).toMatchObject({
      aud: 'tidemark',
      account: api.accountId,
      roles: ['USER'],
      preferred_username: 'uma',
    });
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ sub: claims.sub, aud: 'app' });
    const client = createTestClient(api.origin, String(tokens.access_token));
    expect((await client.get('/account')).status).toBe(200);
    expect((await client.get('/realms/tidemark/protocol/openid-connect/userinfo')).body).toEqual({
      ...{ sub: claims.sub, preferred_username: 'uma', name: 'Uma', given_name: 'Uma', email: 'uma@north.example' },
      ...{ locale: 'en', roles: ['USER'], account: api.accountId },
    });
  });

  it('gives tokens for the account that the parameter `account` names; a refresh keeps this account (R-B4)', async () => {
    const account = String(api.otherAccountId);
    const { page, verifier } = await signIn('both', { account });
    const tokens = await tokensOf(page, verifier);
    expect(decodeJwt(String(tokens.access_token)).account).toBe(api.otherAccountId);
    const form = { grant_type: 'refresh_token', client_id: 'app', refresh_token: String(tokens.refresh_token) };
    const refreshed = await postToken(api.origin, form);
    expect(decodeJwt(String(refreshed.body.access_token)).account).toBe(api.otherAccountId);
  });

  it('ends with the error `access_denied` when the user is not a member of the requested account (R-B4)', async () => {
    const { page } = await signIn('uma', { account: String(api.otherAccountId) });
    expect(new URL(page.url).searchParams.get('error')).toBe('access_denied');
  });

  it('asks for credentials once per browser; in a browser without a session, `prompt=none` ends with the error `login_required` (R-B2)', async () => {
    const { browser } = await signIn('uma');
    const again = await browser.open(startAuthorization(api.origin).address);
    expect(again.url).toContain(`${APP_CALLBACK}?code=`);
    const silent = await appBrowser().open(startAuthorization(api.origin, { prompt: 'none' }).address);
    expect(new URL(silent.url).searchParams.get('error')).toBe('login_required');
  });

  it.each(['login_hint', 'state', 'nonce', 'ui_locales'])(
    'refuses a %s that contains NUL, and the error names the parameter (R-A5)',
    async (name) => {
      const { address } = startAuthorization(api.origin, { [name]: 'a\0b' });
      const refused = await fetch(address, { redirect: 'manual', headers: { accept: 'text/html' } });
      const target = new URL(refused.headers.get('location') ?? 'x:nowhere');
      expect([refused.status, target.searchParams.get('error')]).toEqual([303, 'invalid_request']);
      expect(target.searchParams.get('error_description')).toMatch(new RegExp(`^${name} must not contain U\\+0000`));
    },
  );

  it('requires PKCE with S256 and the matching verifier, a registered `redirect_uri` and an unused code (R-B2)', async () => {
    const { page, verifier } = await signIn('uma');
    expect((await exchangeCode(api.origin, page.url, 'x'.repeat(43))).status).toBe(400);
    const second = await signIn('uma');
    await tokensOf(second.page, second.verifier);
    expect((await exchangeCode(api.origin, second.page.url, second.verifier)).status).toBe(400);
    const plain = await appBrowser().open(startAuthorization(api.origin, { code_challenge_method: 'plain' }).address);
    expect(new URL(plain.url).searchParams.get('error')).toBe('invalid_request');
    const bare = new URL(startAuthorization(api.origin).address);
    for (const name of ['code_challenge', 'code_challenge_method']) bare.searchParams.delete(name);
    const unprotected = await appBrowser().open(bare.href);
    expect(new URL(unprotected.url).searchParams.get('error')).toBe('invalid_request');
    const elsewhere = { redirect_uri: 'https://evil.example/callback' };
    const refused = await appBrowser().open(startAuthorization(api.origin, elsewhere).address);
    expect(refused).toMatchObject({ status: 400, title: 'Something went wrong' });
    expect(refused.html).toContain('invalid_redirect_uri: redirect_uri did not match any of the client');
    expect(refused.html).not.toContain('evil.example');
    expect(verifier).toHaveLength(43);
  });

  it('shows the sign-in page to a user who was locked after signing in (R-B5)', async () => {
    const id = await addPerson(api, 'soon');
    const { browser } = await signIn('soon');
    await api.database.query('update app_user set is_locked = true where id = $1', [id]);
    const page = await browser.open(startAuthorization(api.origin).address);
    expect(page.title).toBe('Sign in');
  });

  it('shows the page “This page has expired” for an unknown interaction (R-B2)', async () => {
    const page = await appBrowser().open(`${api.origin}/realms/tidemark/interaction/unknown`);
    expect(page).toMatchObject({ status: 400, title: 'This page has expired' });
  });
});

describe('identity: sign-out', () => {
  it('asks for confirmation, ends the session and redirects to the client (R-B2)', async () => {
    const { browser, page, verifier } = await signIn('uma');
    const tokens = await tokensOf(page, verifier);
    const address = new URL(`${api.origin}/realms/tidemark/protocol/openid-connect/logout`);
    address.searchParams.set('id_token_hint', String(tokens.id_token));
    address.searchParams.set('post_logout_redirect_uri', `${APP_ORIGIN}/bye`);
    const question = await browser.open(address.href);
    expect(question.title).toBe('Sign out');
    const bye = await browser.submit(question, { logout: 'yes' });
    expect(bye.url).toBe(`${APP_ORIGIN}/bye`);
    expect((await browser.open(startAuthorization(api.origin).address)).title).toBe('Sign in');
    const form = { grant_type: 'refresh_token', client_id: 'app', refresh_token: String(tokens.refresh_token) };
    expect((await postToken(api.origin, form)).body.error).toBe('invalid_grant');
  });

  it('redirects only to URLs that the client registered (R-B2)', async () => {
    const { browser } = await signIn('uma');
    const path = '/realms/tidemark/protocol/openid-connect/logout';
    const evil = `${api.origin}${path}?client_id=app&post_logout_redirect_uri=https%3A%2F%2Fevil.example`;
    expect((await browser.open(evil)).status).toBe(400);
    const question = await browser.open(`${api.origin}${path}`);
    expect((await browser.submit(question, { logout: 'yes' })).title).toBe('You are signed out');
  });
});

describe('identity: userinfo', () => {
  const PATH = '/realms/tidemark/protocol/openid-connect/userinfo';

  it('accepts a token issued by this server, and refuses other credentials (R-B2)', async () => {
    expect((await api.manager.get(PATH)).body).toMatchObject({ preferred_username: 'max', account: api.accountId });
    for (const authorization of ['', 'Bearer x', 'Basic eDp5']) {
      const response = await fetch(api.origin + PATH, { headers: { authorization } });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
    }
  });

  it('refuses tokens that were issued before the user’s tokens_valid_from (R-B7)', async () => {
    const { token } = api.manager;
    const ask = async () => (await fetch(api.origin + PATH, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await ask()).toBe(200);
    const setValidFrom = (value: string) =>
      api.database.query(`update app_user set tokens_valid_from = ${value} where user_name = 'max'`);
    await setValidFrom(`now() + interval '1 min'`);
    expect(await ask()).toBe(401);
    await setValidFrom('null');
    expect(await ask()).toBe(200);
  });
});
