/** Every process ends in time after SIGTERM, even with open connections or without a database (R-K2). */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventStream } from '../support/clients/event-stream.ts';
import { createGrpcReader } from '../support/clients/grpc-client.ts';
import { openWatcher } from '../support/clients/watcher.ts';
import { openTcpGate } from '../support/doubles/tcp-gate.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

/** SHUTDOWN_TIMEOUT_MS of the roles in this test; R-K2 allows 30 s. */
const TIMEOUT_MS = 12_000;

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 60_000);
afterAll(() => world?.close());

const start = (roles: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  startRoles(roles, { ...world.environment, SHUTDOWN_TIMEOUT_MS: String(TIMEOUT_MS), ...environment });

interface LogLine {
  readonly msg?: string;
  readonly time: string;
}

/**
 * Sends SIGTERM and checks how long the process took to stop. The duration is computed from the times in the process's
 * log: on a busy machine they are more accurate than times measured by the test. A process that does not stop within
 * SHUTDOWN_TIMEOUT_MS logs an error and exits with 1.
 * @returns exit code and last log line.
 */
async function stop(roles: RoleProcess) {
  const code = await roles.kill('SIGTERM');
  const lines = roles.log().trim().split('\n');
  const stopping = JSON.parse(lines.find((line) => line.includes('"msg":"stopping"')) ?? '{}') as LogLine;
  const last = JSON.parse(lines.at(-1) ?? '{}') as LogLine;
  expect(Date.parse(last.time) - Date.parse(stopping.time), 'duration of the stop').toBeLessThan(TIMEOUT_MS);
  return { code, last };
}

const STOPPED = { code: 0, last: { msg: 'stopped' } };

describe.concurrent('stop: SIGTERM (R-K2)', () => {
  test('ends an api process while a client follows the progress of a file', async () => {
    const api = await start(['api']);
    const client: ApiClient = await signIn(api.http);
    const { sourceId } = await createSiteAndSource(client);
    const variableId = await createVariable(client, sourceId);
    const raw = `date;value;variable_id\n2026-04-01T00:00:00Z;1;${variableId}\n`;
    const headers = { 'content-type': 'text/csv' };
    const fileId = await client.call<string>('POST', '/storage?filename=a.csv', undefined, { raw, headers });
    const events = await fetch(`${api.http}/storage/${fileId}/events`, {
      headers: { authorization: `Bearer ${client.token}` },
    });
    const reader = events.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('progress');
    expect(await stop(api)).toMatchObject(STOPPED);
    const rest = async () => {
      while (!(await reader?.read())?.done);
      return 'ended';
    };
    // The stream may end or be cut off; the client must not wait for ever.
    expect(await rest().catch(() => 'cut off')).toMatch(/ended|cut off/);
  }, 60_000);

  test('ends each watch over gRPC or HTTP with the error `dependency_unavailable` (R-J2)', async () => {
    const grpc = await start(['api', 'grpc']);
    const client = await signIn(grpc.http);
    const { sourceId } = await createSiteAndSource(client);
    const reader = createGrpcReader(grpc.grpc, client.token);
    const variableId = await createVariable(client, sourceId);
    const watcher = openWatcher(reader, { variableIds: [variableId] });
    await eventually('the watch', async () => watcher.messageCount() > 0);
    const stream = await openEventStream(grpc.http, `/data/watch?variableId=${variableId}`, client);
    await stream.begun();
    expect(await stop(grpc)).toMatchObject(STOPPED);
    expect(await watcher.ended()).toMatchObject({ reason: 'dependency_unavailable' });
    expect((await stream.ended()).data).toMatchObject({ code: 'dependency_unavailable' });
    reader.close();
  }, 60_000);

  test.each([
    ['the roles api and grpc', ['api', 'grpc']],
    ['the role ingester', ['ingester']],
    ['the role deliverer', ['deliverer']],
    ['the role calculator', ['calculator']],
  ])(
    'while Redis is unavailable, SIGTERM ends a process that runs %s',
    async (_case, roles) => {
      const redis = await openTcpGate(world.environment.REDIS_URL ?? '');
      const running = await start(roles, { REDIS_URL: redis.url, R_ROOT: testRRoot() });
      await redis.shut();
      await eventually('the outage to be reported', async () => running.log().includes('Redis is unavailable'));
      expect(await stop(running)).toMatchObject(STOPPED);
    },
    60_000,
  );

  test('ends an ingester even if the reader of the log has closed the pipe', async () => {
    const ingester = await start(['ingester']);
    ingester.closeLog();
    expect(await Promise.race([ingester.kill('SIGTERM'), pause(TIMEOUT_MS, 'still running', { ref: false })])).toBe(0);
  }, 60_000);

  test.each([
    ['the roles api and grpc', ['api', 'grpc']],
    ['the roles ingester and deliverer', ['ingester', 'deliverer']],
    ['the role calculator', ['calculator']],
  ])(
    'while the database is unavailable, SIGTERM ends a process that runs %s',
    async (_case, roles) => {
      const database = await openTcpGate(world.environment.DATABASE_URL ?? '');
      const running = await start(roles, { DATABASE_URL: database.url, R_ROOT: testRRoot() });
      await database.shut();
      expect(await stop(running)).toMatchObject(STOPPED);
    },
    60_000,
  );
});
