/**
 * `npm start` loads the demo data. If loading fails, a later start loads the rest. The test makes loading fail after
 * each of the POST requests in turn.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadDemo } from '../../../src/local/demo/load-demo.ts';
import type { Progress } from '../../../src/local/progress.ts';
import { makeSecrets } from '../../../src/local/secrets.ts';
import { DEMO_CLIENT_ID, demoUsers, seedIdentity } from '../../../src/local/seed.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { createStoredWorld } from '../../support/fixtures/world.ts';
import { startRoles } from '../../support/services/role-process.ts';
import { testRRoot } from '../../support/services/stack.ts';

const DAYS = 84;
const REALM = 'tidemark';
const SILENT: Progress = { phase: (_label, work) => work(() => {}), say: () => {} };

/**
 * Forwards requests to `target` and passes the answers on. From the `count`th POST on, closes the connection of each
 * POST after `target` has answered, so that the client gets no answer.
 */
async function openInterruption(target: string, count: number) {
  let posts = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/' } = request;
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
    const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(target + url, { method, headers, ...body });
    const text = await answer.text();
    if (method === 'POST') posts += 1;
    if (method === 'POST' && posts >= count) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

it('npm start: if loading the demo data fails, a later start loads the rest and adds no second site (R-K3)', async () => {
  const world = await createStoredWorld();
  const secrets = makeSecrets();
  await seedIdentity(world.environment.DATABASE_URL ?? '', secrets);
  const environment = { ...world.environment, R_ROOT: testRRoot() };
  const roles = await startRoles(['api', 'grpc', 'ingester', 'calculator'], environment);
  const users = demoUsers(secrets);
  const client = { clientId: DEMO_CLIENT_ID, clientSecret: secrets.clientSecret };
  const stack = {
    api: roles.http,
    push: roles.http,
    auth: roles.http,
    grpc: roles.grpc,
    realm: REALM,
    ...client,
    users,
  };
  const options = { progress: SILENT, taylorCsv: join(testRRoot(), 'opt/tidemark/demo/taylor.csv') };
  const load = (url: string) => loadDemo({ ...stack, database: '', redis: '', api: url, push: url }, options);
  try {
    // Each load is interrupted after one POST, which creates one object: the site, the source, three variables, the
    // forecast. The last load is interrupted after two, because its first POST only repeats the push of the forecast.
    for (const count of [1, 1, 1, 1, 1, 1, 2]) {
      const interruption = await openInterruption(roles.http, count);
      await expect(load(interruption.url)).rejects.toThrow('fetch failed');
      interruption.close();
    }
    expect((await load(roles.http))[0]).toContain(`${DAYS} days`);
    const form = { grant_type: 'password', client_id: client.clientId, client_secret: client.clientSecret };
    const { userName = '', password = '' } = users[1] ?? {};
    const token = await requestToken(roles.http, { ...form, username: userName, password, scope: 'datahub-api' });
    const api = createTestClient(roles.http, token);
    expect((await api.get<unknown[]>('/sites')).body).toHaveLength(1);
    expect((await api.get<unknown[]>('/variables')).body).toHaveLength(3);
  } finally {
    await roles.kill();
    await world.close();
  }
}, 120_000);
