/** The database or Redis becomes unreachable and returns: the service reports it, then continues (R-K3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTcpGate, type TcpGate } from '../support/doubles/tcp-gate.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

let world: World;
let databaseGate: TcpGate;
let redisGate: TcpGate;
let roles: RoleProcess;
let api: ApiClient;
let input: number;
let doubled: number;

beforeAll(async () => {
  world = await createWorld();
  const { DATABASE_URL = '', REDIS_URL = '' } = world.environment;
  [databaseGate, redisGate] = [await openTcpGate(DATABASE_URL), await openTcpGate(REDIS_URL)];
  roles = await startRoles(['api', 'ingester', 'calculator'], {
    ...world.environment,
    DATABASE_URL: databaseGate.url,
    REDIS_URL: redisGate.url,
    R_ROOT: testRRoot(),
  });
  api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  input = await createVariable(api, sourceId);
  const script =
    'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';
  doubled = await createVariable(api, sourceId, {
    calculated: calculated(script, [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Minute' }]),
  });
}, 60_000);

afterAll(async () => {
  await roles?.kill();
  await Promise.all([databaseGate?.shut(), redisGate?.shut()]);
  await world?.close();
});

const push = (value: number) =>
  api.post('/api/data', [{ variableId: input, data: [{ date: `2026-03-01T0${value}:00:00Z`, value }] }]);

async function valuesOf(variableId: number): Promise<readonly number[]> {
  const rows = await api.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`);
  return rows.map(({ rawValue }) => rawValue);
}

const isComputed = (...values: number[]) =>
  eventually(`${values}`, async () => JSON.stringify(await valuesOf(doubled)) === JSON.stringify(values), 25_000);

/** Names of the failed readiness checks. */
async function down(): Promise<readonly string[]> {
  const { body } = await api.get<{ checks: Readonly<Record<string, string>> }>('/health/ready');
  return Object.entries(body.checks).flatMap(([name, state]) => (state === 'down' ? [name] : []));
}

describe('outage: the service recovers', () => {
  test('after an outage of Redis, pushes accepted during it are ingested and calculated (R-K3)', async () => {
    await push(1);
    await isComputed(2);
    await redisGate.shut();
    await eventually('readiness to name the dependency', async () => (await down()).includes('queue'));
    expect(await push(2)).toMatchObject({ status: 200, body: { accepted: { readings: 1 } } });
    await redisGate.open();
    await isComputed(2, 4);
  }, 60_000);

  test('after an outage of the database, during which requests answer 503 and the service is live but not ready (R-A5, R-A9, R-K3)', async () => {
    await databaseGate.shut();
    await eventually('readiness to name the dependency', async () => (await down()).includes('database'));
    const refused = await push(3);
    expect(refused).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await api.get('/health/live')).status).toBe(200);
    await databaseGate.open();
    await eventually('the service', async () => (await push(3)).status === 200);
    await isComputed(2, 4, 6);
    expect(await down()).toEqual([]);
  }, 60_000);
});
