/**
 * Sends the requests of the existing Python clients to processes of the service. Where the exact bytes of a request
 * matter, the tests send the same bytes as the clients.
 */
import { request } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { CLIENT, PASSWORD } from '../support/fixtures/accounts.ts';
import { MANAGER, signIn } from '../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';

const USER = { username: MANAGER, password: PASSWORD };
const READ_TIMEOUT_MS = 10_000;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

let world: World;
let roles: RoleProcess;
let variableIds: number[];

beforeAll(async () => {
  world = await createWorld();
  roles = await startRoles(['api', 'ingester'], world.environment);
  const api = await signIn(roles.http);
  const { sourceId } = await createSiteAndSource(api);
  variableIds = await Promise.all(Array.from({ length: 8 }, () => createVariable(api, sourceId)));
}, 60_000);
afterAll(async () => {
  await roles?.kill('SIGTERM');
  await world?.close();
});

/**
 * Like `requests.post(url, data=…, timeout=10)`: sends the path unchanged; ten seconds without an answer are an error.
 */
function post(path: string, body: string | Buffer, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const { hostname, port } = new URL(roles.http);
  return new Promise((resolve, reject) => {
    const common = { 'User-Agent': 'python-requests/2.31.0', 'Accept-Encoding': 'gzip, deflate', Accept: '*/*' };
    const length = { 'Content-Length': String(Buffer.byteLength(body)) };
    const sent = request({ hostname, port, path, method: 'POST', headers: { ...common, ...length, ...headers } });
    sent.setTimeout(READ_TIMEOUT_MS, () => sent.destroy(new Error('read timed out')));
    sent.on('error', reject).on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const plain = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: plain.toString() });
      });
    });
    sent.end(body);
  });
}

/** Like urllib3's Retry with a status list: sends the same request again after the time in Retry-After. */
async function postWithRetries(path: string, body: string | Buffer, headers: Readonly<Record<string, string>>) {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await post(path, body, headers).catch(() => undefined);
    if (answer && !RETRIED.has(answer.status)) return answer;
    if (attempt === 5) throw new Error(`no answer after ${attempt} retries: ${answer?.status}`);
    const waitMs = Number(answer?.headers['retry-after'] ?? 0.1) * 1000;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

const basic = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.secret}`).toString('base64')}`;
const tokenPath = (realm: string) => `/realms/${realm}/protocol/openid-connect/token`;

async function token(realm = 'opinum'): Promise<{ readonly access: string; readonly refresh: string }> {
  const form = new URLSearchParams({ grant_type: 'password', ...USER, scope: 'datahub-api push-data' });
  const { status, text } = await post(tokenPath(realm), form.toString(), { ...FORM, Authorization: basic });
  expect(status, text).toBe(200);
  const { access_token: access, refresh_token: refresh, expires_in: expiresIn, token_type: type } = JSON.parse(text);
  // If a token lived for two minutes or less, the clients would renew it on every call.
  expect(expiresIn).toBeGreaterThan(120);
  expect(type.toLowerCase()).toBe('bearer');
  return { access, refresh };
}

const push = (access: string, body: unknown, query = '') =>
  postWithRetries(`/api/data/${query}`, JSON.stringify(body), {
    ...{ Authorization: `Bearer ${access}`, 'Content-Type': 'application/json', 'X-Opisense-Api-Version': '1.1' },
  });

describe('shipped clients: the existing Python clients', () => {
  test('sign in by the password grant with client credentials in HTTP Basic, under the old and the new realm name (R-B2, R-B3)', async () => {
    expect((await token()).access).not.toBe('');
    expect((await token('tidemark')).access).not.toBe('');
  });

  test('refresh a token with client credentials in the body, with and without the form field `account` (R-B3, R-B4)', async () => {
    const { refresh } = await token();
    for (const account of [{}, { account: String(world.accountId) }]) {
      const form = { grant_type: 'refresh_token', refresh_token: refresh, ...account };
      const body = new URLSearchParams({ ...form, client_id: CLIENT.clientId, client_secret: CLIENT.secret });
      const { status, text } = await post(tokenPath('opinum'), body.toString(), FORM);
      expect(status, text).toBe(200);
      expect((await push(JSON.parse(text).access_token, [])).status).toBe(200);
    }
  });

  test('can push to /api/data/ without a query and with a malformed query (R-A3)', async () => {
    const { access } = await token();
    for (const query of [
      '',
      '?op1',
      '?operationId=op1?operationTimeoutSec=30',
      '?operationId=op2&operationTimeoutSec=x',
    ]) {
      const { status, text } = await push(access, [{ VariableId: String(variableIds[0]), Data: [] }], query);
      expect(status, `${query} ${text}`).toBe(200);
    }
  });

  test('can push a gzipped body with names in any letter case and values as text (R-A3, R-A4, R-D4)', async () => {
    const { access } = await token();
    const body = [
      {
        ...{ VARIABLEID: String(variableIds[1]), sourceSerialNumber: null, MappingConfig: null, Version: null },
        Data: [
          { Date: '2026-01-01T01:00:00', VALUE: '1.5' },
          { date: '2026-01-01T00:15:00+0000', value: 2 },
        ],
      },
    ];
    const headers = {
      Authorization: `Bearer ${access}`,
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
    };
    const { status, text } = await postWithRetries('/api/data/', gzipSync(JSON.stringify(body)), headers);
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ accepted: { elements: 1, readings: 2 }, rejected: [] });
    const api = await signIn(roles.http);
    // A date without a zone is in the time zone of the site, Europe/Brussels.
    const rows = await eventually('both readings', async () => {
      const found = await api.call<{ date: string; rawValue: number }[]>('GET', `/data?variableId=${variableIds[1]}`);
      return found.length === 2 && found;
    });
    expect(rows.map(({ date, rawValue }) => [date, rawValue])).toEqual([
      ['2026-01-01T00:00:00Z', 1.5],
      ['2026-01-01T00:15:00Z', 2],
    ]);
  });

  test('push from six threads and send some pushes twice; each operation completes with its readings stored (R-D1, R-D7)', async () => {
    const { access } = await token();
    const start = Date.UTC(2026, 1, 1);
    const threads = variableIds.slice(2).map(async (variableId, thread) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const data = Array.from({ length: 10 }, (_, index) => ({
          date: new Date(start + (turn * 10 + index) * 60_000).toISOString(),
          value: turn,
        }));
        const query = `?operationId=thread-${thread}-${turn}`;
        const sends = turn % 5 === 0 ? 2 : 1;
        const answers = await Promise.all(
          Array.from({ length: sends }, () => push(access, [{ variableId, data }], query)),
        );
        for (const { status } of answers) expect(status).toBe(200);
      }
    });
    await Promise.all(threads);
    const api = await signIn(roles.http);
    for (const [thread, variableId] of variableIds.slice(2).entries()) {
      await eventually('all readings', async () => {
        const rows = await api.call<unknown[]>('GET', `/data?variableId=${variableId}&from=2026-02-01T00:00:00Z`);
        return rows.length === 200;
      });
      for (let turn = 0; turn < 20; turn += 1) {
        const operation = await api.call('GET', `/api/operations/thread-${thread}-${turn}`);
        expect(operation).toMatchObject({ state: 'Completed', accepted: { elements: 1, readings: 10 } });
      }
    }
  });

  test('upload a Standard File as the form part "data"; its rows become points (R-E1, R-E2)', async () => {
    const { access } = await token();
    const file = `variable_id,date,value\r\n${variableIds[1]},2026-03-01T00:00:00,1.25\r\n${variableIds[1]},2026-03-01T00:15:00,-2\r\n`;
    const boundary = '8f2c1a5f3f2b4f1d9c7e6a5b4c3d2e1f';
    const disposition = 'Content-Disposition: form-data; name="data"; filename="readings.csv"';
    const body = `--${boundary}\r\n${disposition}\r\n\r\n${file}\r\n--${boundary}--\r\n`;
    const { status, text } = await postWithRetries('/storage?filename=readings%2Ecsv', body, {
      ...{ Authorization: `Bearer ${access}`, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    });
    expect(status, text).toBe(200);
    const id: unknown = JSON.parse(text);
    expect(id).toEqual(expect.any(String));
    const api = await signIn(roles.http);
    const state = await eventually('the end of the file', async () => {
      const found = await api.call<{ state: string }>('GET', `/storage/${id}`);
      return !['Queued', 'Processing'].includes(found.state) && found;
    });
    expect(state).toMatchObject({ state: 'Completed' });
    const rows = await api.call<{ date: string; rawValue: number }[]>(
      'GET',
      `/data?variableId=${variableIds[1]}&from=2026-02-28T00:00:00Z&displayLevel=ValueVariableDate`,
    );
    // A date without a zone is in the time zone of the site, Europe/Brussels.
    expect(rows.map(({ date, rawValue }) => [date, rawValue])).toEqual([
      ['2026-02-28T23:00:00Z', 1.25],
      ['2026-02-28T23:15:00Z', -2],
    ]);
  });

  test('send concurrent pushes that together exceed PUSH_MAX_MEMORY_BYTES; each push is accepted after at most five retries (R-D10, R-A5)', async () => {
    const variableId = variableIds[0];
    await roles.kill('SIGTERM');
    roles = await startRoles(['api', 'ingester'], { ...world.environment, PUSH_MAX_MEMORY_BYTES: '1048576' });
    const { access } = await token();
    const data = Array.from({ length: 12_000 }, (_, index) => ({
      date: new Date(Date.UTC(2024, 0, 1) + index * 60_000).toISOString(),
      value: index,
    }));
    const answers = await Promise.all(Array.from({ length: 4 }, () => push(access, [{ variableId, data }])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  }, 60_000);
});
