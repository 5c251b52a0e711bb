/**
 * Calls every route of the service with ids of inaccessible objects: those of another account, and those of a site that
 * the USER was not granted. Every answer must equal the answer for an id that does not exist, and reveal nothing (R-A5,
 * R-B9).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiRole, startApi } from '../../../src/roles/api-role.ts';
import { listenHttp } from '../../../src/roles/http-listener.ts';
import { fillPath } from '../../support/answers/fill-path.ts';
import { createGrpcReader, GRPC_METHODS } from '../../support/clients/grpc-client.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import {
  addSecretDefinitions,
  addSecretPeople,
  addSecretStructure,
  type Ids,
  type Kind,
  NO_IDS,
  SECRET_VALUE,
  startIdsHigh,
} from '../../support/fixtures/secret-structure.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { addEndedImport } from '../../support/fixtures/structure-import.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const FOREIGN = 'FOREIGNMARK';
const HIDDEN = 'HIDDENMARK';

let api: TestApi;
let role: ApiRole;
let user: TestClient;
let own: { siteId: number; sourceId: number; variableId: number };
let foreign: Ids;
let hidden: Ids;
let before: unknown;
beforeAll(async () => {
  // Callers are cached for 30 s, so that the many requests of these tests need fewer database queries.
  api = await startTestApi({ ACCESS_CACHE_SEC: '30' });
  role = await startApi(api.parts, await listenHttp('127.0.0.1', 0));
  await startIdsHigh(api.database);
  own = await createStructure(api.manager);
  foreign = {
    ...NO_IDS,
    ...(await addSecretStructure(api, api.stranger, api.otherAccountId, FOREIGN)),
    ...(await addSecretPeople(api, api.stranger, api.otherAccountId, FOREIGN)),
    ...(await addSecretDefinitions(api.stranger, FOREIGN)),
    mapper: await addMapper(api.stranger),
    file: await addFile(api.stranger),
    import: await addEndedImport(api.database, api.otherAccountId, { userName: FOREIGN }),
  };
  hidden = { ...NO_IDS, ...(await addSecretStructure(api, api.manager, api.accountId, HIDDEN)) };
  await api.ingest();
  user = await api.signIn('una', 'USER', { sites: [own.siteId] });
  before = await snapshot();
});
afterAll(async () => {
  await role.stop();
  await api.close();
});

async function addMapper(client: TestClient): Promise<string> {
  const body = { name: `${FOREIGN} mapper`, expression: '[]' };
  const made = await client.post<{ id?: string; guid?: string }>('/account/mappers', body);
  const id = made.body.guid ?? made.body.id;
  if (id === undefined) throw new Error(`no mapper was made: ${JSON.stringify(made.body)}`);
  return id;
}

async function addFile(client: TestClient): Promise<string> {
  const headers = { 'content-type': 'text/csv' };
  const raw = 'date,value,variable_id\n2026-01-01T00:00:00,1,1\n';
  const made = await client.send<unknown>('POST', `/storage?filename=${FOREIGN}.csv`, undefined, { raw, headers });
  if (typeof made.body !== 'string') throw new Error(`no file was taken: ${JSON.stringify(made.body)}`);
  return made.body;
}

/** Reads every table whose rows a request can refer to. Two equal snapshots show that no request has changed a row. */
async function snapshot(): Promise<unknown> {
  const tables = [
    ['site', 'select * from site order by id'],
    ['source', 'select * from source order by id'],
    ['variable', 'select * from variable order by id'],
    ['user', `select id, user_name, role, is_locked, first_name from app_user order by id`],
    ['member', 'select * from account_member order by 1, 2'],
    ['claim', 'select * from user_claim order by 1, 2, 3'],
    ['view', 'select * from user_view order by id'],
    ['invitation', 'select id, email, accepted_date from invitation order by id'],
    ['access', 'select user_id, site_id, level from site_access order by 1, 2'],
    ['webhook', 'select * from webhook order by id'],
    ['attempt', 'select * from webhook_attempt order by id'],
    ['mapper', 'select * from mapper order by id'],
    ['file', 'select id, filename from stored_file order by id'],
    ['import', 'select * from structure_import order by id'],
    ['form', 'select * from form order by id'],
    ['catalogue', 'select * from catalogue_entry order by id'],
    ['declaration', 'select * from declaration_save order by id'],
    ['run', 'select id, variable_id from calculation_run order by id'],
    ['point', 'select variable_id, date, value from point order by 1, 2'],
  ] as const;
  const found: Record<string, unknown> = {};
  for (const [name, sql] of tables) found[name] = (await api.database.query(sql)).rows;
  return found;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const allRoutes = () => {
  const routes = role.routes.filter(({ method, path }) => METHODS.includes(method) && !path.includes('*'));
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
};

/** Query parameters that filter a list by id, each with the kind of object that the id identifies. */
const QUERIES: readonly (readonly [name: string, kind: Kind])[] = [
  ...(['id', 'siteId', 'siteIds'] as const).map((name) => [name, 'site'] as const),
  ...(['sourceId', 'sourceIds', 'sourcesId'] as const).map((name) => [name, 'source'] as const),
  ...(['id', 'variableId', 'variableIds'] as const).map((name) => [name, 'variable'] as const),
  ['ViewId', 'view'],
  ['AccountIds', 'account'],
  ['AccountId', 'account'],
  ['targetId', 'user'],
  ['userId', 'user'],
  ['BusinessKeys.Name=Id&BusinessKeys.Values', 'user'],
];
/** Maximum number of concurrent requests. */
const GROUP = 14;

/** @returns the paths of all GET routes without an id, except `/calculated/packages`, which waits for a calculator. */
const listPaths = () =>
  allRoutes()
    .filter(({ method, path }) => method === 'GET' && !path.includes('/:') && path !== '/calculated/packages')
    .map(({ path }) => path);

interface Shown {
  readonly status: number;
  readonly text: string;
  readonly total: string | null;
}

/**
 * Sends a request, and requires that the answer contains no text of an object that the client may not read.
 * @returns the answer without the parts that differ from answer to answer, and with `#` in place of the ids in `ids`.
 */
async function ask(client: TestClient, method: string, path: string, body: unknown, ids: Ids): Promise<Shown> {
  const response = await fetch(api.origin + path, {
    method,
    headers: {
      authorization: `Bearer ${client.token}`,
      'x-total-count': 'true',
      ...(body !== undefined && {
        'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/json',
      }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const whole = await response.text();
  // Ignores messages of `/account/health` that quote identifiers, because the caller itself sent these identifiers.
  const raw = path.startsWith('/account/health') ? whole.replace(/"message":"no variable has [^{}]*"/g, '') : whole;
  // A USER must not see objects marked HIDDEN; the manager of the account may.
  for (const mark of client === api.manager ? [FOREIGN] : [FOREIGN, HIDDEN]) {
    // If the request does not contain the mark, the answer must not contain the mark either.
    if (!path.includes(mark) && !JSON.stringify(body ?? '').includes(mark)) expect(raw).not.toContain(mark);
  }
  expect(raw).not.toContain(String(SECRET_VALUE));
  expect(response.status).toBeLessThan(500);
  // Removes the parts that are new in every answer: the three members named here, and the code challenge of a redirect.
  let text = raw.replace(/"(requestId|operationId|checkedDate)":"[^"]*"|code_challenge=[^&"]*/g, '');
  const { account, ...others } = ids;
  for (const id of Object.values(others)) text = text.replaceAll(id, '#');
  // Replaces the account number only in this message: an account number is short, so it could also occur elsewhere by
  // chance.
  text = text.replace(`account ${account} does not exist`, 'account # does not exist');
  return { status: response.status, text, total: response.headers.get('x-total-count') };
}

/** Sends a request with the ids in `ids` and the same request with unused ids, and expects equal answers. */
async function expectSame(
  client: TestClient,
  method: string,
  pathOf: (ids: Ids) => string,
  bodyOf: (ids: Ids) => unknown,
  ids: Ids,
): Promise<Shown> {
  const theirs = await ask(client, method, pathOf(ids), bodyOf(ids), ids);
  const nobodys = await ask(client, method, pathOf(NO_IDS), bodyOf(NO_IDS), NO_IDS);
  expect({ route: `${method} ${pathOf(ids)}`, ...theirs }).toEqual({ route: `${method} ${pathOf(ids)}`, ...nobodys });
  return theirs;
}

const WALKERS = [
  ['a MANAGER with ids of another account', () => api.manager, () => foreign],
  ['a USER with ids of another account', () => user, () => foreign],
  ['a USER with ids of a site that was not granted', () => user, () => hidden],
] as const;

it('identity: the tests send the id of another account’s object for every path parameter of every route (R-A5)', () => {
  const unknown = allRoutes().filter(({ path }) => fillPath(path, NO_IDS) === undefined);
  expect(unknown).toEqual([]);
  for (const kind of Object.keys(NO_IDS) as Kind[]) expect([kind, foreign[kind]]).not.toEqual([kind, NO_IDS[kind]]);
  expect(allRoutes().length).toBeGreaterThan(80);
});

describe.each(WALKERS)('identity: %s', (_who, client, ids) => {
  it.each(METHODS)(
    'in a %s path, the id of an inaccessible object is refused like an unused id (R-A5, R-B9)',
    async (method) => {
      const routes = allRoutes().filter((route) => route.method === method && route.path.includes('/:'));
      expect(routes.length).toBeGreaterThan(0);
      for (const { path } of routes) {
        const bodies: readonly unknown[] = method === 'GET' ? [undefined] : [{}, []];
        for (const body of bodies) {
          const pathOf = (given: Ids) => fillPath(path, given) ?? '';
          const { status } = await expectSame(client(), method, pathOf, () => body, ids());
          expect([`${method} ${path}`, status]).toEqual([`${method} ${path}`, expect.not.toBeSuccess()]);
        }
      }
    },
  );

  it.each(QUERIES)(
    'the query parameter %s with the id of an inaccessible %s does not reveal the object in lists or totals (R-A5, R-A7, R-B9)',
    async (name, kind) => {
      const paths = listPaths();
      // Sends GROUP requests at a time, to stay within the limit of concurrent reads.
      for (let first = 0; first < paths.length; first += GROUP) {
        const asked = paths.slice(first, first + GROUP).map((path) => {
          const more = path.startsWith('/data') ? '&from=2025-01-01T00:00:00Z&to=2027-01-01T00:00:00Z' : '';
          const pathOf = (given: Ids) => `${path}?${name}=${given[kind]}${more}`;
          return expectSame(client(), 'GET', pathOf, () => undefined, ids());
        });
        await Promise.all(asked);
      }
    },
  );

  it('in a body, the id of an inaccessible object gets the same answer as an unused id (R-A5, R-B9)', async () => {
    const bodies: readonly (readonly [method: string, path: string, body: (given: Ids) => unknown])[] = [
      ['POST', '/data', ({ variable }) => ({ variableIds: [Number(variable)] })],
      ['DELETE', '/data', ({ variable }) => ({ variableIds: [Number(variable)], whatIf: true })],
      ['DELETE', '/data', ({ variable }) => ({ variableIds: [Number(variable)] })],
      ['POST', '/api/data', ({ variable }) => [{ variableId: Number(variable), data: [reading] }]],
      ['POST', '/api/data', ({ source }) => [{ sourceId: Number(source), mappingConfig: 'x', data: [reading] }]],
      ['POST', '/sources', ({ site }) => ({ siteId: Number(site), name: 'moved' })],
      ['PUT', `/sources/${own.sourceId}`, ({ site }) => ({ siteId: Number(site) })],
      ['PUT', `/sources/${own.sourceId}/variables/${own.variableId}`, ({ source }) => ({ sourceId: Number(source) })],
      ['PUT', `/sources/${own.sourceId}/variables/${own.variableId}`, ({ variable }) => reads(variable)],
      ['POST', '/account/user/claims/add', ({ user: userId }) => ({ userId, claimType: 'a' })],
      ['PUT', '/account/user/claims/edit', ({ user: userId }) => ({ userId, claimType: 'a' })],
      ['DELETE', '/account/user/claims/remove', ({ user: userId }) => [{ userId, claimType: 'a' }]],
      ['POST', '/account/users', ({ view }) => ({ viewId: view })],
      ['POST', '/account/users', ({ user: userId }) => ({ businessKeys: { name: 'Id', values: [userId] } })],
      ['POST', '/account/users/account', (given) => ({ accountId: api.accountId, userIds: [given.user] })],
      ['DELETE', '/account/users/account', (given) => ({ accountId: Number(given.account), userIds: [given.user] })],
      ['POST', '/account/webhooks', ({ site }) => webhookFor({ siteIds: [site] })],
      ['POST', '/account/webhooks/test', ({ site }) => webhookFor({ siteIds: [site] })],
      ['POST', '/account/webhooks', ({ source }) => webhookFor({ sourceIds: [source] })],
      ['POST', '/account/webhooks', ({ variable }) => webhookFor({ variableIds: [variable] })],
      ['POST', '/account/invitations', ({ site }) => ({ email: 'a@x.example', sites: [{ siteId: Number(site) }] })],
    ];
    for (const [method, path, bodyOf] of bodies) await expectSame(client(), method, () => path, bodyOf, ids());
  });

  it.each(GRPC_METHODS)(
    'the gRPC method %s refuses the id of an inaccessible object in the same way as an unused id (R-J2, R-B9)',
    async (method) => {
      const reader = createGrpcReader(api.grpcAddress, client().token);
      const isOfOne = method === 'ListVersions' || method === 'ListRuns';
      const refusalOf = async (request: object, id: string) => {
        const { code, reason, message } = await reader.refusalOf(request, method);
        return { code, reason, message: message.replaceAll(id, '#') };
      };
      const byVariable = ({ variable }: Ids) =>
        refusalOf(isOfOne ? { variableId: Number(variable) } : { variableIds: [Number(variable)] }, variable);
      try {
        expect(await byVariable(ids())).toEqual(await byVariable(NO_IDS));
        if (isOfOne) return;
        const bySource = ({ source }: Ids) => refusalOf({ sourceId: Number(source) }, source);
        expect(await bySource(ids())).toEqual(await bySource(NO_IDS));
      } finally {
        reader.close();
      }
    },
  );

  it('a push that names an inaccessible object is rejected like a push with an unknown name (R-D2, R-B9)', async () => {
    const mark = ids() === foreign ? FOREIGN : HIDDEN;
    for (const elementOf of [
      (name: string) => ({ mappingConfig: `${name}-map` }),
      (name: string) => ({ sourceSerialNumber: `${name}-serial`, mappingConfig: `${name}-map` }),
      (name: string) => ({ sourceName: `${name} name`, mappingConfig: `${name}-map` }),
    ]) {
      const rejected = async (name: string) => {
        const { body } = await client().post<{ rejected: unknown }>('/api/data', [
          { ...elementOf(name), data: [reading] },
        ]);
        return JSON.stringify(body.rejected).replaceAll(name, '#');
      };
      expect(await rejected(mark)).toBe(await rejected('NOBODYMARK'));
    }
  });
});

it('identity: counts, lists and totals of a USER include only the granted site and its objects (R-A7, R-B9)', async () => {
  for (const path of ['/sites', '/sources', '/variables']) {
    const { body, headers } = await user.get<readonly unknown[]>(path, { 'x-total-count': 'true' });
    expect([path, body.length, headers.get('x-total-count')]).toEqual([path, 1, '1']);
  }
  const counts = { siteCount: 1, sourceCount: 1, variableCount: 1 };
  expect((await user.get('/account?displayLevel=Verbose')).body).toMatchObject(counts);
});

it('identity: after all tests in this file, every object of another account and of ungranted sites is unchanged (R-A5, R-B9)', async () => {
  await api.ingest();
  expect(await snapshot()).toEqual(before);
});

const reading = { date: '2026-02-02T00:00:00Z', value: 1 };

function webhookFor(filter: object) {
  return { name: 'w', url: 'https://receiver.example/', eventType: 'DataPointsWritten', filter };
}

function reads(variable: string) {
  const input = {
    alias: 'a',
    variableId: Number(variable),
    periodType: 'RelativeDate',
    period: 1,
    periodTimeBase: 'Hour',
  };
  const formula = { formula: 'NULL', variables: [input] };
  return { calculated: { friendlyName: 'x', calculatedVariableFormulas: [formula] } };
}

declare module 'vitest' {
  interface Matchers {
    toBeSuccess(): unknown;
  }
}

expect.extend({
  toBeSuccess: (status: unknown) => ({
    pass: typeof status === 'number' && status < 300,
    message: () => `status ${String(status)}`,
  }),
});
