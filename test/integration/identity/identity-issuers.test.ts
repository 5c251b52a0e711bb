/**
 * Tests two issuers that are trusted at the same time, as during a migration: the embedded issuer, and an external
 * issuer that publishes its keys over HTTP (§5). Also tests the rotation of signing keys.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSigningKey, getIssuerKeys } from '../../../src/identity/keys/signing-keys.ts';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { createTestClient } from '../../support/clients/test-client.ts';
import { addPerson, signInPerson } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';
import { startIdentity } from './identity-fixture.ts';

interface ForeignIssuer {
  readonly url: string;
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

async function startForeignIssuer(): Promise<ForeignIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'old-1', alg: 'ES256' };
  const server: Server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sign: (claims) =>
      new SignJWT({ scope: 'datahub-api push-data', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'old-1' })
        .setIssuer(url)
        .setAudience('legacy')
        .setExpirationTime('5 minutes')
        .sign(privateKey),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const AUTH_URL = 'https://auth.tidemark.example';

/** Starts the service with the embedded and the external issuer in TRUSTED_ISSUERS. */
async function startBoth(foreign: ForeignIssuer, externalUsers: string): Promise<TestApi> {
  const issuers = [
    { issuer: `${AUTH_URL}/realms/tidemark`, jwksUri: `${AUTH_URL}/unused`, audience: 'tidemark' },
    { issuer: foreign.url, jwksUri: `${foreign.url}/jwks`, audience: 'legacy' },
  ];
  return startTestApi({ AUTH_URL, TRUSTED_ISSUERS: JSON.stringify(issuers), EXTERNAL_USERS: externalUsers });
}

describe.each(['sub', 'email', 'businessId'])('identity: two trusted issuers, EXTERNAL_USERS=%s', (how) => {
  let foreign: ForeignIssuer;
  let api: TestApi;
  let uma: string;
  beforeAll(async () => {
    foreign = await startForeignIssuer();
    api = await startBoth(foreign, how);
    uma = await addPerson(api, 'uma', { email: 'uma@north.example' });
    await api.database.query(`update app_user set business_id = 'M-1' where id = $1`, [uma]);
    for (const name of ['twin1', 'twin2']) await addPerson(api, name, { email: 'twins@north.example' });
  });
  afterAll(async () => {
    await api.close();
    await foreign.close();
  });

  const answer = async (claims: Readonly<Record<string, unknown>>) => {
    const client = createTestClient(api.origin, await foreign.sign({ account: api.accountId, ...claims }));
    return client.get<{ message: string }>('/account');
  };
  const call = async (claims: Readonly<Record<string, unknown>>) => (await answer(claims)).status;

  it('one service accepts tokens of both issuers (§5, R-B1)', async () => {
    expect((await (await signInPerson(api, 'uma')).get('/account')).status).toBe(200);
    expect(await call({ sub: uma })).toBe(200);
  });

  it('a token identifies a user by `sub`; an unknown `sub` or inaccessible account is refused (§5, R-B5)', async () => {
    expect(await call({ sub: uma, account: String(api.accountId) })).toBe(200);
    expect(await call({ sub: uma, account: api.otherAccountId })).toBe(403);
    expect(await call({ sub: 'nobody' })).toBe(401);
  });

  it('the error of a refused token names the unmatched `sub` or the inaccessible account (R-B5)', async () => {
    const { message: unknown } = (await answer({ sub: 'nobody' })).body;
    const subject = `the token of ${foreign.url} with the sub "nobody"`;
    expect(unknown).toContain(`${subject} must match exactly one user; the user is identified by the claim "sub"`);
    expect(unknown).toContain(`(EXTERNAL_USERS=${how})`);
    const { message: denied } = (await answer({ sub: uma, account: api.otherAccountId })).body;
    expect(denied).toBe(`the user uma has no access to account ${api.otherAccountId}`);
    const idle = await addPerson(api, 'idle');
    await api.database.query('update app_user set active_account_id = null where id = $1', [idle]);
    const { message: undecided } = (await answer({ sub: idle, account: undefined })).body;
    expect(undecided).toContain(
      'the user idle has no accessible active account; put the id of an accessible account in the claim "account" of the token',
    );
  });

  it('a verified and unique email address identifies a user only if EXTERNAL_USERS=email (R-B5)', async () => {
    const verified = { sub: 'e-1', email: 'UMA@north.example', email_verified: true };
    expect(await call({ ...verified, sub: 'e-0', email_verified: false })).toBe(401);
    expect(await call(verified)).toBe(how === 'email' ? 200 : 401);
    expect(await call({ ...verified, sub: 'e-2', email: 'twins@north.example' })).toBe(401);
  });

  it('a BusinessId in the claim `businessId` or `sub` identifies a user only if EXTERNAL_USERS=businessId (§5, R-B5)', async () => {
    const status = how === 'businessId' ? 200 : 401;
    expect(await call({ sub: 'b-1', businessId: 'M-1' })).toBe(status);
    expect(await call({ sub: 'M-1' })).toBe(status);
  });

  it('a `sub` is linked to the user with its email address only if the value is email; the link outlasts the address (R-B5)', async () => {
    const linked = async () => {
      await call({ sub: 'l-1', email: 'uma@north.example', email_verified: true });
      const sql = `select user_id as id from user_identity where issuer = $1 and subject = 'l-1'`;
      return (await api.database.query<{ id: string }>(sql, [foreign.url])).rows.map(({ id }) => id);
    };
    const expected = how === 'email' ? [uma] : [];
    expect(await linked()).toEqual(expected);
    const next = await addPerson(api, 'next');
    await api.database.query('update app_user set email = null where id = $1', [uma]);
    await api.database.query(`update app_user set email = 'uma@north.example' where id = $1`, [next]);
    expect(await linked()).toEqual(expected);
  });

  it('the role of a user, and whether the user is locked, are read from the database, not from a token of the external issuer (R-B5)', async () => {
    const claims = { sub: uma, roles: ['ADMIN'], realm_access: { roles: ['ADMIN'] }, account: api.accountId };
    const client = createTestClient(api.origin, await foreign.sign(claims));
    expect((await client.get('/account/audit')).status).toBe(403);
    await api.database.query('update app_user set is_locked = true where id = $1', [uma]);
    expect((await client.get('/account')).status).toBe(401);
    await api.database.query('update app_user set is_locked = false where id = $1', [uma]);
  });

  it('a token of the external issuer is refused when it has the claim `act` (R-B14)', async () => {
    const ada = await addPerson(api, `ada ${how}`, { role: 'ADMIN' });
    for (const act of [{ sub: ada }, {}, null, 'x']) expect(await call({ sub: uma, act })).toBe(401);
  });
});

describe('identity: rotation of signing keys', () => {
  it('tokens signed by the old key stay valid while the new key signs (R-B1, R-B2)', async () => {
    const api = await startTestApi();
    try {
      const { database } = api;
      const policy = { rotateAfterMs: 1e12, publishAheadMs: 900_000, keepMs: 900_000 };
      const before = await getIssuerKeys(database, policy);
      const kid = await withTransaction(database, addSigningKey);
      const published = await getIssuerKeys(database, policy);
      expect(published.jwks.keys.map((key) => key.kid)).toEqual([before.jwks.keys[0]?.kid, kid]);
      await database.query(`update signing_key set created_date = created_date - interval '20 minutes'`);
      const signing = await getIssuerKeys(database, policy);
      expect(signing.jwks.keys.map((key) => key.kid)).toEqual([kid, before.jwks.keys[0]?.kid]);
      expect((await api.manager.get('/account')).status).toBe(200);
      await database.query(`update signing_key set created_date = created_date - interval '1 day'`);
      expect((await getIssuerKeys(database, policy)).jwks.keys.map((key) => key.kid)).toEqual([kid]);
    } finally {
      await api.close();
    }
  });

  it('a running issuer publishes and uses the new key without a restart (R-B2)', async () => {
    const identity = await startIdentity();
    try {
      const kidsOf = async () => {
        const answer = await identity.getJson('/realms/tidemark/protocol/openid-connect/certs');
        return (answer as { keys: readonly { kid: string }[] }).keys.map(({ kid }) => kid);
      };
      const [first] = await kidsOf();
      await identity.database.query(`update signing_key set created_date = now() - interval '91 days'`);
      await identity.issuer.refreshKeys();
      const both = await kidsOf();
      expect(both).toEqual([first, expect.any(String)]);
      await identity.database.query(`update signing_key set created_date = created_date - interval '16 minutes'`);
      await identity.issuer.refreshKeys();
      expect(await kidsOf()).toEqual([...both].reverse());
    } finally {
      await identity.close();
    }
  });
});
