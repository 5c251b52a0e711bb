/** The shell blocks of README.md, except those that begin with npm, run in sh and in bash, and remove the site they create. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
const DEMO_USER = 'manager@demo.example';

let world: StoredWorld;
let roles: RoleProcess;
let api: ApiClient;
let directory: string;

/** Creates what `npm start` leaves for the blocks: addresses and credentials of the stack, and the demo's variable. */
beforeAll(async () => {
  world = await createStoredWorld();
  await registerClient(world.database, {
    clientId: 'tidemark-demo',
    secret: 's3',
    scopes: ['datahub-api', 'push-data'],
  });
  await world.addUser(DEMO_USER, { role: 'MANAGER', mayPush: true });
  roles = await startRoles(['api', 'ingester', 'calculator'], { ...world.environment, R_ROOT: testRRoot() });
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

test('readme: all shell blocks except npm commands run in sh and in bash, and remove the site that they create', async () => {
  const text = await readFile(README, 'utf8');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block]) => block ?? []);
  const script = blocks.filter((block) => !block.startsWith('npm ')).join('\n');
  const sites = await api.call<unknown[]>('GET', '/sites');
  for (const shell of ['sh', 'bash']) {
    // A bash of shell level 1 whose input is a socket takes itself for a remote shell and reads the machine's bashrc.
    const env = { ...process.env, SHLVL: '2' };
    const { stdout, stderr } = await run(shell, ['-eu', '-c', script], { cwd: directory, env });
    expect(stderr, shell).toBe('');
    expect(stdout, shell).toMatch(/^2000-08-14 30000 #{30}$/m);
    expect(stdout).toMatch(/"rawValue":4\.2,.*"version":"measured"/);
    expect(stdout).toMatch(/"rawValue":4,.*"version":"estimated"/);
    expect(stdout).toMatch(/"rawValue":17\.2,/);
    expect(stdout).not.toContain('nothing_accepted');
    expect(await api.call('GET', '/sites')).toEqual(sites);
  }
}, 60_000);
