/** Retention: previews, policies, what the job deletes and when, and how reads and pushes behave afterwards. */
import { once } from 'node:events';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '../../../src/platform/database/database.ts';
import { formatInstant } from '../../../src/platform/dates/instant-rules.ts';
import { findChunks } from '../../../src/points/write/find-chunks.ts';
import { applyRetention, type RetentionCounts } from '../../../src/retention/apply-retention.ts';
import { describeRetention } from '../../../src/retention/describe-retention.ts';
import { previewRetention } from '../../../src/retention/preview-retention.ts';
import type { Row } from '../../support/answers/point-rows.ts';
import { fetchRaw } from '../../support/clients/fetch-rows.ts';
import { createGrpcReader, type GrpcReader } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import {
  createSite,
  createSiteAndSource,
  createSource,
  createStructure,
  createVariable,
} from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const YEARS = 5;
const DAY = 86_400_000;
const now = new Date();
/** The boundary: the start, in UTC, of the month that is YEARS years before the current month. */
const BOUNDARY = Date.UTC(now.getUTCFullYear() - YEARS, now.getUTCMonth(), 1);
const boundary = iso(BOUNDARY);
const DAILY = { keepRawYears: YEARS, rollup: 'Day', timeZoneId: 'UTC' };

let api: TestApi;
let manager: TestClient;
let sourceId: number;
let reader: GrpcReader;
beforeAll(async () => {
  api = await startTestApi();
  ({ manager } = api);
  sourceId = await createSource(manager, (await createStructure(manager)).siteId);
  reader = createGrpcReader(api.grpcAddress, manager.token);
}, 60_000);
afterAll(async () => {
  reader?.close();
  await api?.close();
});

function iso(millis: number): string {
  return new Date(millis).toISOString().replace('.000Z', 'Z');
}

/**
 * Writes twelve points a day, from `before` days before the boundary to `after` days after it, then the same dates
 * again with greater values.
 */
async function addDays(before: number, after: number, client = manager, source = sourceId): Promise<number> {
  const variableId = await createVariable(client, source, { isVersioned: true });
  const data = Array.from({ length: (before + after) * 12 }, (_, index) => {
    return { date: iso(BOUNDARY - before * DAY + (index * DAY) / 12), value: index };
  });
  for (const add of [0, 1]) {
    await client.post('/api/data', [
      { variableId, data: data.map(({ date, value }) => ({ date, value: value + add })) },
    ]);
    await api.ingest();
  }
  return variableId;
}

type Pause = (ms: number) => Promise<void>;

/** Runs the job. @returns whether it ran, and the counts by account. */
async function apply(pause: Pause = async () => {}, settleSec = 0) {
  const counts = new Map<number, RetentionCounts>();
  const hasRun = await applyRetention({
    database: api.database,
    audit: async (_queryable, accountId, counted) => void counts.set(accountId, counted),
    log: api.parts.log,
    isStopped: () => false,
    pause,
    settleSec,
  });
  return { hasRun, counts };
}

const state = async (path: string) => (await manager.get<Record<string, unknown>>(path)).body;

describe('retention: policy, preview and job', () => {
  test('the job deletes the points that the preview counted, but only if the policy is active', async () => {
    const variableId = await addDays(3, 2);
    const path = `/variables/${variableId}/retention`;
    expect(await state(path)).toMatchObject({ retention: null, rollupCount: 0, rawFrom: null });
    expect(await manager.get(`${path}/preview`)).toMatchObject({
      status: 400,
      body: {
        message: 'query keepRawYears is required, because this variable has no saved retention policy',
        details: [{ path: 'query.keepRawYears' }],
      },
    });
    const preview = {
      ...{ boundary, variableCount: 1, pointCount: 36, versionCount: 36, rollupCount: 3 },
      ...{ firstDate: iso(BOUNDARY - 3 * DAY), isComplete: true, countedUntil: boundary },
    };
    expect(await state(`${path}/preview?keepRawYears=${YEARS}&rollup=Day&timeZoneId=UTC`)).toEqual(preview);
    await manager.put(path, DAILY);
    expect((await apply()).counts.size, 'not active').toBe(0);
    expect(await state(`${path}/preview`)).toEqual(preview);
    expect(await describeRetention(api.database, api.accountId)).toEqual([
      `account ${api.accountId}, variable ${variableId}: keepRawYears 5, rollup Day (UTC), not active`,
      `  before ${boundary}: variables 1, points to delete 36, versions to delete 36, rollups to insert 3`,
    ]);
    const { body } = await manager.put(path, { ...DAILY, isActive: true });
    expect(body).toMatchObject({ retention: { ...DAILY, isActive: true, userName: 'max' }, rollupCount: 0 });
    expect((await apply(undefined, 86_400)).counts.size, 'points written today wait').toBe(0);
    expect(await state(path)).toMatchObject({ rollupCount: 0, rawFrom: null });
    const { counts } = await apply();
    expect(counts.get(api.accountId)).toEqual({ points: 36, versions: 36, rollups: 3, variables: 1 });
    expect(await state(path)).toMatchObject({ variableCount: 1, rollupCount: 3, pointCount: 36, rawFrom: boundary });
    expect(await state(`${path}/preview`)).toMatchObject({ pointCount: 0, firstDate: null });
    expect((await apply()).counts.size, 'nothing is left to do').toBe(0);
    await manager.delete(path);
    expect(await state(path)).toMatchObject({ retention: null, rollupCount: 3 });
  });

  test('the job applies the policy of an account only to variables without a policy of their own; after the account policy is deleted, the job rolls up no points of a new variable', async () => {
    const [exempt, ofAccount, kept] = [await addDays(2, 1), await addDays(2, 1), await addDays(2, 1)];
    await manager.put(`/variables/${exempt}/retention`, { ...DAILY, isActive: false });
    await manager.put(`/variables/${kept}/retention`, { ...DAILY, keepRawYears: YEARS + 1, isActive: true });
    await manager.put('/account/retention', { ...DAILY, rollup: 'Hour', isActive: true });
    const { body: preview } = await manager.get('/account/retention/preview');
    expect(preview).toMatchObject({ variableCount: 1, pointCount: 24, rollupCount: 24 });
    await apply();
    const rollups = async (id: number) => (await state(`/variables/${id}/retention`)).rollupCount;
    expect([await rollups(exempt), await rollups(ofAccount), await rollups(kept)]).toEqual([0, 24, 0]);
    expect((await manager.delete('/account/retention')).status).toBe(204);
    const later = await addDays(2, 1);
    await apply();
    expect(await rollups(later)).toBe(0);
  });

  test('the job rolls up a variable whose last point is long before the boundary', async () => {
    const variableId = await createVariable(manager, sourceId);
    const data = [{ date: iso(BOUNDARY - 400 * DAY), value: 1 }];
    await manager.post('/api/data', [{ variableId, data }]);
    await api.ingest();
    const path = `/variables/${variableId}/retention`;
    await manager.put(path, { ...DAILY, isActive: true });
    const { counts } = await apply();
    expect(counts.get(api.accountId)).toEqual({ points: 1, versions: 0, rollups: 1, variables: 1 });
    await manager.delete(path);
  });

  test('a preview that reaches its time limit returns the number of points in the chunks counted so far', async () => {
    const variableId = await createVariable(manager, sourceId);
    const dates = [BOUNDARY - 400 * DAY, BOUNDARY - 200 * DAY];
    const data = dates.map((date) => ({ date: iso(date), value: 1 }));
    await manager.post('/api/data', [{ variableId, data }]);
    await api.ingest();
    const later = (BOUNDARY - 200 * DAY) * 1000;
    const preview = await withTransaction(api.database, async (transaction) => {
      const chunk = (await findChunks(transaction, { fromMicros: later, toMicros: later + 1 })).find(
        ({ table }) => table === 'point',
      );
      await transaction.query(`lock table ${chunk?.name} in access exclusive mode`);
      const owner = { accountId: api.accountId, variableId };
      const rule = { keepRawYears: YEARS, rollup: 'Day', timeZoneId: 'UTC' } as const;
      const counted = await previewRetention(api.database, owner, rule, 2000);
      return { counted, startsAt: formatInstant(chunk?.fromMicros ?? 0) };
    });
    expect(preview.counted).toMatchObject({ pointCount: 1, firstDate: iso(BOUNDARY - 400 * DAY), isComplete: false });
    expect(preview.counted.countedUntil).toBe(preview.startsAt);
  });

  test('the policy of a variable gets the time zone of the site when neither the request nor the source names one', async () => {
    const { sourceId: inBrussels } = await createSiteAndSource(manager);
    const variableId = await createVariable(manager, inBrussels);
    const path = `/variables/${variableId}/retention`;
    const { body } = await manager.put(path, { keepRawYears: YEARS });
    expect(body).toMatchObject({ retention: { timeZoneId: 'Europe/Brussels' } });
  });

  test('a preview with keepRawYears gives omitted members their defaults, as PUT does; a preview without keepRawYears takes omitted members from the saved policy', async () => {
    const inKathmandu = await createSource(manager, await createSite(manager, { timeZoneId: 'Asia/Kathmandu' }));
    const path = `/variables/${await addDays(3, 2, manager, inKathmandu)}/retention`;
    const rollupsOf = async (query: string) => (await state(`${path}/preview${query}`)).rollupCount;
    await manager.put(path, { ...DAILY, rollup: 'Hour' });
    expect(await rollupsOf('')).toBe(36);
    expect(await rollupsOf('?rollup=Day')).toBe(3);
    // Three UTC days overlap four days in Kathmandu, whose clocks are 5 hours and 45 minutes ahead of UTC.
    expect(await rollupsOf(`?keepRawYears=${YEARS}`)).toBe(4);
    await manager.put(path, { keepRawYears: YEARS });
    expect(await rollupsOf('')).toBe(4);
  });

  test('a job whose connection is killed between two steps loses no point; the next job rolls up the rest', async () => {
    const variableId = await addDays(200, 1);
    const path = `/variables/${variableId}/retention`;
    await manager.put(path, { ...DAILY, isActive: true });
    let steps = 0;
    const kill: Pause = async () => {
      steps += 1;
      // Ends the connection of the job, so that the second step of the job and the release of the lease fail.
      await api.database.query(`
        select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and classid = ${0x7265_7465} and database = (select oid from pg_database where datname = current_database())`);
    };
    await expect(apply(kill)).rejects.toThrow();
    expect(steps).toBeGreaterThan(0);
    const { rollupCount } = await state(path);
    expect(Number(rollupCount)).toBeGreaterThan(0);
    expect(Number(rollupCount)).toBeLessThan(200);
    await apply();
    expect(await state(path)).toMatchObject({ rollupCount: 200, pointCount: 2400, rawFrom: boundary });
    await manager.delete(path);
  });

  test('the job takes the accounts in turn; a second job does nothing while the first job runs', async () => {
    const { stranger } = api;
    const otherSource = await createSource(stranger, (await createStructure(stranger)).siteId);
    const ids = [await addDays(200, 1), await addDays(200, 1, stranger, otherSource)];
    for (const [index, client] of [manager, stranger].entries()) {
      await client.put(`/variables/${ids[index]}/retention`, { ...DAILY, isActive: true });
    }
    const order: number[] = [];
    let before: readonly unknown[] = [];
    const { hasRun } = await apply(async () => {
      const { rows } = await api.database.query(
        'select variable_id, rollup_next from series where variable_id = any($1::int[]) order by variable_id',
        [ids],
      );
      for (const [index, row] of rows.entries()) {
        if (JSON.stringify(row) !== JSON.stringify(before[index])) order.push(row.variable_id);
      }
      before = rows;
      expect((await apply()).hasRun).toBe(false);
    });
    expect(hasRun).toBe(true);
    // At the first pause, `before` is still empty, so both variables look changed. Skips these two entries of `order`.
    const turns = order.slice(2);
    expect(turns.length).toBeGreaterThan(2);
    for (const [index, id] of turns.entries()) if (index > 0) expect(id).not.toBe(turns[index - 1]);
    for (const [index, client] of [manager, stranger].entries()) {
      await client.delete(`/variables/${ids[index]}/retention`);
    }
  });

  test('a USER gets 403, another account gets 404, and an invalid policy gets 400', async () => {
    const user = await api.signIn('uma', 'USER');
    const variableId = await addDays(0, 1);
    for (const owner of ['/account', `/variables/${variableId}`]) {
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['GET', '/preview?keepRawYears=5'],
      ] as const) {
        const body = method === 'PUT' ? DAILY : undefined;
        const { status } = await user.send(method, `${owner}/retention${path}`, body);
        expect(status, `${method} ${owner}${path}`).toBe(403);
      }
    }
    expect((await api.stranger.put(`/variables/${variableId}/retention`, DAILY)).status).toBe(404);
    expect((await manager.put('/account/retention', { keepRawYears: 0 })).status).toBe(400);
    expect((await manager.put('/account/retention', { keepRawYears: 1, rollup: 'Week' })).status).toBe(400);
  });

  test('a rollup is given by its name in any letter case, or by its number from 0 (R-A3)', async () => {
    const path = `/variables/${await addDays(2, 1)}/retention`;
    for (const [given, rollup] of [['hour', 'Hour'] as const, [1, 'Day'] as const]) {
      await manager.put(path, { ...DAILY, rollup: given });
      expect(await state(path)).toMatchObject({ retention: { rollup } });
    }
  });
});

describe('retention: after the job has deleted all points older than the boundary of a policy', () => {
  let variableId: number;
  let item: string;
  beforeAll(async () => {
    variableId = await addDays(3, 2);
    item = `${boundary};variableId=${variableId}`;
    await manager.put(`/variables/${variableId}/retention`, { ...DAILY, isActive: true });
    await apply();
  });

  test('answers and comparisons state the boundary only if their period begins before the boundary', async () => {
    const read = await manager.get<readonly Row[]>(`/data?variableId=${variableId}`);
    expect(read.headers.get('raw-from')).toBe(item);
    expect(read.headers.get('history-from')).toBeNull();
    expect(read.body).toHaveLength(24);
    const later = await manager.get(`/data?variableId=${variableId}&from=${boundary}`);
    expect(later.headers.get('raw-from')).toBeNull();
    const compared = await manager.get(`/data/compare?variableId=${variableId}&leftAsOf=${iso(Date.now())}`);
    expect(compared.body).toMatchObject({ rawFrom: boundary });
    const { bytes } = await fetchRaw(api, `/data?variableId=${variableId}`, 'application/vnd.apache.arrow.stream');
    expect(tableFromIPC(bytes).schema.metadata.get('rawFrom')).toBe(JSON.stringify({ [variableId]: boundary }));
  });

  test('aggregates still count the deleted points, even in a bucket that contains the boundary (R-G1)', async () => {
    const sums = await manager.get<readonly Record<string, unknown>[]>(
      `/data?variableId=${variableId}&granularity=Day&aggregation=SUM&timeZoneId=UTC`,
    );
    expect(sums.headers.get('raw-from')).toBe(item);
    expect(sums.body.map(({ sumValue }) => sumValue)).toEqual([0, 1, 2, 3, 4].map((day) => day * 144 + 78));
    const query = `variableId=${variableId}&granularity=Year&timeZoneId=UTC&from=${BOUNDARY - 3 * DAY}`;
    const whole = async (name: string) => {
      const { body } = await manager.get<readonly Record<string, number>[]>(
        `/data?${query}&aggregation=${name.toUpperCase()}`,
      );
      return body.map((row) => row[`${name}Value`] ?? 0);
    };
    expect(Math.min(...(await whole('min')))).toBe(1);
    expect(Math.max(...(await whole('max')))).toBe(60);
    expect((await whole('count')).reduce((sum, value) => sum + value)).toBe(60);
  });

  const metadataOf = async (request: object) => {
    const call = reader.open('ReadPoints', request);
    const [[metadata]] = await Promise.all([once(call, 'metadata'), once(call.resume(), 'end')]);
    return metadata;
  };

  test('gRPC sends raw-from in its initial metadata', async () => {
    expect((await metadataOf({ variableIds: [variableId] })).get('raw-from')).toEqual([item]);
  });

  test('gRPC sends both `history-from` and `raw-from` if versions of one variable were removed and points of another variable were rolled up (R-F9)', async () => {
    const cutId = await createVariable(manager, sourceId, { isVersioned: true, versionLimit: 1 });
    for (const value of [1, 2]) {
      await manager.post('/api/data', [{ variableId: cutId, data: [{ date: boundary, value }] }]);
      await api.ingest();
    }
    const metadata = await metadataOf({ variableIds: [variableId, cutId], asOfMicros: (BOUNDARY + DAY) * 1000 });
    expect(metadata.get('history-from')).toEqual([expect.stringContaining(`;variableId=${cutId}`)]);
    expect(metadata.get('raw-from')).toEqual([item]);
  });

  test('a push stores its points, except the points at rolled-up dates', async () => {
    const data = [
      { date: iso(BOUNDARY - 2 * DAY), value: 9 },
      { date: iso(BOUNDARY + 9 * DAY), value: 9 },
    ];
    const { body: answer } = await manager.post<{ operationId: string }>('/api/data', [{ variableId, data }]);
    await api.ingest();
    const operation = await state(`/api/operations/${answer.operationId}`);
    expect(operation).toMatchObject({ state: 'Completed', warnings: [{ code: 'rolled_up_date' }] });
    const message = `readings of variable ${variableId} were not stored (number of readings: 1, dates: ${data[0]?.date}), because retention has already rolled up these dates`;
    expect(operation.warnings).toMatchObject([{ message }]);
    const { body } = await manager.get<readonly Row[]>(
      `/data?variableId=${variableId}&from=${iso(BOUNDARY + 8 * DAY)}`,
    );
    expect(body).toHaveLength(1);
    expect(await state(`/variables/${variableId}/retention`)).toMatchObject({ refusedPointCount: 1 });
  });
});
