import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequestedAccount, planScopes } from '../../../src/identity/issuer/grants/token-request-rules.ts';
import { issuerPaths, planIssuerPath } from '../../../src/identity/issuer/issuer-path-rules.ts';
import { issuerUrl } from '../../../src/identity/issuer/issuer-url.ts';

const TOKEN_PATH = '/protocol/openid-connect/token';

describe('identity: paths of the issuer', () => {
  const paths = issuerPaths('http://127.0.0.1:8080/realms/tidemark', ['opinum']);

  it.each([
    ['/realms/tidemark/protocol/openid-connect/token', TOKEN_PATH],
    ['/realms/opinum/protocol/openid-connect/token', TOKEN_PATH],
    ['//realms//tidemark///protocol/openid-connect//token/', TOKEN_PATH],
    ['/realms/tidemark', '/'],
    ['/realms/tidemark/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ])('%s leads to %s of the issuer (R-B2, R-A3)', (path, inner) => {
    expect(planIssuerPath(path, paths)).toBe(inner);
  });

  it.each([
    ['/connect/token', TOKEN_PATH],
    ['//connect//token/', TOKEN_PATH],
    ['/Connect/Token', TOKEN_PATH],
    ['/connect/userinfo', '/protocol/openid-connect/userinfo'],
    ['/.well-known/openid-configuration', '/.well-known/openid-configuration'],
    ['/.well-known/openid-configuration/jwks', '/protocol/openid-connect/certs'],
  ])('%s, a path of the previous identity system, leads to %s of the issuer (R-B2, §5)', (path, inner) => {
    expect(planIssuerPath(path, paths)).toBe(inner);
  });

  it.each([
    '/',
    '/realms',
    '/connect',
    '/.well-known',
    '/realms/',
    '/realms/other/x',
    '/api/realms/tidemark/x',
    '/account',
  ])('%s does not belong to the issuer (R-B2)', (path) => expect(planIssuerPath(path, paths)).toBeUndefined());

  it('a path of the issuer is recognised with and without the base path, which a proxy may remove (R-B2)', () => {
    const behindProxy = issuerPaths('https://example.com/auth/realms/tidemark', []);
    expect(planIssuerPath('/auth/realms/tidemark/x', behindProxy)).toBe('/x');
    expect(planIssuerPath('/realms/tidemark/x', behindProxy)).toBe('/x');
  });

  it('the issuer’s URL begins with AUTH_URL; if this is not set, with API_URL; if neither is set, with the listening address (§5)', () => {
    const local = {
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: 8080,
      REALM: 'tidemark',
      AUTH_URL: undefined,
      API_URL: undefined,
    };
    expect(issuerUrl(local)).toBe('http://127.0.0.1:8080/realms/tidemark');
    expect(issuerUrl({ ...local, API_URL: 'https://a.example/' })).toBe('https://a.example/realms/tidemark');
    expect(issuerUrl({ ...local, API_URL: 'https://a.example', AUTH_URL: 'https://b.example/auth/' })).toBe(
      'https://b.example/auth/realms/tidemark',
    );
  });
});

describe('identity: the account of a token request', () => {
  it.each([
    [{ account: '7' }, { kind: 'account', accountId: 7 }],
    [
      { account: '7', acr_values: 'accountId:8' },
      { kind: 'account', accountId: 7 },
    ],
    [{ acr_values: 'accountId:8' }, { kind: 'account', accountId: 8 }],
    [{ acr_values: 'tenant:x accountId:8' }, { kind: 'account', accountId: 8 }],
    [
      { account: '', acr_values: 'accountId:8' },
      { kind: 'account', accountId: 8 },
    ],
    [{ acr_values: 'tenant:x' }, { kind: 'none' }],
    [{ account: '' }, { kind: 'none' }],
    [{}, { kind: 'none' }],
    [{ account: 'x' }, { kind: 'malformed', field: 'account' }],
    [{ account: '0' }, { kind: 'malformed', field: 'account' }],
    [{ account: '2147483648' }, { kind: 'malformed', field: 'account' }],
    [{ account: ['7', '8'] }, { kind: 'malformed', field: 'account' }],
    [{ acr_values: 'accountId:' }, { kind: 'malformed', field: 'acr_values' }],
  ])('the form parameters %j are parsed as %j (R-B4)', (form, expected) => {
    expect(parseRequestedAccount(form)).toEqual(expected);
  });
});

describe('identity: the scopes of a token', () => {
  const allowed = ['datahub-api', 'push-data'];

  it('a token gets all scopes of the client when the request names no scope (R-B3)', () => {
    expect(planScopes(undefined, allowed)).toEqual({ granted: allowed, refused: [] });
    expect(planScopes(' ', allowed)).toEqual({ granted: allowed, refused: [] });
  });

  it('a token gets the requested scopes that the client has; the other requested scopes are reported as refused (R-B3)', () => {
    expect(planScopes('openid push-data', allowed)).toEqual({ granted: ['push-data'], refused: ['openid'] });
    expect(planScopes('openid', allowed)).toEqual({ granted: [], refused: ['openid'] });
  });

  it('a request for the scope opisense-api gets a token with the scope datahub-api (R-B6, §5)', () => {
    for (const asked of ['opisense-api', 'opisense-api datahub-api'])
      expect(planScopes(asked, allowed)).toEqual({ granted: ['datahub-api'], refused: [] });
  });

  it('a token gets only scopes of the client, whatever is requested (R-B6)', () => {
    const scope = fc.constantFrom('datahub-api', 'push-data', 'openid', '');
    fc.assert(
      fc.property(fc.array(scope), fc.subarray(allowed, { minLength: 1 }), (asked, allowedToClient) => {
        const given = planScopes(asked.join(' '), allowedToClient);
        expect(allowedToClient).toEqual(expect.arrayContaining([...given.granted]));
      }),
    );
  });
});
