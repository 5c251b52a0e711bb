import { createSecretKey, randomBytes } from 'node:crypto';
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import { authenticateBearer } from '../../../src/identity/authentication/authenticate.ts';
import { createCallerCache } from '../../../src/identity/caller/find-caller.ts';
import { addUser } from '../../support/fixtures/accounts.ts';
import { grantSiteAccess } from '../../support/fixtures/grant-site-access.ts';
import { basic, CLIENT, type IdentityFixture, PASSWORD, startIdentity } from './identity-fixture.ts';

let identity: IdentityFixture;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

async function tokenOf(username: string, form: Readonly<Record<string, string>> = {}): Promise<string> {
  const client = { client_id: CLIENT.clientId, client_secret: CLIENT.secret };
  const answer = await identity.requestToken({
    ...client,
    grant_type: 'password',
    username,
    password: PASSWORD,
    ...form,
  });
  expect(answer.status).toBe(200);
  return answer.body.access_token ?? '';
}

async function call(path: string, token: string | undefined, method = 'GET') {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${identity.origin}${path}`, { method, headers });
  const text = await response.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text };
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body };
}

describe('identity: a bearer token', () => {
  it('with a valid token, GET /account/me returns the user, account, role, permissions, scopes and sites of the caller (R-B1, R-B5)', async () => {
    expect(await call('/account/me', await tokenOf('max'))).toMatchObject({
      status: 200,
      body: {
        userId: identity.users.max,
        userName: 'max',
        accountId: identity.accountId,
        role: 'MANAGER',
        permissions: ['datapusher.standard'],
        scopes: ['datahub-api', 'push-data'],
        sites: 'all',
      },
    });
  });

  it('a request without a token, or with HTTP Basic, gets 401 with a Bearer challenge (R-A5)', async () => {
    const missing = await call('/account/me', undefined);
    expect(missing).toMatchObject({
      status: 401,
      challenge: 'Bearer realm="tidemark"',
      body: { code: 'invalid_token' },
    });
    const headers = { authorization: basic('max:x') };
    const other = await fetch(`${identity.origin}/account/me`, { headers });
    expect(other.status).toBe(401);
    expect(other.headers.get('www-authenticate')).toBe('Bearer realm="tidemark", error="invalid_token"');
  });

  it('a token that was tampered with gets 401 (R-B1)', async () => {
    const [header, payload, signature] = (await tokenOf('uma')).split('.');
    const forged = { ...JSON.parse(Buffer.from(payload ?? '', 'base64url').toString()), sub: identity.users.ada };
    const token = [header, Buffer.from(JSON.stringify(forged)).toString('base64url'), signature].join('.');
    expect(await call('/account/me', token)).toMatchObject({
      status: 401,
      challenge: 'Bearer realm="tidemark", error="invalid_token"',
      body: { code: 'invalid_token', message: 'the signature of the token cannot be verified' },
    });
  });

  it.each(['none', 'HS256'])(
    'a token with the algorithm %s gets 401, because only asymmetric algorithms are accepted (R-B1)',
    async (algorithm) => {
      const claims = decodeJwt(await tokenOf('max'));
      const { keys } = (await identity.getJson('/realms/tidemark/protocol/openid-connect/certs')) as {
        keys: readonly { readonly kid: string; readonly n: string }[];
      };
      const [key] = keys;
      // The case HS256: an attacker signs a token with the public key as the shared secret.
      const secret = createSecretKey(Buffer.from(key?.n ?? '', 'base64url'));
      const token =
        algorithm === 'none'
          ? new UnsecuredJWT(claims).encode()
          : await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: key?.kid ?? '' }).sign(secret);
      const message = expect.stringMatching(/^the token must be signed with one of the algorithms RS256, .*EdDSA$/);
      expect(await call('/account/me', token)).toMatchObject({ status: 401, body: { code: 'invalid_token', message } });
    },
  );

  it('a token from an untrusted issuer, or a text that is not a JWT, gets 401 (R-B1)', async () => {
    const secret = createSecretKey(randomBytes(32));
    const foreign = await new SignJWT({ sub: 'x', iss: 'https://elsewhere.example' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(secret);
    expect(await call('/account/me', foreign)).toMatchObject({
      body: { message: 'the issuer of the token must be a trusted issuer, got "https://elsewhere.example"' },
    });
    for (const token of [foreign, 'x', 'a.b.c']) {
      expect(await call('/account/me', token)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    }
  });

  it('a token without the required scope gets 403, and the answer names the scope (R-B6)', async () => {
    const pushOnly = await tokenOf('max', { scope: 'push-data' });
    expect(await call('/account/me', pushOnly)).toMatchObject({
      status: 403,
      challenge: 'Bearer realm="tidemark", error="insufficient_scope", scope="datahub-api"',
      body: { code: 'insufficient_scope' },
    });
    const apiOnly = await tokenOf('max', { scope: 'datahub-api' });
    expect(await call('/api/data', apiOnly, 'POST')).toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_scope',
        message: expect.stringMatching(/^the token must have the scope push-data, got .*datahub-api/),
      },
    });
    expect((await call('/api/data', pushOnly, 'POST')).status).toBe(200);
  });

  it('for gRPC, authenticateBearer accepts a valid token and throws `invalid_token` when the Authorization header is missing (R-J2)', async () => {
    const callers = createCallerCache({ database: identity.database, cacheSec: 0 });
    const authentication = { verifier: identity.verifier, callers };
    const caller = await authenticateBearer(authentication, `bearer ${await tokenOf('max')}`, 'datahub-api');
    expect(caller.userName).toBe('max');
    await expect(authenticateBearer(authentication, undefined, 'datahub-api')).rejects.toMatchObject({
      code: 'invalid_token',
    });
  });
});

describe('caller: permissions', () => {
  it('a user can push only if the user has the permission to push in the account that the token names (R-B8)', async () => {
    const inOther = await tokenOf('max', { account: String(identity.otherAccountId) });
    expect(await call('/api/data', inOther, 'POST')).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
    expect((await call('/api/data', await tokenOf('max'), 'POST')).status).toBe(200);
  });

  it('a claim with the value false grants nothing (R-B8)', async () => {
    const userId = await newUser('denied');
    await addClaim(identity.database, {
      accountId: identity.accountId,
      userId,
      claimType: 'datapusher.standard',
      claimValue: 'false',
    });
    expect((await call('/api/data', await tokenOf('denied'), 'POST')).status).toBe(403);
  });

  it('requireRole MANAGER accepts a MANAGER and an ADMIN, not a USER (R-B8)', async () => {
    const statusOf = async (userName: string, form = {}) =>
      (await call('/account/managers', await tokenOf(userName, form))).status;
    expect(await statusOf('max')).toBe(200);
    expect(await statusOf('ada', { account: String(identity.accountId) })).toBe(200);
    expect(await statusOf('uma')).toBe(403);
  });

  it('a USER has access to the granted sites only (R-B9)', async () => {
    const userId = await newUser('sited');
    const [siteId] = [await newSite('East'), await newSite('West')];
    await grantSiteAccess(identity.database, { userId, siteId, level: 'Read' });
    const { body } = await call('/account/me', await tokenOf('sited'));
    expect(body.sites).toMatchObject([{ siteId }]);
    expect((await call('/account/me', await tokenOf('uma'))).body.sites).toEqual([]);
  });
});

describe('identity: how long a token gives access', () => {
  it.each([
    ['locking the user', 'update app_user set is_locked = true where id = $1', 401],
    ['deleting the user', 'delete from app_user where id = $1', 401],
    ['removal from the account', 'delete from account_member where user_id = $1', 403],
    ['a change of the role', `update app_user set role = 'USER' where id = $1`, 403],
  ])('%s takes effect within 30 seconds (R-B5)', async (change, sql, status) => {
    const userName = `user ${change}`;
    const userId = await newUser(userName, 'MANAGER');
    const token = await tokenOf(userName);
    expect((await call('/account/managers', token)).status).toBe(200);
    await identity.database.query(sql, [userId]);
    identity.clock.advanceSec(29);
    expect((await call('/account/managers', token)).status).toBe(200);
    identity.clock.advanceSec(1);
    expect((await call('/account/managers', token)).status).toBe(status);
  });

  it('a token is accepted for 30 seconds after its expiry, and then refused (R-B1)', async () => {
    const token = await tokenOf('max');
    const untilExpirySec = (decodeJwt(token).exp ?? 0) - Math.floor(identity.clock.nowMillis() / 1000);
    identity.clock.advanceSec(untilExpirySec + 29);
    expect((await call('/account/me', token)).status).toBe(200);
    identity.clock.advanceSec(2);
    expect(await call('/account/me', token)).toMatchObject({ status: 401, body: { message: 'the token has expired' } });
  });
});

function newUser(userName: string, role: 'MANAGER' | 'USER' = 'USER'): Promise<string> {
  return addUser(identity.database, userName, { role, accountIds: [identity.accountId] });
}

async function newSite(name: string): Promise<number> {
  const { rows } = await identity.database.query<{ id: number }>(
    `insert into site (account_id, name, time_zone_id) values ($1, $2, 'UTC') returning id`,
    [identity.accountId, name],
  );
  return rows[0]?.id ?? 0;
}
