/** Errors at URLs of HTML pages: browsers get an error page in their language, programs get JSON. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passwordGrant } from '../../support/fixtures/accounts.ts';
import { type GatedTestApi, startGatedTestApi } from '../../support/services/start-api.ts';

let api: GatedTestApi;
beforeAll(async () => {
  api = await startGatedTestApi({ TOKEN_RATE_PER_MINUTE: '4', PROXY_HOPS: '1' });
});
afterAll(() => api.close());

const REALM = '/realms/tidemark';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

interface Asked {
  readonly method?: string;
  readonly accept?: string;
  readonly language?: string;
  /** Address of the client. Attempts are limited per address, so each test of this limit has its own address. */
  readonly address?: string;
}

async function ask(path: string, { method = 'GET', accept = BROWSER, language = 'en', address = 'a' }: Asked = {}) {
  const response = await fetch(api.origin + path, {
    method,
    headers: {
      ...{ accept, 'accept-language': language, 'x-forwarded-for': address, 'sec-fetch-site': 'same-origin' },
      ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(method === 'POST' && { body: 'username=nobody' }),
  });
  const { status, headers } = response;
  return { status, headers, type: headers.get('content-type') ?? '', text: await response.text() };
}

async function askTooOften(path: string, asked: Asked) {
  await Promise.all(Array.from({ length: 4 }, () => ask(path, { ...asked, method: 'POST' })));
  return ask(path, { ...asked, method: 'POST' });
}

describe('identity: the answer to too many attempts', () => {
  it.each([
    ['en', 'Too many attempts', /Please wait \d+ seconds?, then try again\./],
    ['de-AT', 'Zu viele Versuche', /warten Sie \d+ Sekunden? und/],
    ['fr', 'Trop de tentatives', /attendre \d+\ssecondes?, puis/],
    ['nl', 'Te veel pogingen', /Wacht \d+ seconden? en/],
  ])(
    'is a page that states the time to wait, in the language %s when the browser prefers it (R-B15, R-B2)',
    async (language, title, lead) => {
      const { status, headers, type, text } = await askTooOften(`${REALM}/forgot-password`, {
        language,
        address: language,
      });
      expect({ status, type }).toEqual({ status: 429, type: 'text/html; charset=utf-8' });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).toContain(`<html lang="${language.slice(0, 2)}">`);
      expect(text).toContain(`<h1>${title}</h1>`);
      expect(text).toMatch(lead);
    },
  );

  it('is an HTML page when a browser tries too often to accept an invitation (R-B15, R-B10)', async () => {
    expect((await askTooOften('/account/invitation?token=x', { address: 'guest' })).text).toContain(
      'Too many attempts',
    );
  });

  it.each([
    ['a program that accepts any type', `${REALM}/protocol/openid-connect/token`, '*/*'],
    ['a program that wants JSON', `${REALM}/forgot-password`, 'application/json'],
    ['a browser at an API path', '/account/user/register?invitationToken=x', BROWSER],
  ])('is JSON for %s (R-B15, R-A5)', async (client, path, accept) => {
    const { status, headers, text } = await askTooOften(path, { accept, address: client });
    expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('has the members `error` and `error_description` besides `message` at the token endpoint (R-B3, R-B15)', async () => {
    const path = `${REALM}/protocol/openid-connect/token`;
    const body = JSON.parse((await askTooOften(path, { accept: '*/*', address: 'oauth' })).text);
    expect(body).toMatchObject({ error: 'temporarily_unavailable', error_description: body.message });
  });
});

describe('identity: paths of the issuer', () => {
  it('for an unknown path, browsers get a page and programs get JSON (R-A5)', async () => {
    const page = await ask(`${REALM}/nowhere`, { language: 'fr' });
    expect(page).toMatchObject({ status: 404, text: expect.stringContaining('Page introuvable') });
    const answer = await ask(`${REALM}/nowhere`, { accept: '*/*' });
    expect({ status: answer.status, body: JSON.parse(answer.text) }).toMatchObject({
      ...{ status: 404, body: { error: 'not_found' } },
    });
  });

  it.each([
    ['/reset-password?token=old', 'token'],
    ['/interaction/unknown', 'interaction'],
  ])('if %s contains an unknown %s, the answer says that the link or page has expired (R-B11)', async (path) => {
    expect(await ask(REALM + path, { language: 'nl' })).toMatchObject({
      ...{ status: 400, text: expect.stringContaining('Deze pagina is verlopen') },
    });
    const answer = await ask(REALM + path, { accept: 'application/json' });
    expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({
      status: 400,
      body: { code: 'invalid_input', message: expect.stringContaining('has expired'), requestId: expect.any(String) },
    });
    expect(answer.headers.get('x-request-id')).toBe(JSON.parse(answer.text).requestId);
  });
});

it('identity: while the database is down, a request for a page gets 503: browsers get a page with the request id, programs get JSON (R-A5, R-A10)', async () => {
  await api.databaseGate.shut();
  try {
    const signIn = `${REALM}/protocol/openid-connect/auth?client_id=unknown&response_type=code`;
    for (const path of [signIn, `${REALM}/reset-password?token=x`, '/account/invitation?token=x']) {
      const page = await ask(path, { language: 'de' });
      expect(page).toMatchObject({
        status: 503,
        text: expect.stringContaining('Ein Teil des Dienstes ist nicht verfügbar'),
      });
      expect(page.text).toContain(`Referenz: ${page.headers.get('x-request-id')}`);
      expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
      const answer = await ask(path, { accept: '*/*' });
      expect({ status: answer.status, body: JSON.parse(answer.text) }).toMatchObject({
        ...{ status: 503, body: { code: 'dependency_unavailable' } },
      });
    }
  } finally {
    await api.databaseGate.open();
  }
});

it('identity: while the database is down, a token request gets 503, Retry-After and the error body of RFC 6749 (R-A5, R-B3)', async () => {
  await api.databaseGate.shut();
  try {
    const form = new URLSearchParams(passwordGrant('nobody'));
    const response = await fetch(`${api.origin}${REALM}/protocol/openid-connect/token`, { method: 'POST', body: form });
    const body = (await response.json()) as { readonly message: string };
    expect({ status: response.status, body }).toMatchObject({
      ...{ status: 503, body: { code: 'dependency_unavailable', error: 'temporarily_unavailable' } },
    });
    expect(body).toMatchObject({ error_description: body.message });
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  } finally {
    await api.databaseGate.open();
  }
});

it('identity: a browser that requests an API path without a token gets 401 in JSON (R-A5)', async () => {
  const { status, text } = await ask('/account');
  expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
});
