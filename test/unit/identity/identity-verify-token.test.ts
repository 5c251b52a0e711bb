import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TrustedIssuer } from '../../../src/identity/authentication/trusted-issuers.ts';
import { createTokenVerifier } from '../../../src/identity/authentication/verify-token.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

interface ForeignIssuer {
  readonly trusted: TrustedIssuer;
  /** The keys that the issuer publishes; a test may add keys. */
  readonly published: JWK[];
  sign(kid: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
}

let old: ForeignIssuer;
let current: ForeignIssuer;
beforeAll(async () => {
  old = await createIssuer('https://old.example', 'legacy');
  current = await createIssuer('https://new.example/realms/x', 'tidemark');
});

async function createIssuer(issuer: string, audience: string): Promise<ForeignIssuer> {
  const pairs = new Map([
    ['k1', await generateKeyPair('ES256')],
    ['k2', await generateKeyPair('ES256')],
  ]);
  const published: JWK[] = [];
  for (const [kid, { publicKey }] of pairs) published.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' });
  return {
    trusted: { issuer, audience, keys: { kind: 'http', jwksUri: `${issuer}/certs` } },
    published,
    sign: (kid, claims = {}) =>
      new SignJWT({ iss: issuer, aud: audience, sub: 'u1', exp: NOW_MS / 1000 + 60, scope: 'push-data', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(pairs.get(kid)?.privateKey ?? new Uint8Array()),
  };
}

/**
 * Creates a verifier that gets the key sets of the issuers from memory. `state` holds the current time, a flag that
 * says whether the issuers answer, and the requests that they got.
 */
function createVerifier(issuers: readonly ForeignIssuer[]) {
  const state = { nowMs: NOW_MS, requests: 0, isUp: true, addresses: [] as string[] };
  const fetchKeys: typeof fetch = async (input) => {
    state.requests++;
    state.addresses.push(String(input));
    const issuer = issuers.find(({ trusted }) => `${trusted.issuer}/certs` === String(input));
    return state.isUp ? Response.json({ keys: issuer?.published ?? [] }) : new Response('', { status: 503 });
  };
  const verify = createTokenVerifier({
    issuers: issuers.map(({ trusted }) => trusted),
    fetch: fetchKeys,
    clock: { nowMillis: () => state.nowMs },
  });
  return { verify, state };
}

describe('identity: token verification with key sets over HTTP', () => {
  it('accepts two issuers, each with its own audience (R-B1)', async () => {
    const { verify } = createVerifier([old, current]);
    await expect(verify(await old.sign('k1'))).resolves.toMatchObject({ issuer: 'https://old.example', subject: 'u1' });
    await expect(verify(await current.sign('k1'))).resolves.toMatchObject({ issuer: 'https://new.example/realms/x' });
    await expect(verify(await old.sign('k1', { aud: 'tidemark' }))).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'the claim aud of the token must contain "legacy", got "tidemark"',
    });
    await expect(verify(await old.sign('k1', { aud: undefined }))).rejects.toMatchObject({
      message: 'the claim aud of the token must contain "legacy", got no claim aud',
    });
  });

  it('a token that names one issuer but is signed by another is refused (R-B1)', async () => {
    const { verify } = createVerifier([old, current]);
    const forged = await old.sign('k1', { iss: 'https://new.example/realms/x', aud: 'tidemark' });
    await expect(verify(forged)).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it('caches keys, and reloads them for an unknown key id, but at most once a second (R-B1)', async () => {
    const issuer = { ...old, published: old.published.slice(0, 1) };
    const { verify, state } = createVerifier([issuer]);
    await verify(await old.sign('k1'));
    await verify(await old.sign('k1'));
    expect(state.requests).toBe(1);
    state.nowMs += 2000;
    await expect(verify(await old.sign('k2'))).rejects.toMatchObject({ code: 'invalid_token' });
    await expect(verify(await old.sign('k2'))).rejects.toMatchObject({ code: 'invalid_token' });
    expect(state.requests).toBe(2);
    state.nowMs += 2000;
    issuer.published.push(...old.published.slice(1));
    await expect(verify(await old.sign('k2'))).resolves.toMatchObject({ subject: 'u1' });
    expect(state.requests).toBe(3);
  });

  it('does not fetch keys from a URL that a token names (R-B1)', async () => {
    const { verify, state } = createVerifier([old]);
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const evil = { ...(await exportJWK(publicKey)), kid: 'evil', alg: 'ES256' };
    const forged = await new SignJWT({ iss: 'https://old.example', aud: 'legacy', sub: 'u1', exp: NOW_MS / 1000 + 60 })
      .setProtectedHeader({ alg: 'ES256', kid: 'evil', jku: 'http://169.254.169.254/certs', jwk: evil })
      .sign(privateKey);
    await expect(verify(forged)).rejects.toMatchObject({ code: 'invalid_token' });
    expect(new Set(state.addresses)).toEqual(new Set(['https://old.example/certs']));
  });

  it('reloads keys once for 50 simultaneous tokens with made-up key ids (R-B1)', async () => {
    const { verify, state } = createVerifier([old]);
    await verify(await old.sign('k1'));
    state.nowMs += 2000;
    const { privateKey } = await generateKeyPair('ES256');
    const forge = (kid: string) =>
      new SignJWT({ iss: 'https://old.example', aud: 'legacy', sub: 'u1', exp: NOW_MS / 1000 + 60 })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey);
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => forge(`made-up-${index}`)));
    const outcomes = await Promise.allSettled(tokens.map((token) => verify(token)));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(state.requests).toBe(2);
  });

  it('a token from an issuer that is not trusted is refused, and the error names the issuer (R-B1)', async () => {
    const { verify } = createVerifier([old]);
    await expect(verify(await current.sign('k1'))).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'the issuer of the token must be a trusted issuer, got "https://new.example/realms/x"',
    });
    await expect(verify(await old.sign('k1', { iss: undefined }))).rejects.toMatchObject({
      message: 'the issuer of the token must be a trusted issuer, got no claim iss',
    });
    await expect(verify(await old.sign('k1', { iss: 5 }))).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'the issuer of the token must be a trusted issuer, got 5',
    });
  });

  it.each([
    [{ sub: undefined }, 'the claim sub of the token must be given, got no claim sub'],
    [{ exp: undefined }, 'the claim exp of the token must be a number, got no claim exp'],
    [{ exp: 'soon' }, 'the claim exp of the token must be a number, got "soon"'],
    [{ nbf: 'now' }, 'the claim nbf of the token must be a number, got "now"'],
  ])('refuses a token with the claims %j: %s (R-B1, R-A5)', async (claims, message) => {
    const { verify } = createVerifier([old]);
    await expect(verify(await old.sign('k1', claims))).rejects.toMatchObject({ code: 'invalid_token', message });
  });

  it('while the issuer is down, verifies a token if keys are cached, and throws `dependency_unavailable` if none are cached (R-B1, R-A5)', async () => {
    const { verify, state } = createVerifier([old]);
    state.isUp = false;
    await expect(verify(await old.sign('k1'))).rejects.toMatchObject({
      code: 'dependency_unavailable',
      cause: { message: 'cannot read the signing keys at https://old.example/certs' },
    });
    state.isUp = true;
    await verify(await old.sign('k1'));
    state.isUp = false;
    state.nowMs += 3_600_000;
    await expect(verify(await old.sign('k1', { exp: state.nowMs / 1000 + 60 }))).resolves.toBeDefined();
  });

  it('accepts a token until 30 seconds after its expiry, because clocks differ (R-B1)', async () => {
    const { verify } = createVerifier([old]);
    const expiredBySec = (seconds: number) => old.sign('k1', { exp: NOW_MS / 1000 - seconds });
    await expect(verify(await expiredBySec(29))).resolves.toBeDefined();
    await expect(verify(await expiredBySec(31))).rejects.toMatchObject({ message: 'the token has expired' });
  });

  it('refuses a token whose claim `nbf` is more than 30 seconds in the future (R-B1)', async () => {
    const { verify } = createVerifier([old]);
    const validInSec = (seconds: number) => old.sign('k1', { nbf: NOW_MS / 1000 + seconds });
    await expect(verify(await validInSec(30))).resolves.toBeDefined();
    await expect(verify(await validInSec(31))).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'the token is not valid yet: its claim nbf is later than the clock of this service',
    });
  });

  it('reads roles from Keycloak’s claim `realm_access`, and accepts the claim `account` as a number or as a string of digits (R-B5)', async () => {
    const { verify } = createVerifier([old]);
    const token = await old.sign('k1', { realm_access: { roles: ['MANAGER'] }, account: '12' });
    const verified = await verify(token);
    expect(verified).toMatchObject({ accountId: 12 });
    expect([...verified.roles]).toEqual(['MANAGER']);
    expect(await verify(await old.sign('k1', { account: 13 }))).toMatchObject({ accountId: 13 });
    for (const account of ['', null]) {
      expect((await verify(await old.sign('k1', { account }))).accountId).toBeUndefined();
    }
    // The account id 0 must be read as 0, although no account has this id. If 0 counted as a missing claim, the active
    // account would be used in place of the requested one.
    for (const account of [0, '0']) expect((await verify(await old.sign('k1', { account }))).accountId).toBe(0);
  });

  it('refuses a token whose claim `account` is not the id of an account, instead of using the active account (R-B5)', async () => {
    const { verify } = createVerifier([old]);
    for (const account of ['x', '12 ', -1, 1.5, 2 ** 31, [7], {}, true]) {
      await expect(verify(await old.sign('k1', { account }))).rejects.toMatchObject({
        code: 'invalid_token',
        message: `the token's claim "account" must be the id of an account, got ${JSON.stringify(account)}`,
      });
    }
  });

  it('a token without subject or expiry is refused (R-B1)', async () => {
    const { verify } = createVerifier([old]);
    for (const claims of [{ sub: undefined }, { exp: undefined }]) {
      await expect(verify(await old.sign('k1', claims))).rejects.toMatchObject({ code: 'invalid_token' });
    }
  });
});
