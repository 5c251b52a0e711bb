import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError, envExample, readConfig } from '../../../src/config.ts';

const NEEDED = { DATABASE_URL: 'postgres://user:secret@127.0.0.1:5432/tidemark', REDIS_URL: 'redis://127.0.0.1:6379' };

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('settings (R-K1)', () => {
  test('what is not given has its default; an empty text is not given', () => {
    expect(readConfig({ ...NEEDED, HTTP_PORT: '' })).toMatchObject({ HTTP_PORT: 8080, REALM_ALIASES: ['opinum'] });
  });

  test('all problems are named at once, and no value of a secret', () => {
    const problems = problemsOf({ DATABASE_URL: 'mysql://user:secret@host/db', HTTP_PORT: '99999', SANDBOX: 'jail' });
    expect(problems).toHaveLength(4);
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
      'HTTP_PORT',
      'SANDBOX',
    ]);
    expect(problems.join()).not.toContain('secret@');
  });

  test('a life of a token that shipped clients would renew on every call is refused (R-B3)', () => {
    expect(problemsOf({ ...NEEDED, ACCESS_TOKEN_TTL_SEC: '120' })).toHaveLength(1);
    expect(problemsOf({ ...NEEDED, ACCESS_TOKEN_TTL_SEC: '121' })).toEqual([]);
  });

  test('a pool too small for what a calculator holds at once is refused, before it stalls', () => {
    expect(problemsOf({ ...NEEDED, CALC_CONCURRENCY: '8' })).toEqual([expect.stringContaining('at least 24')]);
    expect(problemsOf({ ...NEEDED, CALC_CONCURRENCY: '8', DATABASE_POOL_SIZE: '24' })).toEqual([]);
  });

  test('trusted issuers are a JSON array of three members (R-B1)', () => {
    const issuers = [
      { issuer: 'https://id.example.com', jwksUri: 'https://id.example.com/jwks', audience: 'tidemark' },
    ];
    expect(readConfig({ ...NEEDED, TRUSTED_ISSUERS: JSON.stringify(issuers) }).TRUSTED_ISSUERS).toEqual(issuers);
    expect(problemsOf({ ...NEEDED, TRUSTED_ISSUERS: 'https://id.example.com' })).toHaveLength(1);
    expect(problemsOf({ ...NEEDED, TRUSTED_ISSUERS: '[{"issuer":"https://id.example.com"}]' })).toHaveLength(1);
  });

  test('.env.example is what the settings generate', () => {
    expect(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')).toBe(envExample());
  });
});
