/**
 * Runs the shell blocks of README.md and of the tour, which continues README.md. Leaves out the blocks that begin with
 * npm, because they act on the stack of `npm start`.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerClient } from '../../../src/accounts/clients/client-store.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, type StoredWorld } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { testRRoot } from '../../support/services/stack.ts';

const run = promisify(execFile);
const README = new URL('../../../README.md', import.meta.url);
const TOUR = new URL('../../../src/local/TOUR.md', import.meta.url);
/**
 * The last command of README.md, which deletes the site. The test of the tour leaves this command out, because the tour
 * needs the site.
 */
const CLEAN_UP = /^call -X DELETE .*$/m;
const TOUR_PORT = '9099';
const DEMO_USER = 'manager@demo.example';

let world: StoredWorld;
let roles: RoleProcess;
let api: ApiClient;
let directory: string;

/**
 * Does the work of `npm start`, which these tests do not run: starts the roles, and creates `.local/stack.json` and the
 * user, client and variable of the demo.
 */
beforeAll(async () => {
  world = await createStoredWorld();
  await registerClient(world.database, {
    clientId: 'tidemark-demo',
    secret: 's3',
    scopes: ['datahub-api', 'push-data'],
  });
  await world.addUser(DEMO_USER, { role: 'MANAGER', mayPush: true });
  const receivers = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };
  const environment = { ...world.environment, ...receivers, R_ROOT: testRRoot() };
  roles = await startRoles(['api', 'ingester', 'calculator', 'deliverer'], environment);
  api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  const peak = await createVariable(api, sourceId, { name: 'Daily peak' });
  const data = [{ date: '2000-08-14T00:00:00Z', value: 30_000 }];
  await api.call('POST', '/api/data', [{ variableId: peak, data }]);
  directory = await mkdtemp(join(tmpdir(), 'readme-'));
  await mkdir(join(directory, '.local'));
  const stack = { api: roles.http, clientSecret: 's3', users: [{ userName: DEMO_USER, password: PASSWORD }] };
  await writeFile(join(directory, '.local/stack.json'), JSON.stringify(stack, null, 2));
}, 60_000);
afterAll(async () => {
  await roles?.kill('SIGTERM');
  await world?.close();
  await rm(directory, { recursive: true, force: true });
});

/** @returns the shell commands of a page, without blocks that begin with npm. */
async function commandsOf(page: URL): Promise<string> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```sh\n(.*?)^```/gms)].flatMap(
    ([, block]) => block ?? [],
  );
  return blocks.filter((block) => !block.startsWith('npm ')).join('\n');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs commands. Throws when a command fails or writes to standard error. @returns standard output. */
async function runIn(shell: string, commands: string): Promise<string> {
  // At SHLVL 1 with a socket as input, bash takes itself for a remote shell and reads the machine's bashrc.
  const env = { ...process.env, SHLVL: '2' };
  const { stdout, stderr } = await run(shell, ['-eu', '-c', commands], { cwd: directory, env });
  expect(stderr, shell).toBe('');
  return stdout;
}

test('readme: the shell blocks that do not begin with npm succeed in sh and in bash, and leave no new site in the database', async () => {
  const script = await commandsOf(README);
  const sites = await api.call<unknown[]>('GET', '/sites');
  for (const shell of ['sh', 'bash']) {
    const stdout = await runIn(shell, script);
    expect(stdout, shell).toMatch(/^2000-08-14 30000 #{30}$/m);
    expect(stdout).toMatch(/"rawValue":4\.2,.*"version":"measured"/);
    expect(stdout).toMatch(/"rawValue":4,.*"version":"estimated"/);
    expect(stdout).toMatch(/"rawValue":17\.2,/);
    expect(stdout).not.toContain('nothing_accepted');
    expect(await api.call('GET', '/sites')).toEqual(sites);
  }
}, 60_000);

test('tour (src/local/TOUR.md): once the commands of the readme have run, every shell block of the tour that does not begin with npm succeeds; the API returns exactly one error, and the tour announces this error', async () => {
  const readme = await commandsOf(README);
  expect(readme).toMatch(CLEAN_UP);
  const tour = (await commandsOf(TOUR))
    .replaceAll('/tmp/', `${directory}/`)
    .replaceAll(TOUR_PORT, String(await freePort()));
  const stdout = await runIn('sh', `${readme.replace(CLEAN_UP, '')}\necho TOUR\n${tour}`);
  const answers = stdout.slice(stdout.indexOf('TOUR'));
  expect(answers.match(/^\{"code":.*$/gm)).toEqual([expect.stringContaining('clientData.Boiler.Main.Power')]);
  expect(answers).toContain('{"elements":[{"sourceSerialNumber":"OVEN-1",');
  expect(answers).toContain('"outcome":"ok"');
  expect(answers).toContain('"clientData":{"Boiler":{"Main":{"Power":24}}}');
  expect((await readFile(join(directory, 'power.rdata'))).length).toBeGreaterThan(100);
}, 60_000);
