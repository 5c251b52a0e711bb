/**
 * Tests roles that run in separate processes: their public URLs (R-A1), their wait for the database at the start, and
 * their logs (R-K4).
 */
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTcpGate } from '../support/doubles/tcp-gate.ts';
import { eventually } from '../support/eventually.ts';
import { CLIENT, PASSWORD } from '../support/fixtures/accounts.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';

const REQUEST_ID = 'request-of-the-roles-test';
const SECRET_VALUE = 987_654.321;

let world: World;
let api: RoleProcess;
let ingester: RoleProcess;
let client: ApiClient;
let variableId: number;

beforeAll(async () => {
  world = await createWorld();
  const addresses = { AUTH_URL: 'https://id.example.test', API_URL: 'https://api.example.test' };
  api = await startRoles(['api'], { ...world.environment, ...addresses });
  ingester = await startRoles(['ingester'], { ...world.environment, ...addresses });
  client = await signIn(api.http);
  const { sourceId } = await createSiteAndSource(client);
  variableId = await createVariable(client, sourceId);
}, 60_000);

afterAll(async () => {
  await Promise.all([api?.kill(), ingester?.kill()]);
  await world?.close();
});

test('roles: two URLs begin with the value of AUTH_URL: the issuer in a token, and the token endpoint in the discovery document (R-A1, R-B2)', async () => {
  const claims = JSON.parse(Buffer.from(client.token?.split('.')[1] ?? '', 'base64url').toString()) as { iss: string };
  expect(claims.iss).toBe('https://id.example.test/realms/tidemark');
  const { body } = await client.get<{ token_endpoint: string }>('/realms/tidemark/.well-known/openid-configuration');
  expect(body.token_endpoint).toBe('https://id.example.test/realms/tidemark/protocol/openid-connect/token');
});

test('roles: a push that one process accepts is ingested by another process and can be read through the first process (R-A1)', async () => {
  const data = [{ date: '2026-03-01T00:00:00Z', value: SECRET_VALUE }];
  await client.call('POST', '/api/data', [{ variableId, data }], { headers: { 'x-request-id': REQUEST_ID } });
  const rows = await eventually('the point', async () => {
    const found = await client.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`);
    return found.length > 0 && found;
  });
  expect(rows).toMatchObject([{ rawValue: SECRET_VALUE }]);
});

test('roles: a process with the roles `api`, `grpc`, `ingester` and `deliverer` waits at its start until the database answers, then becomes ready (R-K1, R-K3)', async () => {
  const gate = await openTcpGate(world.environment.DATABASE_URL ?? '');
  await gate.shut();
  let refused = 0;
  const refusal = createServer((socket) => {
    refused += 1;
    socket.destroy();
  }).listen(Number(new URL(gate.url).port), '127.0.0.1');
  const environment = { ...world.environment, DATABASE_URL: gate.url };
  const starting = startRoles(['api', 'grpc', 'ingester', 'deliverer'], environment);
  starting.catch(() => {});
  await eventually('a refused connection', async () => refused > 0);
  await new Promise((resolve) => refusal.close(resolve));
  await gate.open();
  const roles = await starting;
  expect((await fetch(`${roles.http}/health/ready`)).status).toBe(200);
  expect(roles.log()).toContain('the database is unavailable; this process waits until the database answers');
  await roles.kill();
  await gate.shut();
});

test('roles: log lines are JSON without secrets or pushed values; the line of a push has request id, account and duration (R-K4, R-A10)', async () => {
  const line = await eventually('the line of the push', async () =>
    api
      .log()
      .split('\n')
      .find((text) => text.includes(REQUEST_ID)),
  );
  expect(JSON.parse(line)).toMatchObject({
    requestId: REQUEST_ID,
    accountId: world.accountId,
    method: 'POST',
    path: '/api/data',
    status: 200,
    durationMs: expect.any(Number),
  });
  const all = `${api.log()}${ingester.log()}`;
  for (const text of all.trim().split('\n')) expect(() => JSON.parse(text), text).not.toThrow();
  for (const secret of [client.token ?? '', CLIENT.secret, PASSWORD, String(SECRET_VALUE)]) {
    expect(all).not.toContain(secret);
  }
});
