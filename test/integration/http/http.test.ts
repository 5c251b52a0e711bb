import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/platform/log.ts';
import { openParts } from '../../../src/roles/parts.ts';
import { createTestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createSite, createStructure } from '../../support/fixtures/structure.ts';
import { measureThread } from '../../support/measure-turns.ts';
import { type GatedTestApi, startGatedTestApi, startTestApi } from '../../support/services/start-api.ts';

const DATE = '2026-01-01T00:00:00Z';
const READING = { data: [{ date: DATE, value: 1 }] };

let api: GatedTestApi;
let ids: { siteId: number; sourceId: number; variableId: number };
beforeAll(async () => {
  api = await startGatedTestApi();
  ids = await createStructure(api.manager);
});
afterAll(() => api.close());

describe('http: Api-Version', () => {
  it.each([
    ['without the header Api-Version', 200, {}],
    ['with Api-Version 1.7', 200, { 'api-version': '1.7' }],
    ['with Api-Version 2.0', 400, { 'api-version': '2.0' }],
    ['with an empty Api-Version', 400, { 'api-version': '' }],
    ['with x-opisense-api-version 1.1', 200, { 'x-opisense-api-version': '1.1' }],
    ['with x-opisense-api-version none', 200, { 'x-opisense-api-version': 'none' }],
  ])('a request %s gets status %i (R-A2, §9.1)', async (_what, status, headers) => {
    const answer = await api.manager.get('/sites', headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('api-version')).toBe('1.7');
    if (status === 400) expect(answer.body).toMatchObject({ code: 'api_version_unsupported' });
  });

  it('401 and 404 answers have the header Api-Version (R-A2)', async () => {
    const nobody = createTestClient(api.origin);
    const answers = [await nobody.get('/sites'), await api.manager.get('/nowhere')];
    expect(answers.map(({ status, headers }) => [status, headers.get('api-version')])).toEqual([
      [401, '1.7'],
      [404, '1.7'],
    ]);
  });
});

describe('http: lenient reading', () => {
  beforeAll(() => createSite(api.manager));

  const push = (path: string) => api.manager.post(path, [{ variableId: ids.variableId, ...READING }]);
  it.each(['/api/data/', '//api//data', '/api/data//', '///api/data/?operationId=x'])(
    'a push to the path %s is accepted without a redirect (R-A3)',
    async (path) => {
      expect(await push(path)).toMatchObject({ status: 200, body: { accepted: { readings: 1 } } });
    },
  );

  it.each([
    ['?op1', undefined],
    ['?operationId=op1?operationTimeoutSec=30', 'op1'],
    ['?OPERATIONID=op2&operationTimeoutSec=soon', 'op2'],
    ['?options.operationId=op3', 'op3'],
    ['?%ZZ=%&operationId=op%20+4', 'op  4'],
    ['?operationId=', undefined],
    ['?&&=&?', undefined],
  ])('a push with the query %s is accepted (R-A3)', async (query, operationId) => {
    const answer = await push(`/api/data${query}`);
    expect(answer).toMatchObject({ status: 200, body: { operationId: operationId ?? expect.stringMatching(/./) } });
  });

  it('a push with an operationId longer than 200 characters gets 400 (R-D7)', async () => {
    expect((await push(`/api/data?operationId=${'x'.repeat(200)}`)).status).toBe(200);
    expect(await push(`/api/data?operationId=${'x'.repeat(201)}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: 'query.operationId' }] },
    });
  });

  it.each([
    'siteIds=N',
    'SITEIDS=N',
    'filter.siteIds=N',
    'sourcesFilter.SiteIds=N,N',
    'siteIds=N&siteIds=N',
    'siteIds=N&unknown=1',
  ])('GET /sites?%s returns only the site with the id N (R-A3)', async (query) => {
    const answer = await api.manager.get<unknown[]>(`/sites?${query.replaceAll('N', String(ids.siteId))}`);
    expect(answer).toMatchObject({ status: 200, body: [{ id: ids.siteId }] });
    expect(answer.body).toHaveLength(1);
  });

  it.each(['True', 'TRUE', 'true', '1'])('a flag with the value %s counts as true (R-A3)', async (text) => {
    const path = `/data?variableId=${ids.variableId}&from=${DATE}&to=${DATE}&includeToBoundary=${text}`;
    await api.ingest();
    expect((await api.manager.get(path)).body).toHaveLength(1);
  });
});

describe('http: request body', () => {
  const push = (contentType: string, encoding?: string) => {
    const text = JSON.stringify([{ variableId: ids.variableId, ...READING }]);
    const raw = encoding === 'gzip' ? new Uint8Array(gzipSync(text)) : new TextEncoder().encode(text);
    const headers = { 'content-type': contentType, ...(encoding && { 'content-encoding': encoding }) };
    return api.manager.send('POST', '/api/data', undefined, { raw, headers });
  };

  it.each([
    ['application/json', 'no', 200],
    ['application/json; charset=utf-8', 'no', 200],
    ['Application/JSON', 'no', 200],
    ['application/vnd.api+json', 'no', 200],
    ['application/json-patch+json', 'no', 200],
    ['application/json', 'gzip', 200],
    ['application/json', 'identity', 200],
    ['text/plain', 'no', 415],
    ['application/jsonp', 'no', 415],
    ['application/x-www-form-urlencoded', 'no', 415],
    ['', 'no', 415],
    ['application/json', 'br', 415],
  ])('a body of media type "%s" with %s encoding gets status %i (§2, R-A4)', async (contentType, encoding, status) => {
    const answer = await push(contentType, encoding === 'no' ? undefined : encoding);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body).toMatchObject({ code: 'unsupported_media_type' });
  });

  it('a body of invalid or truncated gzip gets 400 (R-A4)', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const whole = gzipSync(JSON.stringify([READING]));
    for (const raw of [new TextEncoder().encode('[]'), new Uint8Array(whole.subarray(0, 20))]) {
      expect(await api.manager.send('POST', '/api/data', undefined, { raw, headers })).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
  });

  it('a body of POST /sites above 1 MiB gets 413, and the answer announces that the connection closes (R-A5)', async () => {
    const answer = await api.manager.post('/sites', { name: 'x', location: 'x'.repeat(1 << 20) });
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect(answer.headers.get('connection')).toBe('close');
  });

  it.each([
    ['PATCH', '/sites/ID', `[{"op":"add","path":"/clientData","value":${deep(100_000)}}]`],
    ['PUT', '/sites/ID', `{"clientData":${deep(5000)}}`],
    ['POST', '/sites', `{"name":"x","clientData":${deep(100_000)}}`],
    ['POST', '/data', deep(100_000)],
  ])('%s %s with a deeply nested body gets 400 (R-A5)', async (method, path, raw) => {
    const answer = await api.manager.send(method, path.replace('ID', String(ids.siteId)), undefined, { raw });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  });

  it('a body of POST /data with 100,001 ids takes less than 5 s of processor time (R-A5)', async () => {
    const raw = `{"variableIds":[${'1,'.repeat(100_000)}1]}`;
    // The API runs in this thread, so `threadMs` includes its work. Quadratic work on so many ids would take a minute.
    const { result, threadMs } = await measureThread(() => api.manager.send('POST', '/data', undefined, { raw }));
    expect(result.status).toBe(200);
    expect(threadMs).toBeLessThan(5000);
  });

  function deep(levels: number): string {
    return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  }
});

describe('http: responses', () => {
  it('responses larger than 1 KiB are compressed when the client accepts gzip or deflate (R-A4)', async () => {
    for (let index = 0; index < 20; index++) await createStructure(api.manager);
    const encoding = async (path: string, accepted: string) => {
      const headers = { authorization: `Bearer ${api.manager.token}`, 'accept-encoding': accepted };
      return rawHeaders(path, headers).then((found) => found['content-encoding']);
    };
    expect(await encoding('/sites', 'gzip')).toBe('gzip');
    expect(await encoding('/sites', 'identity')).toBeUndefined();
    expect(await encoding(`/sites/${ids.siteId}`, 'gzip'), 'a small answer').toBeUndefined();
    expect(await encoding('/nowhere', 'gzip'), 'a small error').toBeUndefined();
    // The cases cover all ways of compression: on the event loop (short answers), in another thread (long answers), and
    // by hono's `compress` (quality values, `deflate`).
    for (const path of ['/sites', '/sources?displayLevel=Verbose&itemsPerPage=1000', '/openapi.json']) {
      const plain = await api.manager.get(path, { 'accept-encoding': 'identity' });
      for (const accepted of ['br, gzip', 'deflate;q=0.5, gzip;q=0.9', 'deflate']) {
        const answer = await api.manager.get(path, { 'accept-encoding': accepted });
        expect(answer.headers.get('content-encoding')).toBe(accepted === 'deflate' ? 'deflate' : 'gzip');
        expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
        expect(answer.body).toEqual(plain.body);
      }
    }
  });

  it.each([
    ['given by the client', 'req-1.2:3_4'],
    ['generated because the client sent no id', undefined],
    ['generated because the id that the client sent could break a log line', 'a b"c'],
  ])(
    'the header X-Request-Id and the body of an error both contain the request id %s (R-A10)',
    async (_what, given) => {
      const answer = await api.manager.get('/nowhere', given === undefined ? {} : { 'x-request-id': given });
      const id = answer.headers.get('x-request-id');
      expect(answer.body).toMatchObject({ code: 'not_found', requestId: id });
      if (given === 'req-1.2:3_4') expect(id).toBe(given);
      else expect(id).toMatch(/^[\w-]{36}$/);
    },
  );

  it.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['GET', '/api/nowhere', 404, 'not_found'],
    ['DELETE', '/api/data', 404, 'not_found'],
    ['GET', '/sites/abc', 404, 'not_found'],
    ['GET', '/sites/%ZZ', 404, 'not_found'],
    ['GET', '/sites/99999999999', 404, 'not_found'],
    ['GET', '/data', 400, 'invalid_input'],
  ])('the answer to %s %s has status %i and, in JSON, the code %s (R-A5)', async (method, path, status, code) => {
    expect(await api.manager.send(method, path)).toMatchObject({ status, body: { code, message: expect.any(String) } });
  });

  it('a request without a token gets 401 with a challenge, and a request without the required scope or permission gets 403 (R-A5, R-B6)', async () => {
    const nobody = createTestClient(api.origin);
    for (const path of ['/api/data', '/sites']) {
      const answer = await nobody.post(path, []);
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
    }
    const pusher = await api.signIn('pusher', 'USER', { scopes: ['push-data'] });
    const reader = await api.signIn('reader', 'USER', { scopes: ['datahub-api'] });
    expect(await pusher.get('/sites')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(await reader.post('/api/data', [])).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(await pusher.post('/api/data', [])).toMatchObject({ status: 200 });
    const unfit = await api.signIn('unfit', 'MANAGER', { mayPush: false });
    expect(await unfit.post('/api/data', [])).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  function rawHeaders(path: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      request(api.origin + path, { headers }, (response) => {
        response.resume().on('end', () => resolve(response.headers));
      })
        .on('error', reject)
        .end();
    });
  }
});

describe('http: while a dependency is unavailable', () => {
  it('without the database, readiness reports the database as down, and reads and pushes get 503 with Retry-After (R-A9, R-A5, R-K3)', async () => {
    const nobody = createTestClient(api.origin);
    const up = { status: 200, body: { status: 'up', checks: { database: 'up', queue: 'up' } } };
    expect(await nobody.get('/health/ready')).toMatchObject(up);
    await api.databaseGate.shut();
    expect(await nobody.get('/health/ready')).toMatchObject({
      status: 503,
      body: { status: 'down', checks: { database: 'down', queue: 'up' } },
    });
    expect(await nobody.get('/health/live')).toMatchObject({ status: 200 });
    for (const answer of [
      await api.manager.get('/sites'),
      await api.manager.get(`/data?variableId=${ids.variableId}`),
      await api.manager.post('/api/data', [{ variableId: ids.variableId, ...READING }]),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await api.databaseGate.open();
    await eventually('the service is ready again', async () => (await nobody.get('/health/ready')).status === 200);
    expect((await api.manager.get('/sites')).status).toBe(200);
  });

  it('a background loop that stalls makes readiness fail, and the log names the loop once (R-A9)', async () => {
    const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = api.parts.config;
    const lines: object[] = [];
    const log = Object.assign(createLog('silent', 'test'), { error: (fields: object) => lines.push(fields) });
    const parts = openParts(readConfig({ DATABASE_URL, REDIS_URL, QUEUE_PREFIX }), log);
    try {
      parts.progress.track('a loop', -1);
      for (let check = 1; check <= 2; check += 1)
        await expect(parts.healthChecks.progress?.run()).rejects.toThrow('a loop');
      expect(lines).toEqual([{ loops: 'a loop' }]);
    } finally {
      await parts.close();
    }
  });

  it('without Redis, a push is accepted within 8 s and readiness is degraded (R-D1, R-A9, R-K3)', async () => {
    const lonely = await startTestApi({ REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      const { variableId } = await createStructure(lonely.manager);
      const startMs = performance.now();
      expect(await lonely.manager.post('/api/data', [{ variableId, ...READING }])).toMatchObject({ status: 200 });
      expect(performance.now() - startMs).toBeLessThan(8000);
      expect(await createTestClient(lonely.origin).get('/health/ready')).toMatchObject({
        status: 200,
        body: { status: 'degraded', checks: { database: 'up', queue: 'down' } },
      });
      await lonely.ingest();
      expect((await lonely.manager.get(`/data?variableId=${variableId}`)).body).toHaveLength(1);
    } finally {
      await lonely.close();
    }
  });
});
