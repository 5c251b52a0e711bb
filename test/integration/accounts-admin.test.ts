import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAdminCommand } from '../../src/accounts/admin-commands.ts';
import { createEmbeddedDirectory } from '../../src/identity/embedded-directory.ts';
import { createBrowser } from '../support/browser.ts';
import { startTestApi, type TestApi } from '../support/start-api.ts';
import { createTestClient, requestToken } from '../support/test-client.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** What the command printed. */
async function admin(...argv: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const directory = createEmbeddedDirectory(`${api.origin}/realms/tidemark`);
  await runAdminCommand({ database: api.database, directory, say: (line) => lines.push(line) }, argv);
  return lines.join('\n');
}

const found = (pattern: RegExp, text: string) => pattern.exec(text)?.[1] ?? '';
const CHOSEN = 'a password of her own';

describe('admin create-account', () => {
  it('makes an account, its first manager and a client, ready to work (§5)', async () => {
    const printed = await admin(
      ...['create-account', '--name', 'West', '--manager', 'meg@west.example', '--language', 'nl'],
      ...['--time-zone', 'Europe/Brussels', '--currency', 'eur', '--client', 'west-client'],
    );
    const password = found(/temporary password (\S+)/, printed);
    const secret = found(/client west-client, secret (\S+),/, printed);
    const form = {
      grant_type: 'password',
      client_id: 'west-client',
      client_secret: secret,
      username: 'meg@west.example',
    };
    await expect(requestToken(api.origin, { ...form, password })).rejects.toThrow('Account is not fully set up');
    const browser = createBrowser();
    const signIn = await browser.open(found(/sign in for the first time at (\S+)/, printed));
    const first = await browser.submit(signIn, { username: 'meg@west.example', password });
    await browser.submit(first, { newPassword: CHOSEN, repeatedPassword: CHOSEN });
    const client = createTestClient(api.origin, await requestToken(api.origin, { ...form, password: CHOSEN }));
    expect((await client.get('/account')).body).toMatchObject({
      ...{ id: Number(found(/^account (\d+): West/, printed)), name: 'West', language: 'nl' },
      ...{ timeZoneId: 'Europe/Brussels', currency: 'EUR' },
    });
    expect((await client.get('/account/audit')).body).toMatchObject([
      { action: 'UserCreated', userName: 'operator', targetName: 'meg@west.example', details: { role: 'MANAGER' } },
      { action: 'AccountCreated', userName: 'operator', targetName: 'West', requestId: null },
    ]);
  });

  it('makes all or nothing (§5)', async () => {
    const before = await api.database.query('select from account');
    const words = ['create-account', '--name', 'East', '--manager', 'meg@west.example', '--client', 'east'];
    await expect(admin(...words)).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      admin(...words.map((word) => (word.includes('@') ? 'new@east.example' : word.replace('east', 'demo')))),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect((await api.database.query('select from account')).rowCount).toBe(before.rowCount);
  });
});

describe('admin create-client and rotate-client-secret', () => {
  it('issue secrets that are stored as hashes (§5, R-B3)', async () => {
    const secret = found(/secret (\S+),/, await admin('create-client', '--client', 'c1', '--scope', 'push-data'));
    const form = { grant_type: 'password', client_id: 'c1', username: 'max', password: 'correct horse' };
    await requestToken(api.origin, { ...form, client_secret: secret });
    const next = found(/new secret (\S+)/, await admin('rotate-client-secret', '--client', 'c1'));
    await requestToken(api.origin, { ...form, client_secret: next });
    await expect(requestToken(api.origin, { ...form, client_secret: secret })).rejects.toThrow('invalid_client');
    const { rows } = await api.database.query('select from oidc_client c where c::text like any($1)', [
      [`%${secret}%`, `%${next}%`],
    ]);
    expect(rows).toEqual([]);
  });

  it('a public client has no secret, and addresses to return to (R-B2)', async () => {
    const printed = await admin(
      'create-client',
      '--client',
      'spa',
      '--public',
      '--redirect-uri',
      'https://spa.example/cb',
    );
    expect(printed).toContain('client spa, public');
    await expect(admin('rotate-client-secret', '--client', 'spa')).rejects.toMatchObject({ code: 'not_found' });
    const { rows } = await api.database.query(`select grant_types from oidc_client where client_id = 'spa'`);
    expect(rows).toEqual([{ grant_types: ['refresh_token', 'authorization_code'] }]);
  });
});

describe('admin create-user', () => {
  it('makes an ADMIN of the operator’s (R-B8)', async () => {
    const words = ['--account', String(api.accountId), '--email', 'ops@tidemark.example', '--role', 'admin'];
    expect(await admin('create-user', ...words)).toContain('ADMIN ops@tidemark.example, temporary password');
  });
});

describe('words that are not understood', () => {
  it.each([
    [[]],
    [['nothing']],
    [['create-account', 'and', 'more']],
    [['create-account', '--name', 'X']],
    [['create-account', '--name', 'X', '--manager', 'nobody']],
    [['create-account', '--name', 'X', '--manager', 'a@x.example', '--time-zone', 'Mars']],
    [['create-user', '--email', 'a@x.example', '--account', '999999']],
    [['create-user', '--email', 'a@x.example', '--account', '99999999999']],
    [['create-user', '--email', 'a@x.example']],
    [['create-user', '--email', 'a@x.example', '--account', '1', '--role', 'king']],
    [['create-client', '--client', 'x', '--scope', 'everything']],
    [['create-client', '--client', 'x', '--grant', 'authorization_code']],
    [['create-client', '--colour', 'blue']],
  ])('%j say what is wrong (§5)', async (argv) => {
    await expect(admin(...argv)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('as a process', () => {
  const run = (...argv: readonly string[]) => {
    const { DATABASE_URL, REDIS_URL } = api.parts.config;
    const env = { PATH: process.env.PATH, DATABASE_URL, REDIS_URL };
    return promisify(execFile)(process.execPath, [MAIN, 'admin', ...argv], { env });
  };

  it('prints the answer alone and ends with 0; what is wrong goes to stderr with 1 (§5)', async () => {
    const { stdout } = await run('rotate-keys');
    expect(stdout).toMatch(/^key [\w-]{43} is published and will sign soon\n$/);
    expect((await run('--help')).stdout).toContain('create-user --account ID');
    await expect(run('create-user', '--account', '77', '--email', 'a@x.example')).rejects.toMatchObject({
      ...{ code: 1, stdout: '', stderr: 'there is no account 77; create-account makes one\n' },
    });
    await expect(run('nothing')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('create-account') });
  });
});
