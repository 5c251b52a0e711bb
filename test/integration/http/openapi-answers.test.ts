/**
 * Compares the OpenAPI description with the running service (R-A9). Calls the GET operations of the API and checks the
 * answers, but leaves out operations that answer with a page, metrics or a stream, or that need R. Sends each of the
 * called operations an invalid value for every query parameter of type integer, boolean, instant or enumeration, and
 * requires 400. Also checks the issuer's token endpoint and discovery document.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectSchemas } from '../../../src/http/openapi/json-schemas.ts';
import { XLSX_TYPE } from '../../../src/platform/http/workbook-writer.ts';
import type { Operation } from '../../../src/platform/openapi/operation.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { fetchAnswerChecker } from '../../support/answers/described-answers.ts';
import { fillPath } from '../../support/answers/fill-path.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import {
  addSecretDefinitions,
  addSecretPeople,
  addSecretStructure,
  type Ids,
  NO_IDS,
} from '../../support/fixtures/secret-structure.ts';
import { addEndedImport } from '../../support/fixtures/structure-import.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MARK = 'DESCRIBED';
/** Operations that answer with HTML pages, metrics or streams, and operations that need R. */
const NOT_READ_HERE = new Set([
  'getDocs',
  'getMetrics',
  'showInvitation',
  'followFile',
  'followImport',
  'watchPoints',
  'getSampleData',
  'listRPackages',
  'replayRun',
]);
const JSON_TYPE = 'application/json';
/** For each media type, the pattern that the start of a file must match. */
const STARTS: Readonly<Record<string, RegExp>> = { 'text/csv': /^(date|row),/, [XLSX_TYPE]: /^PK/ };

let api: TestApi;
let admin: TestClient;
let ids: Ids;
let reading: readonly Operation[];
beforeAll(async () => {
  api = await startTestApi();
  admin = await api.signIn('ada', 'ADMIN');
  const structure = await addSecretStructure(api, api.manager, api.accountId, MARK);
  const people = await addSecretPeople(api, api.manager, api.accountId, MARK);
  const definitions = await addSecretDefinitions(api.manager, MARK);
  const mapper = await api.manager.post<{ id: string }>('/account/mappers', { name: 'A mapper', expression: '[]' });
  const headers = { 'content-type': 'text/csv' };
  const raw = 'date,value,variable_id\n2026-01-01T00:00:00,1,1\n';
  const file = await api.manager.send<string>('POST', '/storage?filename=a.csv', undefined, { raw, headers });
  const lost = [{ mappingConfig: 'of nobody', data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] }];
  await api.manager.post(`/api/data?operationId=${people.label}`, lost);
  await api.manager.post('/account/user/claims/add', { userId: people.user, claimType: 'colour', claimValue: 'blue' });
  await api.manager.put(`/account`, { name: 'North' });
  await api.ingest();
  ids = { ...NO_IDS, ...structure, ...people, ...definitions, mapper: mapper.body.id, file: file.body };
  const imported = await addEndedImport(api.database, api.accountId);
  ids = { ...ids, import: imported };
  reading = describeApi(api.parts.config).operations.filter(
    ({ method, path, operationId }) =>
      method === 'get' && !path.startsWith('/realms/') && !NOT_READ_HERE.has(operationId),
  );
});
afterAll(() => api.close());

/** @returns the query string that an operation requires; empty when it requires none. */
function queryOf({ path }: Operation): string {
  if (path === '/calculated/instants') return '?cron=15%206%20*%20*%20*&timeZoneId=Europe/Amsterdam';
  if (path.endsWith('/retention/preview')) return '?keepRawYears=1';
  if (path === '/data') return `?variableId=${ids.variable}`;
  if (path === '/api/data/targets') return `?variableIds=${ids.variable}`;
  if (path === '/data/origins') return `?variableId=${ids.variable}&versionTimestamps=2026-01-01T00:00:00Z`;
  if (path === '/api/operations/:label') return '?all=true';
  return path === '/data/compare' ? `?variableId=${ids.variable}&leftVersion=${MARK}-version` : '';
}

const addressOf = (operation: Operation) => {
  const path = fillPath(operation.path, ids);
  if (path === undefined) throw new Error(`no fixture for the path parameters of ${operation.path}`);
  return path + queryOf(operation);
};

const typesOf = ({ answers: [{ types = {} }] }: Operation) => Object.keys(types);
const givesFiles = (operation: Operation) => !typesOf(operation).includes(JSON_TYPE);

describe('openapi: GET operations of the API (except pages, metrics, streams and operations that need the language R)', () => {
  it("every operation that returns JSON gives 200 and a body that matches the operation's description (R-A9)", async () => {
    const silent: string[] = [];
    for (const operation of reading.filter((operation) => !givesFiles(operation))) {
      // The client throws when an answer differs from its description.
      const { status, body } = await admin.get(addressOf(operation), { 'x-total-count': 'true' });
      const shown = [operation.operationId, status];
      expect(shown).toEqual([operation.operationId, 200]);
      if (Array.isArray(body) && body.length === 0) silent.push(operation.operationId);
    }
    expect(silent).toEqual([]);
  });

  it('every operation described as a listing sends the header `x-total-count` when the request asks for it (R-A7)', async () => {
    for (const operation of reading.filter(({ isListing }) => isListing)) {
      const { headers } = await admin.get(addressOf(operation), { 'x-total-count': 'true' });
      expect([operation.operationId, headers.get('x-total-count')]).toEqual([
        operation.operationId,
        expect.any(String),
      ]);
    }
  });

  it('every operation that returns a file answers with a media type that the OpenAPI document lists (R-E1)', async () => {
    const given: string[] = [];
    for (const operation of reading.filter(givesFiles)) {
      for (const accept of ['*/*', ...typesOf(operation)]) {
        const { operationId } = operation;
        const headers = { authorization: `Bearer ${api.manager.token}`, accept };
        const response = await fetch(api.origin + addressOf(operation), { headers });
        const [type = ''] = response.headers.get('content-type')?.split(';') ?? [];
        expect([operationId, response.status]).toEqual([operationId, 200]);
        expect(typesOf(operation)).toContain(type);
        expect(await response.text()).toMatch(STARTS[type] ?? /^$/);
        given.push(`${operationId} ${type}`);
      }
    }
    expect(new Set(given)).toEqual(
      new Set([
        `getStructureTemplate ${XLSX_TYPE}`,
        ...['getFileTemplate text/csv', `getFileTemplate ${XLSX_TYPE}`],
        ...['getFileErrors text/csv', `getFileErrors ${XLSX_TYPE}`, 'getFileContent text/csv'],
      ]),
    );
  });

  it('an invalid integer, boolean, instant or enumeration in any query parameter gets 400 (R-A5, R-A9)', async () => {
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

describe('openapi: the issuer', () => {
  const TOKEN = '/realms/tidemark/protocol/openid-connect/token';
  const demo = { grant_type: 'password', client_id: 'demo', client_secret: 's3cret', username: 'max' };

  it.each([
    ['the right password', 200, { ...demo, password: PASSWORD, scope: 'datahub-api' }],
    ['a wrong password', 400, { ...demo, password: 'wrong' }],
    ['a wrong client secret', 401, { ...demo, client_secret: 'wrong', password: PASSWORD }],
  ])(
    'when a token request has %s, the answer matches the OpenAPI document (R-B3, R-A9)',
    async (_what, expected, form) => {
      const check = await fetchAnswerChecker(api.origin);
      const response = await fetch(api.origin + TOKEN, { method: 'POST', body: new URLSearchParams(form) });
      const { status, headers } = response;
      expect(status).toBe(expected);
      check({ method: 'POST', path: TOKEN, status, headers, body: await response.json() });
    },
  );

  it('serves its discovery document at the path that the OpenAPI document describes (R-B2, R-A9)', async () => {
    const check = await fetchAnswerChecker(api.origin);
    const path = '/realms/tidemark/.well-known/openid-configuration';
    const response = await fetch(api.origin + path);
    const { status, headers } = response;
    const body = (await response.json()) as { token_endpoint: string };
    check({ method: 'GET', path, status, headers, body });
    expect(body.token_endpoint).toBe(api.origin + TOKEN);
  });
});

/** @returns true if the schema accepts only integers, booleans, instants or the values of an enumeration. */
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
