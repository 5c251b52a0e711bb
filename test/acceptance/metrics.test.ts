/** Tests `/metrics` of running roles: counters, names and labels, access, and what it shows during outages (R-A9). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Family, parseExposition, sampleOf } from '../support/answers/exposition.ts';
import { createGrpcReader } from '../support/clients/grpc-client.ts';
import { createTestClient, requestToken } from '../support/clients/test-client.ts';
import { openTcpGate, type TcpGate } from '../support/doubles/tcp-gate.ts';
import { eventually } from '../support/eventually.ts';
import { passwordGrant } from '../support/fixtures/accounts.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

const TOKEN = 'token-of-the-scraper-of-the-test';

let world: World;
let databaseGate: TcpGate;
let redisGate: TcpGate;
let roles: RoleProcess;
/** When `redisGate` is shut, this process loses its connection to Redis but keeps its connection to the database. */
let cutOff: RoleProcess;
let api: ApiClient;
let sourceId: number;
let input: number;

beforeAll(async () => {
  world = await createWorld();
  const { DATABASE_URL = '', REDIS_URL = '' } = world.environment;
  [databaseGate, redisGate] = [await openTcpGate(DATABASE_URL), await openTcpGate(REDIS_URL)];
  const settings = { ...world.environment, METRICS_TOKEN: TOKEN, HEALTH_PORT: '0' };
  [roles, cutOff] = await Promise.all([
    startRoles(['api', 'grpc', 'ingester', 'calculator'], {
      ...{ ...settings, DATABASE_URL: databaseGate.url, R_ROOT: testRRoot() },
    }),
    startRoles(['grpc'], { ...settings, REDIS_URL: redisGate.url }),
  ]);
  api = await signIn(roles.http);
  ({ sourceId } = await createSiteAndSource(api));
  input = await createVariable(api, sourceId);
}, 60_000);

afterAll(async () => {
  await Promise.all([roles?.kill(), cutOff?.kill()]);
  await Promise.all([databaseGate?.shut(), redisGate?.shut()]);
  await world?.close();
});

const ask = (address: string, token?: string) =>
  fetch(`${address}/metrics`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

async function scrape(address = roles.http): Promise<ReadonlyMap<string, Family>> {
  const answer = await ask(address, TOKEN);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseExposition(await answer.text());
}

/** Waits until a sample has the value. */
const isCounted = (name: string, value: number, labels: Readonly<Record<string, string>> = {}) =>
  eventually(`${name} ${JSON.stringify(labels)} of ${value}`, async () => {
    const found = sampleOf(await scrape(), name, labels);
    if (found !== value) throw new Error(`it is ${found}`);
    return true;
  });

describe('metrics: counters (R-A9)', () => {
  test('count HTTP requests, ingested readings, and the elements, readings and bytes of pushes; accepted pushes are counted separately for each `way`', async () => {
    const readings = (hour: number, count: number) =>
      Array.from({ length: count }, (_, minute) => ({ date: new Date(Date.UTC(2026, 2, 1, hour, minute)), value: 1 }));
    const bodies = [
      // This push is so large that a worker thread reads it.
      [{ variableId: input, note: 'x'.repeat(200_000), data: readings(0, 3) }],
      [{ variableId: input, data: readings(1, 2) }],
      [
        { variableId: input, data: readings(2, 1) },
        { variableId: 999_999, data: readings(2, 4) },
      ],
    ];
    for (const body of bodies) await api.call('POST', '/api/data', body);
    const again = [{ variableId: input, data: readings(3, 1) }];
    for (let time = 0; time < 2; time += 1) await api.call('POST', '/api/data?operationId=again', again);
    expect((await api.post('/api/data', [{ variableId: input, data: 'no' }])).status).toBe(400);

    const found = await scrape();
    const counts = ['door', 'group', 'direct'].map(
      (way) => sampleOf(found, 'tidemark_pushes_accepted_total', { way }) ?? 0,
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(4);
    expect(counts[0], 'some went through the handler of small pushes').toBeGreaterThan(0);
    expect(sampleOf(found, 'tidemark_pushes_accepted_total', { way: 'resent' })).toBe(1);
    expect(sampleOf(found, 'tidemark_push_readings_total')).toBe(7);
    expect(sampleOf(found, 'tidemark_push_elements_total', { outcome: 'accepted' })).toBe(4);
    expect(sampleOf(found, 'tidemark_push_elements_total', { outcome: 'rejected' })).toBe(1);
    const bytes = [...bodies, again].reduce((sum, body) => sum + JSON.stringify(body).length, 0);
    expect(sampleOf(found, 'tidemark_push_bytes_total')).toBe(bytes);
    const pushes = { method: 'POST', route: '/api/data' };
    expect(sampleOf(found, 'tidemark_http_request_seconds_count', { ...pushes, status: '2xx' })).toBe(5);
    expect(sampleOf(found, 'tidemark_http_request_seconds_count', { ...pushes, status: '4xx' })).toBe(1);

    await isCounted('tidemark_ingest_readings_total', 7);
    const ingested = await scrape();
    const transactions = sampleOf(ingested, 'tidemark_ingest_transaction_seconds_count') ?? 0;
    expect(sampleOf(ingested, 'tidemark_ingest_lag_seconds_count')).toBe(transactions);
    const lag = sampleOf(ingested, 'tidemark_ingest_lag_seconds_sum') ?? 0;
    expect(lag, 'a push waited before its transaction began').toBeGreaterThan(
      sampleOf(ingested, 'tidemark_ingest_transaction_seconds_sum') ?? 0,
    );
    expect(lag / transactions).toBeLessThan(10);
  });

  test('count stored points, zygotes (the R processes that start the runs), and runs by outcome and by phase', async () => {
    const script = (text: string) => calculated(text, [{ alias: 'a', variableId: input, periodType: 'RelativeDate' }]);
    const good = 'list(TimeSeries = data.frame(Dates = c(0L, 60L), Values = c(1, 2)))';
    for (const text of [good, 'stop("no")']) {
      const variable = await createVariable(api, sourceId, { calculated: script(text) });
      await api.call('POST', `/variables/${variable}/forceUpdate`, {});
    }
    await isCounted('tidemark_calculation_runs_total', 1, { outcome: 'ok' });
    await isCounted('tidemark_calculation_runs_total', 1, { outcome: 'script_error' });
    const found = await scrape();
    const timed = (phase: string) => sampleOf(found, 'tidemark_calculation_phase_seconds_count', { phase });
    expect(['wait', 'load', 'sandbox_wait', 'r', 'store'].map(timed)).toEqual([2, 2, 2, 2, 1]);
    expect(sampleOf(found, 'tidemark_calculation_points_total', { direction: 'stored' })).toBe(2);
    expect(sampleOf(found, 'tidemark_zygotes_alive')).toBe(1);
    // The counter is 2 if the standby zygote has already started, and 1 if it has not.
    expect([1, 2]).toContain(sampleOf(found, 'tidemark_zygote_starts_total'));
    expect(sampleOf(found, 'tidemark_zygote_deaths_total')).toBe(0);
  });

  test('count the points and bytes read over REST, and count accepted and refused gRPC calls separately', async () => {
    const rows = await api.call<unknown[]>('GET', `/data?variableId=${input}`);
    const text = JSON.stringify(rows);
    await isCounted('tidemark_read_points_total', rows.length);
    await isCounted('tidemark_read_open_streams', 0);
    expect(sampleOf(await scrape(), 'tidemark_read_bytes_total')).toBeGreaterThanOrEqual(text.length);
    const reader = createGrpcReader(roles.grpc, api.token);
    const stranger = createGrpcReader(roles.grpc, 'nobody');
    await reader.readPoints({ variableIds: [input] });
    await stranger.refusalOf({ variableIds: [input] });
    const method = 'tidemark.v1.DataPoints/ReadPoints';
    await isCounted('tidemark_grpc_call_seconds_count', 1, { method, code: 'OK' });
    await isCounted('tidemark_grpc_call_seconds_count', 1, { method, code: 'UNAUTHENTICATED' });
    await isCounted('tidemark_grpc_open_calls', 0);
    reader.close();
    stranger.close();
  });

  test('count ingested and rejected rows of files, and completed and failed files', async () => {
    const csv = `date;value;variable_id\n2026-04-01T00:00:00Z;1;${input}\n2026-04-01T00:01:00Z;oops;${input}\n`;
    const headers = { 'content-type': 'text/csv' };
    await api.call('POST', '/storage?filename=a.csv', undefined, { raw: csv, headers });
    await api.call('POST', '/storage?filename=b.csv', undefined, { raw: 'nothing\n1\n', headers });
    await isCounted('tidemark_file_rows_total', 1, { outcome: 'ingested' });
    await isCounted('tidemark_file_rows_total', 1, { outcome: 'rejected' });
    await isCounted('tidemark_files_ended_total', 1, { state: 'completed' });
    await isCounted('tidemark_files_ended_total', 1, { state: 'failed' });
  });
});

describe('metrics: names and labels (R-A9)', () => {
  test('follow the conventions of Prometheus and contain no client input', async () => {
    await api.get('/secret-marker-path/4711');
    await api.get(`/sources/${sourceId}?secret-marker=1`);
    await api.get(`/realms/secret-marker/.well-known/openid-configuration`);
    const found = await scrape();
    for (const { name, type, help } of found.values()) {
      expect(name).toMatch(/^(tidemark|process|nodejs)_[a-z0-9_]+$/);
      expect(help).not.toBe('');
      if (name.startsWith('tidemark_')) expect(name.endsWith('_total'), name).toBe(type === 'counter');
      if (name.startsWith('tidemark_') && type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
    }
    const values = new Set(
      [...found.values()].flatMap(({ samples }) => samples.flatMap((it) => Object.values(it.labels))),
    );
    expect([...values].filter((value) => value.includes('marker') || value.includes('4711'))).toEqual([]);
    const routes = [...values].filter((value) => value.startsWith('/'));
    expect(routes).toEqual(expect.arrayContaining(['/sources/:id', '/api/data', '/data', '/realms/*', '/metrics']));
    expect(routes.filter((route) => /\d/.test(route))).toEqual([]);
    expect(sampleOf(found, 'tidemark_http_request_seconds_count', { route: 'none', method: 'GET' })).toBe(2);
  });

  test('the counters of set-aside batches and turned-away pushes are 0 before the first event', async () => {
    expect(sampleOf(await scrape(), 'tidemark_pushes_turned_away_total', { full: 'queue' })).toBe(0);
    expect(sampleOf(await scrape(), 'tidemark_ingest_set_aside_total')).toBe(0);
  });
});

describe('metrics: access (R-A9)', () => {
  test('on the API port, the scraper and an ADMIN may read the metrics; a manager and a caller without a valid token may not', async () => {
    await world.addUser('root@example.test', { role: 'ADMIN' });
    const adminToken = await requestToken(roles.http, passwordGrant('root@example.test', { scopes: ['datahub-api'] }));
    expect((await ask(roles.http)).status).toBe(401);
    expect((await ask(roles.http, `${TOKEN}x`)).status).toBe(401);
    expect((await ask(roles.http, api.token)).status).toBe(403);
    const refused = await createTestClient(roles.http, api.token).get<{ code: string }>('/metrics');
    expect(refused.body.code).toBe('permission_denied');
    expect((await ask(roles.http, adminToken)).status).toBe(200);
    expect((await ask(roles.http, TOKEN)).status).toBe(200);
  });

  test('with METRICS_TOKEN set, the health port shows the metrics only to a caller with this token', async () => {
    expect((await ask(roles.health)).status).toBe(401);
    expect((await ask(roles.health, api.token)).status).toBe(401);
    expect(sampleOf(await scrape(roles.health), 'tidemark_push_readings_total')).toBe(7);
  });
});

describe.concurrent('metrics: while a dependency is unavailable (R-A9)', () => {
  const dependency = async (name: string, address = roles.http) =>
    sampleOf(await scrape(address), 'tidemark_dependency_up', { dependency: name });
  const isGone = (name: string) =>
    eventually(`the end of ${name}`, async () => sampleOf(await scrape(), name) === undefined);
  const isBack = (name: string) => eventually(name, async () => sampleOf(await scrape(), name) !== undefined);

  test('without Redis, the gauge of the queued jobs is omitted, and the database is still reported as up', async () => {
    const jobs = async () =>
      sampleOf(await scrape(cutOff.health), 'tidemark_queue_jobs', { queue: 'ingest', state: 'waiting' });
    expect(await dependency('queue', cutOff.health)).toBe(1);
    expect(await jobs()).toBe(0);
    await redisGate.shut();
    await eventually('the outage to be reported', async () => (await dependency('queue', cutOff.health)) === 0);
    await eventually('the end of the gauge', async () => (await jobs()) === undefined);
    expect(await dependency('database', cutOff.health)).toBe(1);
    await redisGate.open();
    await eventually('the gauge', async () => (await jobs()) === 0 && (await dependency('queue', cutOff.health)) === 1);
  }, 60_000);

  test('without the database, a scrape takes less than 5 s, omits the gauges that are read from the database, and keeps the counter of pushed readings', async () => {
    await isBack('tidemark_outbox_events');
    await databaseGate.shut();
    await eventually('the outage to be reported', async () => (await dependency('database')) === 0);
    await isGone('tidemark_outbox_events');
    const startMs = performance.now();
    const found = await scrape();
    expect(performance.now() - startMs).toBeLessThan(5000);
    expect(sampleOf(found, 'tidemark_push_readings_total')).toBe(7);
    expect(sampleOf(found, 'tidemark_push_waiting_bytes')).toBeUndefined();
    await databaseGate.open();
    await isBack('tidemark_outbox_events');
    // The first checks may use pooled connections that broke in the outage.
    await eventually('the database to be reported as up', async () => (await dependency('database')) === 1);
  }, 60_000);
});
