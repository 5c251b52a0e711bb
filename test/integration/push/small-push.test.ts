/** The handler of small pushes answers exactly as the Hono app does. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPushService } from '../../../src/push/push-service.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { createSource, createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { type GatedTestApi, startGatedTestApi } from '../../support/services/start-api.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-[47][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
// A query string that changes nothing: the time-out is ignored, because it is not a number. The handler of small pushes
// hands every push with a query string over to the Hono app.
const THROUGH_APP = '?operationTimeoutSec=no';

let api: GatedTestApi;
let sourceId: number;
let siteId: number;
let variableId: number;
beforeAll(async () => {
  // Callers are cached. Without this cache, the handler of small pushes would pass every push to the app.
  api = await startGatedTestApi({ ACCESS_CACHE_SEC: '30', PUSH_MAX_READINGS: '50' });
  ({ siteId, sourceId, variableId } = await createStructure(api.manager));
});
afterAll(() => api.close());

let minutes = 0;
const nextDate = () => new Date(Date.UTC(2026, 0, 1) + 60_000 * ++minutes).toISOString();
const one = (reading = {}, element = {}) => [
  { variableId, data: [{ date: nextDate(), value: 1, ...reading }], ...element },
];
interface Answer {
  readonly operationId: string;
  readonly rejected: readonly { readonly code: string }[];
}
const push = (body: unknown, query = '', client: TestClient = api.manager, headers = {}) =>
  client.post<Answer>(`/api/data${query}`, body, headers);

/** Sends a push. @returns its answer without the parts that differ between answers: ids and the date. */
async function answerOf(query: string, raw: string, headers: Record<string, string> = {}) {
  const answer = await api.manager.send('POST', `/api/data${query}`, undefined, { raw, headers });
  const shown = Object.fromEntries(answer.headers);
  const body = JSON.stringify(answer.body).replace(/[\da-f]{8}-[\da-f-]{27}/g, 'ID');
  return {
    status: answer.status,
    body,
    headers: { ...shown, date: '', 'x-request-id': shown['x-request-id']?.replace(UUID, 'ID') },
  };
}

/**
 * Starts a server with the handler of small pushes. Pushes that this handler does not take go to an app that answers
 * 202 with the body of the request.
 */
async function openHandler(isWithinRate = true) {
  const { database, dictionary, metrics, log, findCachedCaller } = api.parts;
  const service = openPushService({
    ...{ database, dictionary, metrics, log, threads: 1, directWrites: 1, wakeIngester: async () => {} },
    mappers: { timeoutMs: 1000, memoryMebibytes: 128, processes: 1 },
    limits: {
      ...{ maxBodyBytes: 1 << 20, maxElements: 100, maxReadings: 10_000 },
      ...{ maxMemoryBytes: 1 << 24, maxQueueBytes: 1 << 24 },
    },
  });
  const requestSeconds = { observe: () => {} };
  const listener = await listenHttp('127.0.0.1', 0);
  const headers = { 'Content-Type': 'application/json' };
  const app = async (incoming: Request) => new Response(await incoming.text(), { status: 202, headers });
  const countPush = () => isWithinRate;
  listener.serve(app, (byApp) =>
    service.handleSmallPushes({ findCachedCaller, countPush, requestSeconds, log }, byApp),
  );
  const client = createTestClient(`http://127.0.0.1:${listener.port}`, api.manager.token);
  return {
    push: (body: unknown, path = '/api/data') => client.post<Answer>(path, body),
    remember: async () => {
      const caller = findCachedCaller(`Bearer ${api.manager.token}`, 'push-data');
      if (!caller) throw new Error('the caller is not cached');
      await service.targets.resolve(caller, [{ variableId }], false);
      await service.admission.assertQueueCapacity(api.accountId);
    },
    close: () => Promise.all([service.close(), listener.stop(0)]),
  };
}

describe('push: small pushes', () => {
  // The bodies are functions, because the variable does not exist yet when the tests are collected.
  it.each<[string, number, () => unknown, Record<string, string>?]>([
    ['that is valid', 200, () => one()],
    ['of several elements and readings', 200, () => [...one(), ...one()]],
    ['with a local date', 200, () => one({ date: '2026-02-01T00:00:00' })],
    ['with a local date that occurs twice', 200, () => one({ date: '2026-10-25T02:30:00' })],
    ['with a version and tags', 200, () => one({ version: 'V1' }, { tags: { a: 'b' } })],
    [
      'with one date twice',
      200,
      () => [{ variableId, data: [1, 2].map((value) => ({ date: '2026-01-01T00:00:00Z', value })) }],
    ],
    ['without readings', 200, () => [{ variableId, data: [] }]],
    ['to an unknown target', 200, () => [{ variableId: 2_000_000_000, data: [] }]],
    ['with a request id', 200, () => one(), { 'x-request-id': 'mine' }],
    ['with an unusable request id', 200, () => one(), { 'x-request-id': 'a b' }],
    ['with the API version 1.8', 400, () => one(), { 'api-version': '1.8' }],
    ['with the API version 1.7', 200, () => one(), { 'api-version': '1.7' }],
    ['with the Content-Type text/plain', 415, () => one(), { 'content-type': 'text/plain' }],
    ['with a +json Content-Type', 200, () => one(), { 'content-type': 'application/x+json; charset=utf-8' }],
    ['with a wrong date', 400, () => one({ date: 'no' })],
    ['with too many readings', 413, () => [{ variableId, data: Array.from({ length: 51 }, () => one()[0]?.data[0]) }]],
    ['that is not an array', 400, () => ({})],
    ['with a wrong token', 401, () => one(), { authorization: 'Bearer wrong' }],
  ])(
    'a push %s gets status %i and the same answer as a push through the Hono app (R-D1, R-A2, R-A10)',
    async (_what, status, body, headers = {}) => {
      const raw = JSON.stringify(body());
      await push(one());
      const answer = await answerOf('', raw, headers);
      expect(answer).toEqual(await answerOf(THROUGH_APP, raw, headers));
      expect(answer.status, answer.body).toBe(status);
    },
  );

  it.each([
    ['not JSON', '[{]'],
    ['empty', ''],
    ['not UTF-8', Buffer.from([0x5b, 0xff, 0x5d])],
  ])(
    'a body that is %s gets status 400 and the same answer as a push through the Hono app (R-D1)',
    async (_what, raw) => {
      await push(one());
      const answer = await answerOf('', raw as string);
      expect(answer).toEqual(await answerOf(THROUGH_APP, raw as string));
      expect(answer.status, answer.body).toBe(400);
    },
  );

  it.each([
    ['authorization', 401, 'Bearer wrong'],
    ['content-type', 415, 'text/plain'],
  ])(
    'a push with two %s headers gets status %i; through the Hono app, it gets the same status (R-D1, R-B1)',
    async (name, status, second) => {
      await push(one());
      const raw = JSON.stringify(one());
      const { hostname, port } = new URL(api.origin);
      const given = { authorization: `Bearer ${api.manager.token}`, 'content-type': 'application/json' };
      const headers = Object.entries(given).flatMap((header) =>
        header[0] === name ? [header, [name, second]] : [header],
      );
      const statusOf = (query: string) =>
        new Promise((resolve, reject) => {
          const options = { hostname, port, path: `/api/data${query}`, method: 'POST' };
          const all = [...headers, ['content-length', String(raw.length)], ['host', hostname]].flat();
          const sending = request({ ...options, headers: all }, (answer) => resolve(answer.resume().statusCode));
          sending.on('error', reject).end(raw);
        });
      expect([await statusOf(''), await statusOf(THROUGH_APP)]).toEqual([status, status]);
    },
  );

  it('a push replaces the value that an earlier push stored for the same date, whether the small-push handler or the Hono app handled the earlier push (R-D6)', async () => {
    const id = await createVariable(api.manager, sourceId);
    const date = nextDate();
    for (let value = 0; value < 20; value += 1) {
      await push(one({ date, value }, { variableId: id }), value % 3 === 0 ? THROUGH_APP : '');
    }
    await api.ingest();
    const { body } = await api.manager.get(`/data?variableId=${id}`);
    expect(body).toMatchObject([{ date: date.replace('.000', ''), rawValue: 19 }]);
  });

  it('a push that waits for 100 Continue and then sends the body in two parts gets 200 (R-D1)', async () => {
    await push(one());
    const raw = JSON.stringify(one());
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(api.origin);
      const headers = {
        ...{ authorization: `Bearer ${api.manager.token}`, 'content-type': 'application/json' },
        ...{ 'content-length': raw.length, expect: '100-continue' },
      };
      const sending = request({ hostname, port, path: '/api/data', method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode);
      });
      sending.on('error', reject);
      sending.once('continue', () => {
        sending.write(raw.slice(0, 10));
        setImmediate(() => sending.end(raw.slice(10)));
      });
    });
    expect(status).toBe(200);
  });
});

describe('push: the small-push handler', () => {
  it('answers a simple push whose caller and target are cached, and passes other pushes unchanged to the Hono app (R-D1)', async () => {
    await push(one());
    const handler = await openHandler();
    const body = one();
    expect(await handler.push(body)).toMatchObject({ status: 202, body });
    await handler.remember();
    expect(await handler.push(body)).toMatchObject({ status: 200, body: { accepted: { elements: 1, readings: 1 } } });
    expect(await handler.push(body, '/api/data/')).toMatchObject({ status: 200 });
    for (const path of ['/api/data?operationId=x', '/api//data', '/api/dat']) {
      expect(await handler.push(body, path)).toMatchObject({ status: 202, body });
    }
    for (const other of [[], one({ value: 'no' }), one({ version: 'V1' }), [...body, ...body]]) {
      expect(await handler.push(other)).toMatchObject({ status: 202, body: other });
    }
    await handler.close();
  });

  it('passes a push to the Hono app when the user exceeds the request limit (R-B15)', async () => {
    const handler = await openHandler(false);
    await handler.remember();
    const body = one();
    expect(await handler.push(body)).toMatchObject({ status: 202, body });
    await handler.close();
  });
});

describe('push: the cache of the small-push handler', () => {
  it('forgets a deleted variable (R-D2)', async () => {
    const id = await createVariable(api.manager, sourceId);
    const codes = async () => (await push(one({}, { variableId: id }))).body.rejected.map(({ code }) => code);
    expect([await codes(), await codes()]).toEqual([[], []]);
    await api.manager.delete(`/sources/${sourceId}/variables/${id}?hardDelete=true`);
    expect(await codes()).toEqual(['target_not_found']);
  });

  it('forgets a user who is locked or loses the permission to push (R-B5, R-B8)', async () => {
    const user = await api.signIn('lea', 'MANAGER');
    expect([(await push(one(), '', user)).status, (await push(one(), '', user)).status]).toEqual([200, 200]);
    const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'lea'`);
    const userId = rows[0]?.id ?? '';
    await api.database.query(`delete from user_claim where user_id = $1`, [userId]);
    await api.parts.accessInvalidation.publish([userId]);
    expect(await push(one(), '', user)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    await api.database.query('update app_user set is_locked = true where id = $1', [userId]);
    await api.parts.accessInvalidation.publish([userId]);
    expect(await push(one(), '', user)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  });

  it('does not admit a token without the scope `push-data` (R-B6)', async () => {
    const reader = await api.signIn('ria', 'MANAGER', { scopes: ['datahub-api'] });
    await reader.get('/sites');
    expect(await push(one(), '', reader)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  });

  it('a push without site access is rejected, even if the target is cached for another user (R-B9)', async () => {
    const source = await createSource(api.manager, siteId);
    const id = await createVariable(api.manager, source);
    const user = await api.signIn('ulf', 'USER', { sites: [] });
    for (const client of [api.manager, user, api.manager, user]) {
      const { body } = await push(one({}, { variableId: id }), '', client);
      expect(body.rejected).toHaveLength(client === user ? 1 : 0);
    }
  });
});

describe('push: a small push while the database is unreachable', () => {
  it('gets 503 with Retry-After (R-D1, R-A5)', async () => {
    await push(one());
    await api.databaseGate.shut();
    const answer = await push(one());
    expect(answer).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('2');
  }, 30_000);
});
