/** Tests the script with which Keycloak computes the claim `account`. The tests imitate the objects of Keycloak. */
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../../src/identity/keycloak/account-mapper/', import.meta.url);
const SCRIPT = readFileSync(new URL('account-mapper.js', FOLDER), 'utf8');

interface Session {
  readonly attribute?: string;
  readonly notes: Map<string, string>;
}

const newSession = (attribute?: string): Session => ({
  notes: new Map(),
  ...(attribute !== undefined && { attribute }),
});

/**
 * Runs the script for a token request. Reading an absent attribute, note or form field gives null, as in Keycloak.
 * @returns the claim.
 */
function claimOf({ attribute, notes }: Session, form: Readonly<Record<string, string>> = {}): unknown {
  const globals = {
    exports: undefined as unknown,
    user: { getFirstAttribute: (name: string) => (name === 'account' ? (attribute ?? null) : null) },
    userSession: {
      getNote: (name: string) => notes.get(name) ?? null,
      setNote: (name: string, value: string) => void notes.set(name, value),
    },
    keycloakSession: {
      getContext: () => ({
        getHttpRequest: () => ({
          getDecodedFormParameters: () => ({ getFirst: (name: string) => form[name] ?? null }),
        }),
      }),
    },
  };
  runInContext(SCRIPT, createContext(globals));
  return globals.exports;
}

const signIn = (form = {}) => ({ grant_type: 'password', ...form });
const refresh = (form = {}) => ({ grant_type: 'refresh_token', ...form });

describe('identity: the claim `account` in tokens of Keycloak', () => {
  it.each([
    [
      'the value of the field `account` when the request has this field',
      { account: '7', acr_values: 'accountId:8' },
      '7',
    ],
    [
      'the number after `accountId:` in `acr_values` when the field `account` is empty',
      { account: '', acr_values: 'urn:x accountId:8' },
      '8',
    ],
    ['the active account when the request names no account', {}, '5'],
    ['the active account when `acr_values` has no account', { acr_values: 'level1' }, '5'],
  ])('the claim is %s (R-B4)', (_what, form, claim) => {
    expect(claimOf(newSession('5'), signIn(form))).toBe(claim);
  });

  it('the claim is absent when neither the request nor the user attribute `account` names an account (R-B4)', () => {
    expect(claimOf(newSession(), signIn())).toBeNull();
  });

  it.each(['x', '-1', '1.5', '0', '2147483648', '99999999999', '1 2'])(
    'when the request names the invalid account %j, the claim is 0 (R-B4)',
    (account) => {
      expect(claimOf(newSession('5'), signIn({ account }))).toBe('0');
    },
  );

  it('a refresh that names another account changes the claim for that refresh only (R-B4)', () => {
    const session = newSession('5');
    expect(claimOf(session, signIn({ account: '7' }))).toBe('7');
    expect(claimOf(session, refresh())).toBe('7');
    expect(claimOf(session, refresh({ account: '9' }))).toBe('9');
    expect(claimOf(session, refresh())).toBe('7');
  });

  it('a sign-in that names no account gets the active account, even if an earlier sign-in named another account (R-B4)', () => {
    const session = newSession('5');
    expect(claimOf(session, { grant_type: 'authorization_code', account: '7' })).toBe('7');
    expect(claimOf({ ...session, attribute: '6' }, { grant_type: 'authorization_code' })).toBe('6');
  });

  it('the claim comes from the script account-mapper.js, which keycloak-scripts.json names (R-B2)', () => {
    const descriptor = JSON.parse(readFileSync(new URL('META-INF/keycloak-scripts.json', FOLDER), 'utf8'));
    expect(descriptor).toEqual({ mappers: [expect.objectContaining({ fileName: 'account-mapper.js' })] });
  });
});
