/**
 * Holds what the API says of itself against what it does (R-A9): every operation that reads is called, and answers as it is
 * described; every parameter that is described is read.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectSchemas } from '../../../src/http/openapi/json-schemas.ts';
import type { Operation } from '../../../src/platform/openapi/operation.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { fetchAnswerChecker } from '../../support/answers/described-answers.ts';
import { fillPath } from '../../support/answers/fill-path.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addSecretPeople, addSecretStructure, type Ids, NO_IDS } from '../../support/fixtures/secret-structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MARK = 'DESCRIBED';
/** Their answers are files, pages or streams, or come from where R is. */
const NOT_READ_HERE = new Set(['getDocs', 'getMetrics', 'showInvitation', 'followFile', 'getSampleData']);
const NO_JSON = new Set(['getFileErrors', 'getFileContent']);

let api: TestApi;
let admin: TestClient;
let ids: Ids;
let reading: readonly Operation[];
beforeAll(async () => {
  api = await startTestApi();
  admin = await api.signIn('ada', 'ADMIN');
  const structure = await addSecretStructure(api, api.manager, api.accountId, MARK);
  const people = await addSecretPeople(api, api.manager, api.accountId, MARK);
  const mapper = await api.manager.post<{ id: string }>('/account/mappers', { name: 'A mapper', expression: '[]' });
  const headers = { 'content-type': 'text/csv' };
  const raw = 'date,value,variable_id\n2026-01-01T00:00:00,1,1\n';
  const file = await api.manager.send<string>('POST', '/storage?filename=a.csv', undefined, { raw, headers });
  const lost = [{ mappingConfig: 'of nobody', data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }];
  await api.manager.post(`/api/data?operationId=${people.label}`, lost);
  await api.manager.post('/account/user/claims/add', { userId: people.user, claimType: 'colour', claimValue: 'blue' });
  await api.manager.put(`/account`, { name: 'North' });
  await api.ingest();
  ids = { ...NO_IDS, ...structure, ...people, mapper: mapper.body.id, file: file.body };
  reading = describeApi(api.parts.config).operations.filter(
    ({ method, path, operationId }) =>
      method === 'get' && !path.startsWith('/realms/') && !NOT_READ_HERE.has(operationId),
  );
});
afterAll(() => api.close());

/** What an operation needs to be asked for. */
function queryOf({ path }: Operation): string {
  if (path === '/data') return `?variableId=${ids.variable}`;
  if (path === '/api/operations/:label') return '?all=true';
  return path === '/data/compare' ? `?variableId=${ids.variable}&leftVersion=${MARK}-version` : '';
}

const addressOf = (operation: Operation) => {
  const path = fillPath(operation.path, ids);
  if (path === undefined) throw new Error(`what does ${operation.path} name?`);
  return path + queryOf(operation);
};

describe('every operation that reads', () => {
  it('answers as it is described, and has something to tell (R-A9)', async () => {
    const silent: string[] = [];
    for (const operation of reading.filter(({ operationId }) => !NO_JSON.has(operationId))) {
      // The client refuses what is not as described.
      const { status, body } = await admin.get(addressOf(operation), { 'x-total-count': 'true' });
      const shown = [operation.operationId, status];
      expect(shown).toEqual([operation.operationId, 200]);
      if (Array.isArray(body) && body.length === 0) silent.push(operation.operationId);
    }
    expect(silent).toEqual([]);
  });

  it('counts what it lists, where it says so (R-A7)', async () => {
    for (const operation of reading.filter(({ isListing }) => isListing)) {
      const { headers } = await admin.get(addressOf(operation), { 'x-total-count': 'true' });
      expect([operation.operationId, headers.get('x-total-count')]).toEqual([
        operation.operationId,
        expect.any(String),
      ]);
    }
  });

  it('gives files in the types it names (R-E1)', async () => {
    for (const operation of reading.filter(({ operationId }) => NO_JSON.has(operationId))) {
      const response = await fetch(api.origin + addressOf(operation), {
        headers: { authorization: `Bearer ${api.manager.token}` },
      });
      const [type = ''] = response.headers.get('content-type')?.split(';') ?? [];
      expect([operation.operationId, response.status]).toEqual([operation.operationId, 200]);
      expect(Object.keys(operation.answers[0].types ?? {})).toContain(type);
      await response.text();
    }
  });

  it('reads every parameter that is described, where a value can be wrong (R-A5, R-A9)', async () => {
    const { toJsonSchema } = collectSchemas();
    const unread: string[] = [];
    let count = 0;
    for (const operation of reading) {
      for (const [name, { schema }] of Object.entries(operation.query?.parameters ?? {})) {
        if (!canBeWrong(toJsonSchema(schema, 'input'))) continue;
        count += 1;
        const address = addressOf(operation);
        const { status } = await admin.get(`${address}${address.includes('?') ? '&' : '?'}${name}=%21`);
        if (status !== 400) unread.push(`${operation.operationId} ${name}: ${status}`);
      }
    }
    expect(count).toBeGreaterThan(100);
    expect(unread).toEqual([]);
  });
});

describe('the issuer', () => {
  const TOKEN = '/realms/tidemark/protocol/openid-connect/token';
  const demo = { grant_type: 'password', client_id: 'demo', client_secret: 's3cret', username: 'max' };

  it.each([
    ['a token', 200, { ...demo, password: PASSWORD, scope: 'datahub-api' }],
    ['a wrong password', 400, { ...demo, password: 'wrong' }],
    ['a wrong client', 401, { ...demo, client_secret: 'wrong', password: PASSWORD }],
  ])('answers %s as it is described (R-B3, R-A9)', async (_what, expected, form) => {
    const check = await fetchAnswerChecker(api.origin);
    const response = await fetch(api.origin + TOKEN, { method: 'POST', body: new URLSearchParams(form) });
    const { status, headers } = response;
    expect(status).toBe(expected);
    check({ method: 'POST', path: TOKEN, status, headers, body: await response.json() });
  });

  it('has its discovery document where it is described (R-B2, R-A9)', async () => {
    const check = await fetchAnswerChecker(api.origin);
    const path = '/realms/tidemark/.well-known/openid-configuration';
    const response = await fetch(api.origin + path);
    const { status, headers } = response;
    const body = (await response.json()) as { token_endpoint: string };
    check({ method: 'GET', path, status, headers, body });
    expect(body.token_endpoint).toBe(api.origin + TOKEN);
  });
});

/** Numbers, instants and choices; a text may be anything. */
function canBeWrong(schema: { readonly [name: string]: unknown }): boolean {
  const items = (schema.items ?? schema) as {
    readonly type?: unknown;
    readonly enum?: unknown;
    readonly format?: unknown;
  };
  return (
    items.enum !== undefined || items.format === 'date-time' || ['integer', 'boolean'].includes(String(items.type))
  );
}
