import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerClient } from '../../../src/accounts/clients/client-store.ts';
import { readConfig } from '../../../src/config.ts';
import { openBasicAuthentication } from '../../../src/identity/authentication/authenticate-push.ts';
import { type ExchangePassword, exchangeAtEndpoint } from '../../../src/identity/authentication/exchange-password.ts';
import { cacheVerifiedTokens } from '../../../src/identity/authentication/verified-token-cache.ts';
import type { VerifiedToken } from '../../../src/identity/authentication/verify-token.ts';
import { signIn } from '../../../src/identity/passwords/sign-in.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { DomainError, ERROR_MAPPINGS } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';
import { openParts } from '../../../src/roles/parts.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { addUser } from '../../support/fixtures/accounts.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const PASSWORD = 'correct: hörse';

let api: TestApi;
let variableId: number;
beforeAll(async () => {
  api = await startTestApi({ SIGN_IN_MAX_FAILURES: '3', TOKEN_RATE_PER_MINUTE: '1000' });
  ({ variableId } = await createStructure(api.manager));
});
afterAll(() => api.close());

const encoded = (text: string) => `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
const push = (authorization?: string) =>
  createTestClient(api.origin).post('/api/data', [{ variableId, data: [] }], {
    ...(authorization !== undefined && { authorization }),
  });

function addPusher(userName: string, mayPush = true): Promise<string> {
  return addUser(api.database, userName, { role: 'MANAGER', password: PASSWORD, accountIds: [api.accountId], mayPush });
}

describe('push: HTTP Basic', () => {
  it('is accepted with the password in UTF-8 or Latin-1, and with the scheme and the user name in upper or lower case (§5, R-B7)', async () => {
    await addPusher('ann@example.test');
    expect((await push(encoded(`ann@example.test:${PASSWORD}`))).status).toBe(200);
    const latin1 = Buffer.from(`ann@example.test:${PASSWORD}`, 'latin1').toString('base64');
    expect((await push(`Basic ${latin1}`)).status).toBe(200);
    expect((await push(encoded(`ANN@example.test:${PASSWORD}`).replace('Basic', 'basic'))).status).toBe(200);
  });

  it.each([
    ['a wrong password', encoded('ann@example.test:wrong')],
    ['an unknown name', encoded(`nobody:${PASSWORD}`)],
    ['credentials without a colon', encoded('ann')],
    ['invalid base64', 'Basic %%%'],
    ['nothing after the scheme', 'Basic'],
  ])('a request with %s is refused with 401 and a challenge (R-B7, R-A5)', async (_what, authorization) => {
    const answer = await push(authorization);
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="tidemark", charset="UTF-8"');
  });

  it('is offered in the challenge, next to Bearer, only when the request has no credentials (R-A5)', async () => {
    const answer = await push();
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*, Basic realm/);
    expect((await push('Bearer x')).headers.get('www-authenticate')).not.toContain('Basic');
  });

  it('is accepted for pushes and reads, and is refused for every other request (R-A13, R-B6)', async () => {
    const client = createTestClient(api.origin);
    const headers = { authorization: encoded(`ann@example.test:${PASSWORD}`) };
    expect((await client.get('/sites', headers)).status).toBe(200);
    expect((await fetch(`${api.origin}/sites`, { method: 'HEAD', headers })).status).toBe(200);
    expect((await client.get(`/data?variableId=${variableId}`, headers)).status).toBe(200);
    expect((await client.post('/data', { variableIds: [variableId] }, headers)).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/sites'],
      ['DELETE', '/data'],
      ['PUT', '/account'],
    ] as const) {
      expect((await client.send(method, path, {}, { headers })).status, `${method} ${path}`).toBe(401);
    }
  });

  it('a 401 answer to a read offers HTTP Basic, but not to scripts in web pages (R-A13, R-A5)', async () => {
    const client = createTestClient(api.origin);
    const challengeTo = async (headers: Readonly<Record<string, string>>) => {
      const answer = await client.get('/sites', headers);
      expect(answer.status).toBe(401);
      return answer.headers.get('www-authenticate');
    };
    expect(await challengeTo({ authorization: encoded('ann@example.test:wrong') })).toMatch(/^Basic realm/);
    expect(await challengeTo({})).toMatch(/^Bearer .*, Basic realm/);
    expect(await challengeTo({ 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' })).toMatch(/^Bearer [^,]*$/);
  });

  it('a push by a user without the permission to push is refused with 403 (R-B8)', async () => {
    await addPusher('paul', false);
    expect(await push(encoded(`paul:${PASSWORD}`))).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  it('a locked user, or a user who must change the password, is refused with 401 (R-B5, R-B10, R-B11)', async () => {
    const [locked, fresh] = [await addPusher('lola'), await addPusher('fred')];
    expect((await push(encoded(`lola:${PASSWORD}`))).status).toBe(200);
    await api.database.query('update app_user set is_locked = true where id = $1', [locked]);
    await api.database.query('update app_user set must_change_password = true where id = $1', [fresh]);
    expect((await push(encoded(`lola:${PASSWORD}`))).status).toBe(401);
    expect((await push(encoded(`fred:${PASSWORD}`))).status).toBe(401);
  });

  it('after too many wrong passwords, the right password is refused too, unless it is cached (R-B11)', async () => {
    const cached = await addPusher('ivan');
    expect((await push(encoded(`ivan:${PASSWORD}`))).status).toBe(200);
    // Deletes the record of the user's sign-in from this network. Without the record, the limit for this network is 3
    // wrong passwords instead of 60.
    await api.database.query('delete from sign_in_source where user_id = $1', [cached]);
    const other = await addPusher('olga');
    for (const [name, tries] of [
      ['ivan', 3],
      ['olga', 3],
    ] as const) {
      for (let count = 0; count < tries; count += 1) await push(encoded(`${name}:wrong ${count}`));
    }
    expect((await push(encoded(`ivan:${PASSWORD}`))).status).toBe(200);
    expect((await push(encoded(`olga:${PASSWORD}`))).status).toBe(401);
    await api.database.query('delete from sign_in_source where user_id = $1', [other]);
    expect((await push(encoded(`olga:${PASSWORD}`))).status).toBe(200);
  });

  it('wrong passwords count toward one limit, whether they arrive by HTTP Basic or at the token endpoint, and in whichever process (R-B11)', async () => {
    const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = api.parts.config;
    const elsewhere = openParts(readConfig({ DATABASE_URL, REDIS_URL, QUEUE_PREFIX }), createLog('silent', 'test'));
    try {
      await addPusher('petra');
      const policy = { maxFailures: 3, lockSec: 900, proxyHops: 0 };
      const wrong = { userName: 'petra', password: 'x', network: '127.0.0.1' };
      await push(encoded('petra:wrong'));
      const form = { grant_type: 'password', client_id: 'demo', client_secret: 's3cret', username: 'petra' };
      await expect(requestToken(api.origin, { ...form, password: 'x' })).rejects.toThrow('invalid_grant');
      await signIn(elsewhere.database, wrong, policy, systemClock);
      expect((await push(encoded(`petra:${PASSWORD}`))).status).toBe(401);
      await expect(requestToken(api.origin, { ...form, password: PASSWORD })).rejects.toThrow('invalid_grant');
    } finally {
      await elsewhere.close();
    }
  });

  it('is refused with 429 after too many attempts in a minute (R-B15)', async () => {
    const strict = await startTestApi({ TOKEN_RATE_PER_MINUTE: '6' });
    try {
      const client = createTestClient(strict.origin);
      const statuses: number[] = [];
      for (let count = 0; count < 8; count += 1) {
        const headers = { authorization: encoded(`unknown:${count}`) };
        statuses.push((await client.post('/api/data', [], headers)).status);
      }
      expect(statuses.at(-1)).toBe(429);
    } finally {
      await strict.close();
    }
  });
});

const VERIFIED: VerifiedToken = {
  ...{ issuer: 'i', subject: 's', accountId: 1, scopes: new Set(['push-data']), roles: new Set<string>() },
  ...{ actorSubject: undefined, verifiedEmail: undefined, businessId: undefined },
};

describe('push: a cached exchange of a Basic password for a token', () => {
  it('lasts as long as the token; refusals are not cached (R-B7)', async () => {
    let now = 1_000_000;
    const tried: string[] = [];
    const exchangePassword: ExchangePassword = async ({ userName, password }) => {
      tried.push(`${userName}:${password}`);
      await Promise.resolve();
      if (password !== 'right') throw new DomainError('invalid_token', 'wrong');
      return { verified: VERIFIED, ttlSec: 100 };
    };
    const app = createBasicApp(exchangePassword, { nowMillis: () => now });
    const ask = async (text: string) => (await app.request('/', { headers: { authorization: encoded(text) } })).status;
    expect(await Promise.all([ask('a:right'), ask('a:right'), ask('a:right')])).toEqual([200, 200, 200]);
    expect(await ask('a:right')).toBe(200);
    expect(tried).toEqual(['a:right']);
    expect([await ask('a:wrong'), await ask('a:wrong')]).toEqual([401, 401]);
    expect(tried).toHaveLength(3);
    now += 99_999;
    expect(await ask('a:right')).toBe(200);
    expect(tried).toHaveLength(3);
    now += 1;
    expect(await ask('a:right')).toBe(200);
    expect(tried).toHaveLength(4);
  });

  function createBasicApp(exchangePassword: ExchangePassword, clock: { nowMillis: () => number }) {
    const callers = async () => ({
      ...{ userId: 's', userName: 's', accountId: 1, role: 'USER' as const, sites: 'all' as const },
      ...{ permissions: new Set<string>(), scopes: new Set<string>() },
    });
    const { verifier } = api.parts.authentication;
    const app = new Hono();
    app.use('*', openBasicAuthentication({ verifier, callers, exchangePassword, clock })('push-data'));
    app.get('/', (c) => c.text('in'));
    app.onError((error, c) => c.text('', error instanceof DomainError ? ERROR_MAPPINGS[error.code].http : 500));
    return app;
  }
});

describe('push: HTTP Basic with PUSH_BASIC_TOKEN_URL, the token endpoint of an issuer', () => {
  const exchangeAt = (url: string, clientSecret = 's3cret') =>
    exchangeAtEndpoint({ url, clientId: 'demo', clientSecret, verifier: api.parts.authentication.verifier, fetch });
  const endpoint = () => `${api.origin}/realms/tidemark/protocol/openid-connect/token`;

  it('the service takes the account, scopes and lifetime from the answer of the endpoint (R-B7)', async () => {
    const { verified, ttlSec } = await exchangeAt(endpoint())({ userName: 'ann@example.test', password: PASSWORD });
    expect(verified).toMatchObject({ accountId: api.accountId, scopes: new Set(['datahub-api', 'push-data']) });
    expect(ttlSec).toBe(3600);
  });

  it('if the issuer refuses the scope for reads, the service requests a token for pushes alone (R-A13, R-B7)', async () => {
    await registerClient(api.database, { clientId: 'pusher', secret: 'p', scopes: ['push-data'] });
    const asked: (string | null)[] = [];
    const strict: typeof fetch = async (url, init) => {
      const scope = new URLSearchParams(init?.body as URLSearchParams).get('scope');
      asked.push(scope);
      return scope === 'push-data' ? fetch(url, init) : Response.json({ error: 'invalid_scope' }, { status: 400 });
    };
    const { verifier } = api.parts.authentication;
    const client = { url: endpoint(), clientId: 'pusher', clientSecret: 'p', verifier, fetch: strict };
    const { verified } = await exchangeAtEndpoint(client)({ userName: 'ann@example.test', password: PASSWORD });
    expect(asked).toEqual(['push-data datahub-api', 'push-data']);
    expect(verified.scopes).toEqual(new Set(['push-data']));
  });

  it('the cause of the error `dependency_unavailable` names the endpoint and its answer (R-A5)', async () => {
    const credentials = { userName: 'ann', password: 'x' };
    await expect(exchangeAt(endpoint(), 'x')(credentials)).rejects.toMatchObject({
      cause: { message: `PUSH_BASIC_TOKEN_URL (${endpoint()}) answered invalid_client` },
    });
    await expect(exchangeAt('http://127.0.0.1:1/')(credentials)).rejects.toMatchObject({
      cause: { message: 'PUSH_BASIC_TOKEN_URL (http://127.0.0.1:1/) did not answer with JSON' },
    });
  });

  it.each([
    [
      'invalid_token',
      'the user’s credentials are wrong',
      () => exchangeAt(endpoint())({ userName: 'ann', password: 'x' }),
    ],
    [
      'dependency_unavailable',
      'the client secret is wrong',
      () => exchangeAt(endpoint(), 'x')({ userName: 'ann', password: 'x' }),
    ],
    [
      'dependency_unavailable',
      'the issuer cannot be reached',
      () => exchangeAt('http://127.0.0.1:1/')({ userName: 'ann', password: 'x' }),
    ],
    [
      'dependency_unavailable',
      'the answer of the issuer has no token',
      () => exchangeAt(`${api.origin}/health/live`)({ userName: 'ann', password: 'x' }),
    ],
  ])('getting a token fails with the code %s when %s (R-B7, R-A5)', async (code, _cause, exchange) => {
    await expect(exchange()).rejects.toMatchObject({ code });
  });
});

describe('push: a verified token', () => {
  it('is verified again after a minute, or earlier if it expires (R-B1)', async () => {
    let now = Date.UTC(2026, 0, 1);
    let asked = 0;
    const verifier = cacheVerifiedTokens(
      async () => {
        asked += 1;
        return VERIFIED;
      },
      { nowMillis: () => now },
    );
    const token = (lifeSec: number) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'RS256' })}.${part({ exp: now / 1000 + lifeSec })}.x`;
    };
    const [long, short] = [token(3600), token(10)];
    for (const one of [long, short, long, short]) await verifier(one);
    expect(asked).toBe(2);
    now += 10_000;
    for (const one of [long, short]) await verifier(one);
    expect(asked).toBe(3);
    now += 49_999;
    await verifier(long);
    expect(asked).toBe(3);
    now += 1;
    await verifier(long);
    expect(asked).toBe(4);
  });
});
