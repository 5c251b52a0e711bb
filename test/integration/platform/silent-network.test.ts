/**
 * Networks and processes that fall silent without closing connections: the service detects this and continues (R-A15,
 * R-K3).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTcpGate, type TcpGate } from '../../support/doubles/tcp-gate.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiClient, signIn } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { createStoredWorld, createWorld, type World } from '../../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../../support/services/role-process.ts';
import { testRRoot } from '../../support/services/stack.ts';

let world: World;
let databaseGate: TcpGate;
let redisGate: TcpGate;
let roles: RoleProcess;
let api: ApiClient;
let input: number;
let doubled: number;
let hour = 0;

const SCRIPT =
  'ts <- inputVariables$a$TimeSeries; list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';

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
  doubled = await createVariable(api, sourceId, {
    calculated: calculated(SCRIPT, [{ alias: 'a', variableId: input, period: 1, periodTimeBase: 'Minute' }]),
  });
}, 60_000);

afterAll(async () => {
  await roles?.kill();
  await Promise.all([databaseGate?.shut(), redisGate?.shut()]);
  await world?.close();
});

/** Pushes a value, repeats it while the answer is 503, as a shipped client does, and waits for the computed point. */
async function expectPushToBeComputed(withinMs: number): Promise<void> {
  hour += 1;
  const date = `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`;
  const deadlineMs = performance.now() + withinMs;
  const push = () => api.post('/api/data', [{ variableId: input, data: [{ date, value: hour }] }]);
  await eventually('an accepted push', async () => (await push()).status === 200, withinMs);
  const isComputed = async () => {
    const { status, body } = await api.get<{ rawValue: number }[]>(`/data?variableId=${doubled}&from=${date}`);
    return status === 200 && body[0]?.rawValue === 2 * hour;
  };
  await eventually('the computed point', isComputed, deadlineMs - performance.now());
}

const readiness = async () =>
  (await api.get<{ status: string; checks: Readonly<Record<string, string>> }>('/health/ready')).body;

describe('silent network:', () => {
  test('database connections that forward nothing are discarded: a push is computed within 25 s', async () => {
    await expectPushToBeComputed(25_000);
    databaseGate.freeze();
    await expectPushToBeComputed(25_000);
    expect(roles.log()).toContain('half-dead database connections closed');
  }, 60_000);

  test('database connections that lose answers are discarded: a push is computed within 25 s', async () => {
    databaseGate.freeze('answers');
    await expectPushToBeComputed(25_000);
  }, 60_000);

  test('Redis connections that forward nothing are replaced: a push is computed within 15 s', async () => {
    redisGate.freeze();
    await expectPushToBeComputed(15_000);
    await eventually('readiness', async () => (await readiness()).status === 'up', 15_000);
  }, 60_000);

  test('without Redis pushes are ingested and computed by polling; the service is degraded, not down', async () => {
    await redisGate.shut();
    await eventually('readiness', async () => (await readiness()).status === 'degraded', 15_000);
    const before = roles.log().length;
    for (let count = 0; count < 3; count += 1) await expectPushToBeComputed(20_000);
    expect(await readiness()).toMatchObject({ checks: { queue: 'down', database: 'up', progress: 'up' } });
    // Each broken connection logs one warning a minute, however many pushes arrive.
    const purposes = roles
      .log()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"purpose":'))
      .map((line) => JSON.parse(line).purpose);
    expect(purposes.length).toBeGreaterThan(0);
    expect(purposes).toEqual([...new Set(purposes)]);
    await redisGate.open();
    await eventually('readiness', async () => (await readiness()).status === 'up', 15_000);
    await expectPushToBeComputed(15_000);
  }, 90_000);
});

test('silent network: an ingester suspended inside its transaction loses the account to another within 20 s (R-D6)', async () => {
  const own = await createStoredWorld();
  const ingesters: RoleProcess[] = [];
  const apiRole = await startRoles(['api'], own.environment);
  try {
    ingesters.push(await startRoles(['ingester'], own.environment));
    const client = await signIn(apiRole.http);
    const { sourceId } = await createSiteAndSource(client);
    const variableId = await createVariable(client, sourceId);
    const push = (value: number) =>
      client.post('/api/data', [{ variableId, data: [{ date: '2026-03-01T00:00:00Z', value }] }]);
    const isRead = async (value: number) =>
      (await client.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`))[0]?.rawValue === value;
    await push(1);
    await eventually('the first value', () => isRead(1));
    // The ingester waits for this row inside its transaction, with the lock of the account, and is stopped there.
    const holder = await own.database.connect();
    await holder.query('begin');
    await holder.query('select from series where variable_id = $1 for update', [variableId]);
    expect((await push(2)).status).toBe(200);
    await eventually('the ingester to wait', async () => {
      const { rows } = await own.database.query('select from pg_locks where not granted');
      return rows.length > 0;
    });
    process.kill(ingesters[0]?.pid ?? 0, 'SIGSTOP');
    await holder.query('commit');
    holder.release();
    ingesters.push(await startRoles(['ingester'], own.environment));
    await eventually('the second value', () => isRead(2), 20_000);
    process.kill(ingesters[0]?.pid ?? 0, 'SIGCONT');
    await push(3);
    await eventually('the third value', () => isRead(3), 20_000);
  } finally {
    for (const ingester of ingesters) await ingester.kill();
    await apiRole.kill();
    await own.close();
  }
}, 90_000);
