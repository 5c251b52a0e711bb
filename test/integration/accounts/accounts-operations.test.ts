/**
 * Tests the required role and scope, the header Api-Version and the validation of the body, for every operation of
 * §4.1, §4.2, §4.3 and §4.6 that requires a token. Other files test the effect of each operation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { addPerson, signInPerson } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

type Role = 'ALL USERS' | 'MANAGER' | 'ADMIN';

interface Operation {
  readonly method: string;
  /** `{account}` stands for the id of the account, `{id}` for the id of a user and `{site}` for the id of a site. */
  readonly path: string;
  readonly role: Role;
  readonly answer: 'object' | 'array' | 'empty';
  /** A valid body; undefined when the operation takes no body. */
  readonly body?: unknown;
}

const CLAIM = { userId: '{id}', claimType: 'datapusher.standard', claimValue: 'true' };
const USER = '/account/user/{id}';
const MEMBERS = { accountId: '{account}', userIds: ['{id}'] };

/** The operations, in an order in which each of them succeeds. */
const OPERATIONS: readonly Operation[] = [
  { method: 'GET', path: '/account', role: 'ALL USERS', answer: 'object' },
  { method: 'PUT', path: '/account', role: 'MANAGER', answer: 'object', body: { name: 'North' } },
  { method: 'GET', path: '/account/features', role: 'MANAGER', answer: 'array' },
  { method: 'GET', path: '/account/secondaryAccesses', role: 'MANAGER', answer: 'array' },
  { method: 'GET', path: '/account/user/accounts', role: 'ALL USERS', answer: 'array' },
  { method: 'POST', path: '/account/user/active-account/{account}', role: 'ALL USERS', answer: 'empty' },
  { method: 'GET', path: USER, role: 'MANAGER', answer: 'object' },
  { method: 'POST', path: USER, role: 'MANAGER', answer: 'object', body: { pseudo: 'u' } },
  { method: 'POST', path: `${USER}/claims/add`, role: 'MANAGER', answer: 'object', body: CLAIM },
  { method: 'POST', path: `${USER}/claims/remove`, role: 'MANAGER', answer: 'array', body: [CLAIM] },
  { method: 'GET', path: `${USER}/features`, role: 'MANAGER', answer: 'array' },
  { method: 'POST', path: `${USER}/features`, role: 'MANAGER', answer: 'empty', body: [{ id: 1, level: 'Read' }] },
  { method: 'POST', path: `${USER}/lock`, role: 'MANAGER', answer: 'empty', body: { isLocked: false } },
  { method: 'POST', path: `${USER}/resetpassword`, role: 'MANAGER', answer: 'empty' },
  { method: 'GET', path: `${USER}/secondaryAccesses`, role: 'MANAGER', answer: 'array' },
  {
    method: 'POST',
    path: `${USER}/secondaryAccesses`,
    role: 'MANAGER',
    answer: 'empty',
    body: [{ id: 1, level: 'Read' }],
  },
  {
    method: 'POST',
    path: `${USER}/sites`,
    role: 'MANAGER',
    answer: 'empty',
    body: [{ siteId: '{site}', level: 'Read' }],
  },
  { method: 'DELETE', path: `${USER}/sites`, role: 'MANAGER', answer: 'empty', body: ['{site}'] },
  { method: 'GET', path: '/account/user/claim/{id}', role: 'MANAGER', answer: 'array' },
  { method: 'POST', path: '/account/user/claims/add', role: 'MANAGER', answer: 'empty', body: CLAIM },
  { method: 'PUT', path: '/account/user/claims/edit', role: 'MANAGER', answer: 'empty', body: CLAIM },
  { method: 'DELETE', path: '/account/user/claims/remove', role: 'MANAGER', answer: 'empty', body: [CLAIM] },
  {
    method: 'POST',
    path: '/account/user/create',
    role: 'MANAGER',
    answer: 'empty',
    body: { email: 'new@north.example' },
  },
  { method: 'GET', path: '/account/usermapping', role: 'ALL USERS', answer: 'array' },
  { method: 'GET', path: '/account/usermapping/users', role: 'ALL USERS', answer: 'array' },
  { method: 'POST', path: '/account/users', role: 'ALL USERS', answer: 'object', body: {} },
  { method: 'GET', path: '/account/users', role: 'ALL USERS', answer: 'array' },
  { method: 'GET', path: '/account/users/visibleToMe', role: 'MANAGER', answer: 'array' },
  { method: 'GET', path: '/account/usersForAccount/{account}', role: 'ADMIN', answer: 'array' },
  { method: 'POST', path: '/account/users/account', role: 'MANAGER', answer: 'empty', body: MEMBERS },
  { method: 'DELETE', path: '/account/users/account', role: 'MANAGER', answer: 'empty', body: MEMBERS },
  { method: 'GET', path: '/user/updatePasswordLink', role: 'ALL USERS', answer: 'object' },
];
/** Runs last, because it deletes the user. */
const LAST: Operation = { method: 'DELETE', path: USER, role: 'MANAGER', answer: 'empty' };
const ALL = [...OPERATIONS, LAST];

let api: TestApi;
let clients: Readonly<Record<'user' | 'manager' | 'admin' | 'pusher' | 'nobody', TestClient>>;
let names: ReadonlyMap<string, string | number>;
beforeAll(async () => {
  api = await startTestApi({ API_RATE_PER_MINUTE: '0', TOKEN_RATE_PER_MINUTE: '0' });
  const { siteId } = await createStructure(api.manager);
  const uma = await addPerson(api, 'uma', { email: 'uma@north.example' });
  await addPerson(api, 'ada', { role: 'ADMIN' });
  clients = {
    user: await api.signIn('una', 'USER'),
    manager: api.manager,
    admin: await signInPerson(api, 'ada', api.accountId),
    pusher: await api.signIn('pia', 'MANAGER', { scopes: ['push-data'] }),
    nobody: createTestClient(api.origin),
  };
  names = new Map<string, string | number>([
    ['{id}', uma],
    ['{account}', api.accountId],
    ['{site}', siteId],
  ]);
});
afterAll(() => api.close());

function fill(value: unknown): unknown {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map(fill);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]));
}

const pathOf = ({ path }: Operation) => path.replace(/\{\w+\}/g, (name) => String(names.get(name)));
const send = (client: TestClient, operation: Operation, headers: Readonly<Record<string, string>> = {}) =>
  client.send<{ code?: string }>(operation.method, pathOf(operation), fill(operation.body), { headers });

describe.each(ALL)('accounts: $method $path', (operation) => {
  const title =
    operation.role === 'ALL USERS' ? 'is permitted to a USER (§4)' : `is refused below the role ${operation.role} (§4)`;
  it(title, async () => {
    const { user, manager } = clients;
    const refused = { 'ALL USERS': [], MANAGER: [user], ADMIN: [user, manager] }[operation.role];
    for (const client of refused) {
      expect(await send(client, operation)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    }
    if (operation.role === 'ALL USERS') expect((await send(user, operation)).status).toBe(200);
  });

  it('requires a bearer token with the scope datahub-api (R-A5, R-B6)', async () => {
    const answer = await send(clients.nobody, operation);
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await send(clients.pusher, operation)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  });

  it('refuses Api-Version 1.6, and answers with the header Api-Version 1.7 (§9.1, R-A2)', async () => {
    const answer = await send(clients.admin, operation, { 'api-version': '1.6' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'api_version_unsupported' } });
    expect(answer.headers.get('api-version')).toBe('1.7');
  });
});

describe.each(ALL.filter(({ body }) => body !== undefined))('accounts: the body of $method $path', (operation) => {
  const post = (raw: string, type = 'application/json') =>
    clients.admin.send(operation.method, pathOf(operation), undefined, { raw, headers: { 'content-type': type } });

  it('must be JSON of the declared shape (§2, R-A4, R-A5)', async () => {
    expect(await post('{')).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    expect(await post('', 'application/json')).toMatchObject({ status: 400 });
    for (const raw of ['null', '7', '"x"', Array.isArray(operation.body) ? '{}' : '[]', '[null]']) {
      expect([raw, await post(raw)]).toMatchObject([raw, { status: 400, body: { code: 'invalid_input' } }]);
    }
    const good = JSON.stringify(fill(operation.body));
    expect(await post(good, 'text/plain')).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });
});

it('accounts: every operation of §4.1, §4.2, §4.3 and §4.6 that requires a token answers 200 to a permitted caller, even if the body has the media type application/json-patch+json (§2, §4, R-A6)', async () => {
  for (const operation of ALL) {
    if (operation === LAST) await clients.admin.post('/account/users/account', fill(MEMBERS));
    const client = operation.role === 'ADMIN' ? clients.admin : clients.manager;
    const headers = operation.body === undefined ? {} : { 'content-type': 'application/json-patch+json' };
    const { status, body } = await send(client, operation, headers);
    const answer = body === undefined ? 'empty' : Array.isArray(body) ? 'array' : typeof body;
    expect({ ...operation, status, answer }).toEqual({ ...operation, status: 200 });
  }
});
