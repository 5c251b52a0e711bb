/**
 * Each route parses its query with a declaration (the object that `declareQuery` returns). The OpenAPI document must
 * describe the operation with the same declaration (R-A9).
 */
import { glob, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import type { DescribedQuery, Operation } from '../../../src/platform/openapi/operation.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { fillPath } from '../../support/answers/fill-path.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { addSecretPeople, addSecretStructure, type Ids, NO_IDS } from '../../support/fixtures/secret-structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const MARK = 'QUERIED';
const SOURCES = new URL('../../../src/', import.meta.url);
/**
 * Name of the constant that declares the query parameter of every listing. The API description documents this parameter
 * once, as the shared parameter `ItemsCount`.
 */
const SHARED = 'COUNT_QUERY';
/**
 * Operations that this test cannot call: one operation answers with a stream of events, and the others need R, which
 * runs in the calculator role only.
 */
const NOT_CALLED = ['followFile', 'getSampleData', 'listRPackages', 'replayRun'];
// Leaves out the paths below /realms/, because the token issuer, not the app, parses their queries.
const isCallable = ({ path, operationId }: Operation) =>
  !path.startsWith('/realms/') && !NOT_CALLED.includes(operationId);

let api: TestApi;
let admin: TestClient;
let ids: Ids;
let operations: readonly Operation[];
beforeAll(async () => {
  api = await startTestApi({ API_RATE_PER_MINUTE: '0', TOKEN_RATE_PER_MINUTE: '0' });
  admin = await api.signIn('ada', 'ADMIN');
  const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'ada'`);
  await addClaim(api.database, { accountId: api.accountId, userId: rows[0]?.id ?? '', claimType: 'datapusher.custom' });
  const structure = await addSecretStructure(api, api.manager, api.accountId, MARK);
  const people = await addSecretPeople(api, api.manager, api.accountId, MARK);
  const mapper = await api.manager.post<{ id: string }>('/account/mappers', { name: 'A mapper', expression: '[]' });
  ids = { ...NO_IDS, ...structure, ...people, mapper: mapper.body.id };
  operations = describeApi(api.parts.config).operations.filter(isCallable);
});
afterAll(() => api.close());

/**
 * Calls the operation.
 * @returns those members of `declared` that the route used to parse the query string of this call.
 */
async function parsedBy(
  { method, path }: Operation,
  declared: readonly DescribedQuery[],
): Promise<readonly DescribedQuery[]> {
  const spies = declared.map((query) => vi.spyOn(query, 'parse'));
  try {
    const isWrite = method !== 'get';
    // A push whose URL has no query string is not parsed by the declared parameters, so every call has a query string.
    const response = await fetch(`${api.origin}${fillPath(path, ids) ?? path}?unknown=1`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${admin.token}`,
        ...(isWrite && { 'content-type': path === '/storage' ? 'text/csv' : 'application/json' }),
      },
      ...(isWrite && { body: '[]' }),
    });
    await response.arrayBuffer();
    return declared.filter((_, index) => (spies[index]?.mock.calls.length ?? 0) > 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it('openapi: every operation parses exactly the query parameters that its description has (R-A9)', async () => {
  const declared = [...new Set(operations.flatMap(({ query }) => query ?? []))];
  const nameOf = (query: DescribedQuery) => Object.keys(query.parameters).join();
  // Deletes come last, because they remove what other operations read.
  const called = operations
    .filter(({ method, query }) => method === 'get' || query)
    .sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'));
  const wrong: unknown[] = [];
  for (const operation of called) {
    const { operationId, query } = operation;
    const expected = query ? [query] : [];
    const parsed = await parsedBy(operation, declared);
    if (parsed.length === expected.length && parsed[0] === expected[0]) continue;
    wrong.push({ operationId, parsed: parsed.map(nameOf), documented: expected.map(nameOf) });
  }
  expect(wrong).toEqual([]);
  expect(called.filter(({ query }) => query).length).toBeGreaterThan(35);
});

it('openapi: every query declaration is used in the description of at least one operation, except COUNT_QUERY, whose parameter is described once for all listings (R-A9)', async () => {
  const documented: string[] = [];
  const declared: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: SOURCES })) {
    const text = await readFile(new URL(file, SOURCES), 'utf8');
    const names = (pattern: RegExp) => [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
    if (file.endsWith('-docs.ts')) documented.push(...names(/query: ([A-Z_]+)\b/g));
    else declared.push(...names(/^(?:export )?const (\w+) = declareQuery\(/gm));
  }
  expect(declared.length).toBeGreaterThan(25);
  expect(declared.filter((name) => !documented.includes(name))).toEqual([SHARED]);
});
