import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAdminCommand } from '../../../src/accounts/operator/admin-commands.ts';
import { createEmbeddedDirectory } from '../../../src/identity/directory/embedded-directory.ts';
import { createBrowser } from '../../support/browser/browser.ts';
import { createTestClient, requestToken, type TestClient } from '../../support/clients/test-client.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/**
 * Runs a command of `admin` in this process, as the operator olaf.
 * @returns the printed text.
 */
async function admin(...argv: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const directory = createEmbeddedDirectory(`${api.origin}/realms/tidemark`);
  const services = {
    database: api.database,
    directory,
    operatorName: 'olaf',
    print: (line: string) => void lines.push(line),
    readLine: async () => '',
    setPassword: undefined,
    retryBatches: async (_transaction: unknown, accountId?: number) => (accountId === undefined ? 0 : 1),
    describeStorage: async () => [],
    describeRepeatedMappings: async () => [],
    describeRetention: async () => [],
    describeDividers: async () => [],
    renewWebhookSecrets: async () => '',
    backups: {},
  };
  await runAdminCommand(services, argv);
  return lines.join('\n');
}

const found = (pattern: RegExp, text: string) => pattern.exec(text)?.[1] ?? '';
const CHOSEN = 'a password of her own';

describe('admin: create-account', () => {
  it('creates an account, its first manager and a client that can get tokens (§5)', async () => {
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
    const signIn = await browser.open(found(/sign in at (\S+)/, printed));
    const first = await browser.submit(signIn, { username: 'meg@west.example', password });
    await browser.submit(first, { newPassword: CHOSEN, repeatedPassword: CHOSEN });
    const client = createTestClient(api.origin, await requestToken(api.origin, { ...form, password: CHOSEN }));
    expect((await client.get('/account')).body).toMatchObject({
      ...{ id: Number(found(/^account (\d+): West/, printed)), name: 'West', language: 'nl' },
      ...{ timeZoneId: 'Europe/Brussels', currency: 'EUR' },
    });
    const events = await api.database.query(`select payload from outbox_event where type = 'UserCreated'`);
    expect(events.rows).toContainEqual({ payload: expect.objectContaining({ userName: 'meg@west.example' }) });
    expect((await client.get('/account/audit')).body).toMatchObject([
      { action: 'ClientCreated', userName: 'olaf', targetId: 'west-client', details: { isPublic: false } },
      { action: 'UserCreated', userName: 'olaf', targetName: 'meg@west.example', details: { role: 'MANAGER' } },
      { action: 'AccountCreated', userId: 'operator', userName: 'olaf', targetName: 'West', requestId: null },
    ]);
  });

  it('creates nothing when the user name of the manager or the id of the client is taken (§5)', async () => {
    const before = await api.database.query('select from account');
    const words = ['create-account', '--name', 'East', '--manager', 'meg@west.example', '--client', 'east'];
    await expect(admin(...words)).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      admin(...words.map((word) => (word.includes('@') ? 'new@east.example' : word.replace('east', 'demo')))),
    ).rejects.toMatchObject({ code: 'conflict' });
    expect((await api.database.query('select from account')).rowCount).toBe(before.rowCount);
    const users = await api.database.query(`select from app_user where user_name = 'new@east.example'`);
    expect(users.rowCount).toBe(0);
    expect((await api.database.query(`select from oidc_client where client_id = 'east'`)).rowCount).toBe(0);
  });
});

describe('admin: create-client and rotate-client-secret', () => {
  it('print secrets, of which the service stores only hashes (§5, R-B3)', async () => {
    const secret = found(/secret (\S+),/, await admin('create-client', '--client', 'c1', '--scope', 'push-data'));
    const form = { grant_type: 'password', client_id: 'c1', username: 'max', password: PASSWORD };
    await requestToken(api.origin, { ...form, client_secret: secret });
    const next = found(/new secret (\S+)/, await admin('rotate-client-secret', '--client', 'c1'));
    await requestToken(api.origin, { ...form, client_secret: next });
    await expect(requestToken(api.origin, { ...form, client_secret: secret })).rejects.toThrow('invalid_client');
    const { rows } = await api.database.query('select from oidc_client c where c::text like any($1)', [
      [`%${secret}%`, `%${next}%`],
    ]);
    expect(rows).toEqual([]);
  });

  it('a public client has redirect URIs and no secret (R-B2)', async () => {
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
    const { rows } = await api.database.query(
      `select grant_types, redirect_uris, secret_hash from oidc_client where client_id = 'spa'`,
    );
    const grants = ['refresh_token', 'authorization_code'];
    expect(rows).toEqual([{ grant_types: grants, redirect_uris: ['https://spa.example/cb'], secret_hash: null }]);
  });
});

describe('admin: create-client', () => {
  it('after sign-out, browsers return only to a URL given by --logout-uri (R-B2)', async () => {
    const [back, bye] = ['https://portal.example/cb', 'https://portal.example/bye'];
    await admin('create-client', '--client', 'portal', '--redirect-uri', back, '--logout-uri', bye);
    const address = new URL(`${api.origin}/realms/tidemark/protocol/openid-connect/logout`);
    const ask = async (post_logout_redirect_uri: string) => {
      address.search = String(new URLSearchParams({ client_id: 'portal', post_logout_redirect_uri }));
      return fetch(address, { headers: { accept: 'text/html' } });
    };
    expect((await ask('https://portal.example/other')).status).toBe(400);
    const page = await ask(bye);
    expect(page.status).toBe(200);
    const xsrf = found(/name="xsrf" value="([^"]+)"/, await page.text());
    const signedOut = await fetch(`${address.origin}${address.pathname}/confirm`, {
      method: 'POST',
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
      headers: {
        cookie: page.headers
          .getSetCookie()
          .map((line) => line.split(';', 1)[0])
          .join('; '),
      },
      redirect: 'manual',
    });
    expect(signedOut.headers.get('location')).toBe(bye);
  });

  it.each([
    ['a client id that HTTP Basic cannot carry', ['--client', 'a:b']],
    ['a client id that is not ASCII', ['--client', 'büro']],
    ['an unknown grant', ['--client', 'x', '--grant', 'implicit']],
    ['a relative redirect URI', ['--client', 'x', '--redirect-uri', '/cb']],
    ['a redirect URI with a fragment', ['--client', 'x', '--redirect-uri', 'https://x.example/#/cb']],
    [
      'a redirect URI with a scheme other than http and https',
      ['--client', 'x', '--redirect-uri', 'javascript:alert(1)'],
    ],
    [
      'a sign-out address with a scheme other than http and https',
      ['--client', 'x', '--logout-uri', 'data:text/html,x'],
    ],
  ])('refuses %s (R-B2)', async (_case, words) => {
    await expect(admin('create-client', ...words)).rejects.toMatchObject({ code: 'invalid_input' });
    const { rows } = await api.database.query('select from oidc_client where client_id = $1', [words[1]]);
    expect(rows).toEqual([]);
  });
});

describe('admin: create-user', () => {
  it('creates an ADMIN (R-B8)', async () => {
    const words = ['--account', String(api.accountId), '--email', 'ops@tidemark.example', '--role', 'admin'];
    expect(await admin('create-user', ...words)).toContain('ADMIN ops@tidemark.example, temporary password');
    const { rows } = await api.database.query(`select role from app_user where user_name = 'ops@tidemark.example'`);
    expect(rows).toEqual([{ role: 'ADMIN' }]);
  });

  it('refuses --password-stdin where Keycloak administers passwords (R-B2)', async () => {
    const words = ['create-user', '--account', String(api.accountId), '--email', 'kim@read.example'];
    await expect(admin(...words, '--password-stdin')).rejects.toMatchObject({
      ...{ code: 'invalid_input', message: expect.stringContaining('with Keycloak, set the password there') },
    });
  });
});

describe('admin: retry-batches', () => {
  it('prints how many batches are queued again, in the singular or plural (R-A15)', async () => {
    expect(await admin('retry-batches')).toBe('0 batches are queued again');
    expect(await admin('retry-batches', '--account', String(api.accountId))).toBe('1 batch is queued again');
  });
});

describe('admin: the audit trail of commands', () => {
  interface Entry {
    readonly action: string;
    readonly accountId: number | null;
    readonly userName: string;
    readonly targetId: string;
  }
  const trail = async (client: TestClient, query: string) =>
    (await client.get<readonly Entry[]>(`/account/audit${query}`)).body;

  it('the trail names the operator given by --as; only an ADMIN can read entries that belong to no account (R-B14)', async () => {
    const ada = await api.signIn('ada', 'ADMIN');
    const commands: readonly (readonly [action: string, words: readonly string[]])[] = [
      ['ClientCreated', ['create-client', '--client', 'trailed', '--redirect-uri', 'https://x.example/cb']],
      ['ClientSecretReplaced', ['rotate-client-secret', '--client', 'trailed']],
      ['SigningKeyAdded', ['rotate-keys']],
    ];
    for (const [action, words] of commands) {
      const printed = await admin(...words, '--as', 'Olga of operations');
      const [entry] = await trail(ada, '?scope=operator&itemsPerPage=1');
      expect(entry).toMatchObject({ action, accountId: null, userName: 'Olga of operations', requestId: null });
      expect(printed).toContain(entry?.targetId);
      const secret = found(/secret (\S+?),?(?: |$)/, printed);
      if (secret !== '') expect(JSON.stringify(entry)).not.toContain(secret);
    }
    expect((await trail(ada, '')).map(({ accountId }) => accountId)).not.toContain(null);
    const own = await trail(api.manager, '');
    expect(own.every(({ accountId }) => accountId === api.accountId)).toBe(true);
    for (const scope of ['operator', 'all']) {
      expect((await api.manager.get(`/account/audit?scope=${scope}`)).status).toBe(403);
    }
  });

  it('without --as, the trail names the operator by the user name on the machine; an ADMIN reads the trails of all accounts (R-B14)', async () => {
    const words = ['--account', String(api.otherAccountId), '--email', 'all@tidemark.example'];
    await admin('create-user', ...words);
    const bert = await api.signIn('bert', 'ADMIN');
    const [entry] = await trail(bert, '?scope=All&action=UserCreated&itemsPerPage=1');
    expect(entry).toMatchObject({ accountId: api.otherAccountId, userName: 'olaf' });
    expect(await trail(api.stranger, '?action=UserCreated')).toMatchObject([{ userName: 'olaf' }]);
  });

  it('a failed command adds no entry (R-B14)', async () => {
    const count = async () => (await api.database.query('select from audit_entry')).rowCount;
    const before = await count();
    await expect(admin('create-client', '--client', 'demo')).rejects.toMatchObject({ code: 'conflict' });
    await expect(admin('rotate-client-secret', '--client', 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(admin('rotate-keys', '--as', ' ')).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await count()).toBe(before);
  });
});

describe('admin: invalid arguments', () => {
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
  ])('the arguments %j are refused with invalid_input (§5)', async (argv) => {
    await expect(admin(...argv)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it.each([
    [[], 'a command is required'],
    [['nothing'], 'unknown command nothing'],
    [['constructor'], 'unknown command constructor'],
    [['create-account', 'and', 'more'], 'create-account takes options only, got and more'],
    [['create-client', '--colour', 'blue'], "Unknown option '--colour'"],
  ])('the error for the arguments %j begins with what is wrong; the usage follows (§5)', async (argv, problem) => {
    const message = expect.stringMatching(new RegExp(`^${problem}.*\n\nadmin <command>`, 's'));
    await expect(admin(...argv)).rejects.toMatchObject({ code: 'invalid_input', message });
  });

  it.each([
    ['--language', 'xx', 'must be an ISO 639-1 language code such as en, got "xx"'],
    ['--time-zone', 'Mars', 'must be an IANA or Windows time zone, got "Mars"'],
    ['--currency', 'euro', 'must be an ISO 4217 currency code such as EUR, got "EURO"'],
  ])(
    'when create-account refuses the value of the option %s, the error begins with the name of the option (§5)',
    async (option, value, rule) => {
      const words = ['create-account', '--name', 'X', '--manager', 'a@x.example', option, value];
      await expect(admin(...words)).rejects.toMatchObject({ message: `${option} ${rule}` });
    },
  );
});

describe('admin: as a process', { timeout: 90_000 }, () => {
  const run = (...argv: readonly string[]) => {
    const { DATABASE_URL, REDIS_URL } = api.parts.config;
    const env = { PATH: process.env.PATH, DATABASE_URL, REDIS_URL };
    return promisify(execFile)(process.execPath, [MAIN, 'admin', ...argv], { env });
  };

  /**
   * Runs an admin command with `input` on standard input.
   * @returns the exit code and the texts on standard output and standard error.
   */
  const runWithInput = async (input: string, ...argv: readonly string[]) => {
    const { DATABASE_URL, REDIS_URL } = api.parts.config;
    const env = { PATH: process.env.PATH, DATABASE_URL, REDIS_URL };
    const child = spawn(process.execPath, [MAIN, 'admin', ...argv], { env });
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  };

  it('--password-stdin sets a password and does not print it; the user can immediately get tokens with the password (§5)', async () => {
    const words = ['create-account', '--name', 'Read', '--manager', 'meg@read.example', '--client', 'read-client'];
    const { code, stdout, stderr } = await runWithInput(`${CHOSEN}\nnot read\n`, ...words, '--password-stdin');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^account \d+: Read\nmanager meg@read\.example, password as given\n/);
    expect(stdout).not.toContain(CHOSEN);
    const token = await requestToken(api.origin, {
      ...{ grant_type: 'password', client_id: 'read-client', client_secret: found(/secret (\S+),/, stdout) },
      ...{ username: 'meg@read.example', password: CHOSEN },
    });
    const { body } = await createTestClient(api.origin, token).get('/account');
    expect(body).toMatchObject({ name: 'Read' });
    const { rows } = await api.database.query(
      `select proven_email, must_change_password from app_user where user_name = 'meg@read.example'`,
    );
    expect(rows).toEqual([{ proven_email: null, must_change_password: false }]);
  });

  it.each([
    ['too short', 'short\n', 'the password on standard input must have at least 10 characters'],
    [
      'the email address',
      'eve@read.example\n',
      'the password on standard input must not be the user name or email address',
    ],
    ['too long', `${'x'.repeat(201)}\n`, 'the password on standard input must have at most 200 characters'],
    ['missing', '', 'the password on standard input must have at least 10 characters'],
  ])('--password-stdin creates no user when the password is %s (§5, R-B10)', async (_case, input, stderr) => {
    const words = ['create-user', '--account', String(api.accountId), '--email', 'eve@read.example'];
    expect(await runWithInput(input, ...words, '--password-stdin')).toEqual({
      ...{ code: 1, stdout: '', stderr: `${stderr}\n` },
    });
    const { rows } = await api.database.query(`select from app_user where user_name = 'eve@read.example'`);
    expect(rows).toEqual([]);
  });

  it('a successful command prints only its result and exits with 0; a failed command writes only to stderr and exits with 1 (§5)', async () => {
    const { stdout, stderr } = await run('rotate-keys');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^key [\w-]{43} is published; it starts to sign tokens in 15 minutes\n$/);
    expect((await run('--help')).stdout).toContain('create-user --account ID');
    const { rows } = await api.database.query('select user_name from audit_entry order by id desc limit 1');
    expect(rows).toEqual([{ user_name: userInfo().username }]);
    await expect(run('create-user', '--account', '77', '--email', 'a@x.example')).rejects.toMatchObject({
      ...{ code: 1, stdout: '', stderr: 'account 77 does not exist; create-account creates one\n' },
    });
    await expect(run('nothing')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('create-account') });
  });
});

describe('admin: feature', () => {
  it('adds a feature with a maximum level to an account, and no user of the account can get a higher level (§4.1, R-C3)', async () => {
    const account = ['--account', String(api.accountId)];
    expect(await admin('feature', ...account)).toContain('1 Structure: Admin');
    const printed = await admin('feature', ...account, '--name', 'Maps', '--level', 'read');
    const id = Number(found(/^(\d+) Maps: Read$/m, printed));
    expect(id).toBeGreaterThanOrEqual(1_000_000_000);
    expect((await api.manager.get('/account/features')).body).toContainEqual({ id, name: 'Maps', level: 'Read' });
    const userId = await addPerson(api, 'map reader');
    const give = (level: string) => api.manager.post(`/account/user/${userId}/features`, [{ id, level }]);
    expect([(await give('Write')).status, (await give('Read')).status]).toEqual([400, 200]);
    expect(await admin('feature', ...account, '--name', 'MAPS', '--level', 'Admin')).toContain(`${id} Maps: Admin`);
    expect((await give('Write')).status).toBe(200);
    const { body: trail } = await api.manager.get<object[]>('/account/audit');
    expect(trail.slice(0, 5)).toMatchObject([
      { action: 'FeaturesChanged', targetId: userId },
      { action: 'FeaturesChanged', targetName: 'Maps', userName: 'olaf', details: { level: 'Admin' } },
      { action: 'FeaturesChanged', targetId: userId },
      { action: 'FeaturesChanged', targetName: 'Maps', details: { level: 'Read' } },
      { action: 'CatalogueEntryCreated', targetName: 'Maps', details: { catalogue: 'feature' } },
    ]);
    await expect(admin('feature', ...account, '--name', 'x', '--level', 'all')).rejects.toThrow(
      '--level must be one of',
    );
    await expect(admin('feature', '--account', '4711')).rejects.toThrow('account 4711 does not exist');
  });
});
