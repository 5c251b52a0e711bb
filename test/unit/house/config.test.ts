import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../src/config.ts';
import { envExample } from '../../../src/env-example.ts';

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

describe('config: settings from the environment (R-K1)', () => {
  test('a setting that is unset or empty takes its default', () => {
    expect(readConfig({ ...NEEDED, HTTP_PORT: '' })).toMatchObject({ HTTP_PORT: 8080, REALM_ALIASES: ['opinum'] });
  });

  test('reports all problems together, without the value of a secret', () => {
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

  test('reports conflicts together with invalid settings; an invalid setting causes no conflict', () => {
    const keycloak = { ...NEEDED, USER_DIRECTORY: 'keycloak', KEYCLOAK_CLIENT_SECRET: 's' };
    expect(problemsOf({ ...keycloak, HTTP_PORT: 'x' })).toEqual([
      'HTTP_PORT must be an integer from 0 to 65535, got "x"',
      'USER_DIRECTORY=keycloak requires KEYCLOAK_URL and KEYCLOAK_CLIENT_SECRET',
    ]);
    expect(problemsOf({ ...keycloak, KEYCLOAK_URL: 'x', DATABASE_POOL_SIZE: '0' })).toHaveLength(2);
  });

  test.each([
    ['HTTP_PORT', '99999', 'must be an integer from 0 to 65535, got "99999"'],
    ['CALC_CONCURRENCY', '2.5', 'must be an integer from 2 to 64, got "2.5"'],
    ['SANDBOX', 'jail', 'must be one of bwrap, oci, none, got "jail"'],
    ['API_URL', 'localhost:8080', 'must be an http:// or https:// URL, got "localhost:8080"'],
    ['WEBHOOK_RETRY_SEC', '5,soon', 'must be comma-separated numbers from 0 to 604800, got "5,soon"'],
    ['WEBHOOK_ALLOWED_RANGES', '127.0.0', 'must be comma-separated CIDR ranges such as 127.0.0.0/8,::1, got "127.0.0"'],
    [
      'TRUSTED_ISSUERS',
      '[{"issuer": "secret"}]',
      'must be a JSON array of objects with exactly the members issuer (a URL), jwksUri (a URL) and audience (a non-empty string); $[0].issuer is wrong',
    ],
    [
      'TRUSTED_ISSUERS',
      'https://id.example.com',
      'must be a JSON array of objects with exactly the members issuer (a URL), jwksUri (a URL) and audience (a non-empty string); the value is not JSON',
    ],
    ['REDIS_URL', 'http://:secret@host', 'must be a URL that starts with redis:// or rediss://'],
  ])('%s=%s is refused, and the error states the rule for the setting', (name, value, rule) => {
    expect(problemsOf({ ...NEEDED, [name]: value })).toEqual([`${name} ${rule}`]);
  });

  test('refuses an access token lifetime of 120 s or less, because shipped clients would renew the token on every call (R-B3)', () => {
    expect(problemsOf({ ...NEEDED, ACCESS_TOKEN_TTL_SEC: '120' })).toHaveLength(1);
    expect(problemsOf({ ...NEEDED, ACCESS_TOKEN_TTL_SEC: '121' })).toEqual([]);
  });

  test.each([
    ['CALC_CONCURRENCY', '8', 24],
    ['INGEST_CONCURRENCY', '3', 13],
    ['FILE_CONCURRENCY', '3', 13],
    ['PUSH_DIRECT_WRITES', '3', 13],
  ])(
    '%s=%s requires a DATABASE_POOL_SIZE of at least %i when the other settings have their defaults',
    (name, value, needed) => {
      expect(problemsOf({ ...NEEDED, [name]: value })).toEqual([expect.stringContaining(`at least ${needed} `)]);
      expect(problemsOf({ ...NEEDED, [name]: value, DATABASE_POOL_SIZE: String(needed) })).toEqual([]);
    },
  );

  test.each(['CALC_CONCURRENCY', 'FILE_CONCURRENCY', 'MAPPER_PROCESSES', 'READ_POOL_SIZE', 'WEBHOOK_CONCURRENCY'])(
    '%s=1 is refused: the minimum is 2, so that one account cannot block the others (R-A14)',
    (name) => {
      expect(problemsOf({ ...NEEDED, [name]: '1' })).toEqual([
        expect.stringMatching(`^${name} must be an integer from 2 to`),
      ]);
    },
  );

  test('TRUSTED_ISSUERS must be a JSON array of objects with the members `issuer`, `jwksUri` and `audience` (R-B1)', () => {
    const issuers = [
      { issuer: 'https://id.example.com', jwksUri: 'https://id.example.com/jwks', audience: 'tidemark' },
    ];
    expect(readConfig({ ...NEEDED, TRUSTED_ISSUERS: JSON.stringify(issuers) }).TRUSTED_ISSUERS).toEqual(issuers);
    expect(problemsOf({ ...NEEDED, TRUSTED_ISSUERS: 'https://id.example.com' })).toHaveLength(1);
    expect(problemsOf({ ...NEEDED, TRUSTED_ISSUERS: '[{"issuer":"https://id.example.com"}]' })).toHaveLength(1);
  });

  test('a command line with an unknown role is refused with one sentence, which names the roles', () => {
    const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [main, 'reporter'], { env: NEEDED, encoding: 'utf8' });
    const rule = 'must name roles (api, grpc, ingester, calculator, deliverer), or migrate, or admin with a command';
    expect({ status, stderr }).toEqual({ status: 1, stderr: `the command line ${rule}, got "reporter"\n` });
  });

  test('.env.example is generated from the settings', () => {
    expect(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')).toBe(envExample());
  });
});
