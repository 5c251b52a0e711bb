/**
 * Tests cached targets, back-pressure, and the paths on which a push is stored: group commit, worker thread, direct
 * write.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/identity/caller/caller.ts';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { openPushService, type PushService } from '../../../src/push/push-service.ts';
import type { NewOperation } from '../../../src/push/store/new-operation.ts';
import { storeBatches } from '../../../src/push/store/store-batches.ts';
import { eventually } from '../../support/eventually.ts';
import { ingestNotingFailures } from '../../support/fixtures/failed-batches.ts';
import { createSite, createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { BEGIN_HOLDING } from '../../support/services/stack.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const START = Date.UTC(2026, 0, 1);
const LARGE = 6000;

let api: TestApi;
let sourceId: number;
beforeAll(async () => {
  api = await startTestApi({ INGEST_MAX_ROWS: '1000' });
  ({ sourceId } = await createStructure(api.manager));
});
afterAll(() => api.close());

const newVariable = (members = {}) => createVariable(api.manager, sourceId, members);
const readings = (count: number, value: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({
    date: new Date(START + (first + index) * 900_000).toISOString(),
    value: value + index / 16,
  }));
const push = (body: unknown, query = '') =>
  api.manager.post<{ operationId: string; accepted: unknown }>(`/api/data${query}`, body);
const stateOf = async (operationId: string) =>
  (await api.manager.get<{ state: string }>(`/api/operations/${operationId}`)).body.state;
const last = async (variableId: number) => {
  const query = `variableId=${variableId}&pageNumber=0&itemsPerPage=1&pagingOrder=DESC`;
  return (await api.manager.get<{ rawValue: number }[]>(`/data?${query}`)).body[0]?.rawValue;
};

async function countOf(variableId: number): Promise<number> {
  const { rows } = await api.database.query<{ count: number }>(
    'select count(*) as count from point where variable_id = $1',
    [variableId],
  );
  return rows[0]?.count ?? -1;
}

describe('push: a large push of new dates', () => {
  it('when the push is answered, its points are readable, its state is Completed, and its events are in the outbox (R-D1, R-D7)', async () => {
    await api.ingest();
    const variableId = await newVariable();
    const { body } = await push([{ variableId, data: readings(LARGE, 1) }]);
    expect(body.accepted).toEqual({ elements: 1, readings: LARGE });
    expect(await countOf(variableId)).toBe(LARGE);
    expect(await stateOf(body.operationId)).toBe('Completed');
    const { rows } = await api.database.query(
      `select type from outbox_event where payload::text like '%' || $1 || '%' or payload @> $2 order by type`,
      [body.operationId, { variables: [{ variableId }] }],
    );
    expect(rows).toEqual([{ type: 'DataPointsWritten' }, { type: 'DataPushCompleted' }]);
  });

  it('the push is queued behind a waiting batch of the same variable (R-D6)', async () => {
    await api.ingest();
    const variableId = await newVariable();
    await push([{ variableId, data: readings(1, 5, LARGE - 1) }]);
    const { body } = await push([{ variableId, data: readings(LARGE, 1) }]);
    expect(await stateOf(body.operationId)).toBe('Queued');
    await api.ingest();
    expect(await last(variableId)).toBe(1 + (LARGE - 1) / 16);
  });

  it.each([
    ['the push is queued when a push to the same variable is accepted during the write', true],
    ['the push is not queued when a push to another variable is accepted during the write', false],
  ])('%s (R-D6)', async (_what, isSame) => {
    await api.ingest();
    const variableId = await newVariable();
    const other = isSame ? variableId : await newVariable();
    await push([{ variableId, data: readings(1, 0, -1) }]);
    await api.ingest();
    const blocker = await api.database.connect();
    await blocker.query(BEGIN_HOLDING);
    await blocker.query('select from series where variable_id = $1 for update', [variableId]);
    const large = push([{ variableId, data: readings(LARGE, 1) }]);
    await eventually('the write', async () => {
      const { rows } = await api.database.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rows.length > 0;
    });
    await push([{ variableId: other, data: readings(1, 5, -1) }]);
    await blocker.query('commit');
    blocker.release();
    const { body } = await large;
    expect(await stateOf(body.operationId)).toBe(isSame ? 'Queued' : 'Completed');
    await api.ingest();
    expect(await countOf(variableId)).toBe(LARGE + 1);
    expect(await stateOf(body.operationId)).toBe('Completed');
  });

  it.each([
    ['with readings in date order', readings(LARGE, 1)],
    ['with readings in reverse order', readings(LARGE, 1).reverse()],
    ['with repeated dates', [...readings(LARGE, 9), ...readings(LARGE, 1)]],
  ])('a push %s stores one point per date, with the value sent last for that date (R-D5)', async (_how, data) => {
    await api.ingest();
    const variableId = await newVariable();
    expect(await push([{ variableId, data }])).toMatchObject({ status: 200 });
    await api.ingest();
    const { rows } = await api.database.query<{ value: number }>(
      'select value from point where variable_id = $1 order by date',
      [variableId],
    );
    expect(rows.map(({ value }) => value)).toEqual(readings(LARGE, 1).map(({ value }) => value));
  });

  it('a push with an invalid date is refused with the path of the date; malformed JSON is refused as malformed_json (R-D1)', async () => {
    const data = [...readings(LARGE, 1), { date: 'no', value: 1 }];
    expect(await push([{ variableId: 1, data }])).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: `$[0].data[${LARGE}].date` }] },
    });
    const raw = `${JSON.stringify([{ variableId: 1, data }]).slice(0, -1)},]`;
    const answer = await api.manager.send('POST', '/api/data', undefined, { raw });
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  });
});

it.each([
  ['objects', '{},'],
  ['arrays', '[],'],
])('push: the answer is 413 when the body has far more %s than a push may have (R-D10)', async (_what, piece) => {
  const hostile = `[[${piece.repeat(17_000_000)}{}]]`;
  const answer = await api.manager.send('POST', '/api/data', undefined, { raw: hostile });
  expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  expect((answer.body as { message: string }).message).toContain('objects and arrays');
});

describe('push: a cached target', () => {
  it('is not used after a change of the structure (R-D2)', async () => {
    const siteId = await createSite(api.manager);
    const source = await createSource(api.manager, siteId, { serialNumber: 'SN-cache' });
    const target = { sourceSerialNumber: 'SN-cache', mappingConfig: 'cached' };
    const outcome = async () => {
      const answer = await api.manager.post<{ accepted: { elements: number }; rejected: { code: string }[] }>(
        '/api/data',
        [{ ...target, data: readings(1, 1) }],
      );
      return answer.body.rejected[0]?.code ?? 'accepted';
    };
    expect(await outcome()).toBe('target_not_found');
    const variableId = await createVariable(api.manager, source, { mappingConfig: 'cached' });
    expect([await outcome(), await outcome()]).toEqual(['accepted', 'accepted']);
    const twinSource = await createSource(api.manager, siteId, { serialNumber: 'SN-cache' });
    const twin = await createVariable(api.manager, twinSource, { mappingConfig: 'cached' });
    expect(await outcome()).toBe('target_ambiguous');
    await api.manager.delete(`/sources/${source}/variables/${variableId}?hardDelete=true`);
    expect(await outcome()).toBe('accepted');
    // A change made directly in SQL reaches the process in the same way as a change that another process makes.
    await api.database.query(`update variable set mapping_config = 'moved' where id = $1`, [twin]);
    expect(await outcome()).toBe('target_not_found');
    await api.database.query(`update variable set mapping_config = 'cached' where id = $1`, [twin]);
    expect(await outcome()).toBe('accepted');
    await api.database.query(`update source set serial_number = null where id = $1`, [twinSource]);
    expect(await outcome()).toBe('target_not_found');
  });

  it('when the time zone of the source changes, the next push uses the new time zone (R-D4)', async () => {
    const siteId = await createSite(api.manager);
    const source = await createSource(api.manager, siteId, { timeZoneId: 'Europe/Brussels' });
    const variableId = await createVariable(api.manager, source);
    const local = (date: string) => push([{ variableId, data: [{ date, value: 1 }] }]);
    await local('2026-01-01T12:00:00');
    await api.database.query(`update source set time_zone_id = 'Asia/Tokyo' where id = $1`, [source]);
    await local('2026-01-01T12:00:00');
    await api.ingest();
    const { body } = await api.manager.get<{ date: string }[]>(`/data?variableId=${variableId}`);
    expect(body.map(({ date }) => date)).toEqual(['2026-01-01T03:00:00Z', '2026-01-01T11:00:00Z']);
  });

  it('users with different site access do not share a cached target (R-B9)', async () => {
    const [seen, hidden] = [await createStructure(api.manager), await createStructure(api.manager)];
    const user = await api.signIn('una', 'USER', { sites: [seen.siteId] });
    const body = [seen, hidden].map(({ variableId }) => ({ variableId, data: [] }));
    for (const [client, elements] of [
      [api.manager, 2],
      [user, 1],
      [api.manager, 2],
      [user, 1],
    ] as const) {
      expect((await client.post('/api/data', body)).body).toMatchObject({ accepted: { elements } });
    }
  });
});

describe('push: pushes that arrive together', () => {
  it('each push gets one answer, and every accepted reading is written (R-D1)', async () => {
    const variableIds = await Promise.all(Array.from({ length: 10 }, () => newVariable()));
    const pushes = Array.from({ length: 100 }, (_, index) => {
      const variableId = index % 7 === 3 ? 2_000_000_000 : variableIds[index % 10];
      const value = index % 11 === 5 ? 'wrong' : index;
      const data = [{ date: new Date(START + index * 1000).toISOString(), value }];
      return push([{ variableId, data }], index % 3 === 0 ? `?operationId=together-${index}` : '');
    });
    const answers = await Promise.all(pushes);
    let expected = 0;
    for (const [index, { status, body }] of answers.entries()) {
      if (index % 11 === 5) expect(status, `push ${index}`).toBe(400);
      else if (index % 7 === 3)
        expect(body, `push ${index}`).toMatchObject({ accepted: { readings: 0 }, rejected: [{}] });
      else {
        expect(body, `push ${index}`).toMatchObject({ accepted: { readings: 1 }, rejected: [] });
        expected += 1;
      }
    }
    await api.ingest();
    const counts = await Promise.all(variableIds.map(countOf));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expected);
  });

  it('only the push that cannot be stored is refused (R-D1)', async () => {
    const variableId = await newVariable();
    await api.database.query(
      `create function refuse_label() returns trigger language plpgsql as
         $$ begin if new.label = 'cursed' then raise 'cursed'; end if; return new; end $$`,
    );
    await api.database.query(
      'create trigger refuse before insert on push_operation for each row execute function refuse_label()',
    );
    const labels = ['a', 'b', 'cursed', 'c', 'd'];
    const answers = await Promise.all(
      labels.map((label) => push([{ variableId, data: readings(1, 1) }], `?operationId=${label}`)),
    );
    await api.database.query('drop trigger refuse on push_operation');
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 500, 200, 200]);
  });

  it('the same push sent repeatedly through two services becomes one operation (R-D7, R-K3)', async () => {
    const variableId = await newVariable();
    const services = [openService(), openService()];
    const caller = { ...(await callerOfManager()), accountId: api.accountId };
    const context = { caller, label: 'two-paths', isResendable: true, timeoutSec: 60, requestId: 'r', mapperId: null };
    const bytes = () => new TextEncoder().encode(JSON.stringify([{ variableId, data: readings(3, 1) }]));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => services[index % 2]?.acceptPush(context, bytes())),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { rows } = await api.database.query(`select id from push_operation where label = 'two-paths'`);
    expect(rows).toHaveLength(1);
    await Promise.all(services.map((service) => service.close()));
  });

  it('pushes are written one by one after their batch fails; only the faulty push is set aside (R-D1, R-K3)', async () => {
    await api.ingest();
    const variableId = await newVariable();
    const caller = await callerOfManager();
    const operation = (label: string, value: number, tuples: Buffer): NewOperation => ({
      ...{ userId: caller.userId, label, requestId: 'r', acceptedElements: 1, acceptedReadings: 1, tuples },
      ...{ rejected: [], rejectedElements: [], warnings: [], timeoutSec: 60, resendKey: null, mapperId: null },
      ...{ variableIds: [variableId], isReplay: value < 0 },
    });
    const tuple = (second: number) =>
      encodeTuples([
        { variableId, dateMicros: (START + second * 1000) * 1000, value: second, versionTagId: 0, tagSetId: 0 },
      ]);
    const broken = tuple(1);
    broken[1] = 9;
    const operations = [tuple(0), broken, tuple(2)].map((tuples, index) => operation(`part-${index}`, index, tuples));
    await storeBatches(api.database, [
      { accountId: api.accountId, structureVersion: null, isQueued: true, operations },
    ]);
    await ingestNotingFailures(api.database, api.accountId, 12);
    expect(await countOf(variableId)).toBe(2);
    expect([await stateOf('part-0'), await stateOf('part-1'), await stateOf('part-2')]).toEqual([
      'Completed',
      'Failed',
      'Completed',
    ]);
    await api.database.query('delete from push_batch where set_aside_date is not null');
  });
});

describe('push: back-pressure', () => {
  it('while the queue is full, pushes get 503 with Retry-After; later pushes are accepted again (R-D10)', async () => {
    const small = await startTestApi({ PUSH_MAX_QUEUE_BYTES: '1048576', PUSH_DIRECT_WRITES: '0' });
    try {
      const { variableId } = await createStructure(small.manager);
      const full = () => small.manager.post('/api/data', [{ variableId, data: readings(8000, 1) }]);
      const answers = [await full(), await full(), await full(), await full()];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 503]);
      expect(answers[3]).toMatchObject({ body: { code: 'queue_full' } });
      expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
      await small.ingest();
      expect((await full()).status).toBe(200);
    } finally {
      await small.close();
    }
  });

  it('when the bodies of concurrent pushes exceed the memory limit, some of these pushes get 503; later pushes are accepted again (R-D10)', async () => {
    const small = await startTestApi({ PUSH_MAX_MEMORY_BYTES: '1048576' });
    try {
      const { variableId } = await createStructure(small.manager);
      const body = [{ variableId, data: readings(9000, 1) }];
      const answers = await Promise.all(Array.from({ length: 8 }, () => small.manager.post('/api/data', body)));
      const statuses = new Set(answers.map(({ status }) => status));
      expect(statuses).toEqual(new Set([200, 503]));
      expect((await small.manager.post('/api/data', body)).status).toBe(200);
    } finally {
      await small.close();
    }
  });
});

async function callerOfManager(): Promise<Caller> {
  const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
  const none: ReadonlySet<string> = new Set();
  return {
    ...{ userId: rows[0]?.id ?? '', userName: 'max', accountId: api.accountId, role: 'MANAGER', sites: 'all' },
    ...{ permissions: none, scopes: none },
  };
}

/** Opens a second push service in this process; the database cannot tell it from a service in another process. */
function openService(): PushService {
  const { database, dictionary, metrics, log } = api.parts;
  return openPushService({
    ...{
      database,
      dictionary,
      metrics,
      log,
      threads: 1,
      directWrites: 1,
      mappers: { timeoutMs: 1000, memoryMebibytes: 128, processes: 1 },
      wakeIngester: async () => {},
    },
    limits: {
      ...{ maxBodyBytes: 1 << 20, maxElements: 100, maxReadings: 10_000 },
      ...{ maxMemoryBytes: 1 << 24, maxQueueBytes: 1 << 24 },
    },
  });
}
