/** Tests HTTP Basic. Functions in this file stand in for the issuer. */
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { openBasicAuthentication } from '../../../src/identity/authentication/authenticate-push.ts';
import type { ExchangePassword } from '../../../src/identity/authentication/exchange-password.ts';
import type { VerifiedToken } from '../../../src/identity/authentication/verify-token.ts';
import type { FindCaller } from '../../../src/identity/caller/find-caller.ts';
import { DomainError, ERROR_MAPPINGS } from '../../../src/platform/errors.ts';

const HOST = 'tidemark.example';
const LISTED = 'https://app.example';
const EVIL = 'https://evil.example';

const verified = (...scopes: readonly string[]): VerifiedToken => ({
  ...{ issuer: 'i', subject: 's', accountId: 1, scopes: new Set(scopes), roles: new Set<string>() },
  ...{ actorSubject: undefined, verifiedEmail: undefined, businessId: undefined },
});
const findCaller: FindCaller = async () => ({
  ...{ userId: 's', userName: 's', accountId: 1, role: 'USER' as const, sites: 'all' as const },
  ...{ permissions: new Set<string>(), scopes: new Set<string>() },
});
const acceptRight: ExchangePassword = async ({ password }) => {
  if (password !== 'right') throw new DomainError('invalid_token', 'wrong');
  return { verified: verified('push-data'), ttlSec: 100 };
};

/** @returns a function that sends a request with Basic credentials. */
function openApp(exchangePassword: ExchangePassword, callers: FindCaller = findCaller) {
  const verifier = async () => verified();
  const app = new Hono();
  const corsOrigins = [LISTED, '*'];
  app.use('*', openBasicAuthentication({ verifier, callers, exchangePassword, corsOrigins })('push-data'));
  app.all('/', (c) => c.text('in'));
  app.onError((error, c) =>
    c.text(error.message, error instanceof DomainError ? ERROR_MAPPINGS[error.code].http : 500),
  );
  return (method: string, headers: Readonly<Record<string, string>> = {}, password = 'right') => {
    const authorization = `Basic ${Buffer.from(`ann:${password}`).toString('base64')}`;
    return app.request('/', { method, headers: { host: HOST, authorization, ...headers } });
  };
}

describe('HTTP Basic: the origin of a request', () => {
  test.each([
    ['an HTML form of another web site', { 'sec-fetch-site': 'cross-site', origin: EVIL }],
    ['an HTML form of another host of the site', { 'sec-fetch-site': 'same-site', origin: `https://www.${HOST}` }],
    ['an HTML form without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['a sandboxed web page', { origin: 'null' }],
    ['a web page of another origin in an old browser', { origin: EVIL }],
  ])(
    'with HTTP Basic, %s may read but not write (R-A13, R-B7)',
    async (_page, headers: Readonly<Record<string, string>>) => {
      const send = openApp(acceptRight);
      const refused = await send('POST', headers);
      expect(refused.status).toBe(403);
      const { origin } = headers;
      const advice = origin?.startsWith('https:') ? `add ${origin} to the setting CORS_ORIGINS` : 'send a bearer token';
      const text = await refused.text();
      expect(text).toMatch(/page of another origin, because .*; send a bearer token/);
      expect(text.endsWith(advice), text).toBe(true);
      for (const method of ['GET', 'HEAD']) expect((await send(method, headers)).status, method).toBe(200);
    },
  );

  test.each([
    ['a program', {}],
    ['a program that uses fetch of Node', { 'sec-fetch-mode': 'cors' }],
    ['a page of the service', { 'sec-fetch-site': 'same-origin', origin: `https://${HOST}` }],
    ['a page of the service in an old browser', { origin: `https://${HOST}` }],
    ['a request that no page started (Sec-Fetch-Site: none)', { 'sec-fetch-site': 'none' }],
    ['a page of an origin in CORS_ORIGINS', { 'sec-fetch-site': 'cross-site', origin: LISTED }],
  ])('with HTTP Basic, %s may write (R-A13, R-B7)', async (_page, headers: Readonly<Record<string, string>>) => {
    expect((await openApp(acceptRight)('POST', headers)).status).toBe(200);
  });
});

describe('HTTP Basic: refusals', () => {
  test('for wrong credentials, a script in a page gets the challenge Bearer, and other clients get the challenge Basic (R-A5, R-A13)', async () => {
    const send = openApp(acceptRight);
    const challengeTo = async (headers: Readonly<Record<string, string>>) => {
      const answer = await send('POST', headers, 'wrong');
      expect(answer.status).toBe(401);
      return answer.headers.get('www-authenticate');
    };
    const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };
    expect(await challengeTo(script)).toBe('Bearer realm="tidemark"');
    expect(await challengeTo({})).toBe('Basic realm="tidemark", charset="UTF-8"');
  });

  test.each(['Basic', 'Basic %%%', `Basic ${btoa('ann')}`])(
    'the error for the header "%s" says that the header has no user name (R-B7, R-A5)',
    async (authorization) => {
      const answer = await openApp(acceptRight)('POST', { authorization });
      expect(answer.status).toBe(401);
      expect(await answer.text()).toMatch(/<base64 of user name, colon and password>, got no user name$/);
    },
  );

  test('a request is refused when the token cached for its credentials is no longer valid and the issuer no longer grants the scope (R-B6, R-B7)', async () => {
    const granted = [verified('push-data'), verified('datahub-api')];
    let isStale = false;
    const callers: FindCaller = async (token) => {
      if (isStale && token.scopes.has('push-data')) throw new DomainError('invalid_token', 'stale');
      return findCaller(token);
    };
    const send = openApp(async () => ({ verified: granted.shift() as VerifiedToken, ttlSec: 100 }), callers);
    expect((await send('POST')).status).toBe(200);
    isStale = true;
    expect((await send('POST')).status).toBe(403);
    expect(granted).toEqual([]);
  });
});
