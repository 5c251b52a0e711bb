import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listUsersOfAccount, listVisibleUsers } from '../../../src/accounts/listing/list-users.ts';
import { addClaim } from '../../../src/accounts/members/claims.ts';
import type { Queryable } from '../../../src/platform/database/database.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { addPerson, deleteWith, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let user: TestClient;
let admin: TestClient;
beforeAll(async () => {
  api = await startTestApi();
  user = await api.signIn('una', 'USER');
  const { accountId } = api;
  await addPerson(api, 'zoe', { firstName: 'Zoé', lastName: 'Müller', email: 'zm@north.example' });
  await addPerson(api, 'lukasz', { firstName: 'Łukasz', lastName: 'Strauß', email: 'ls@north.example' });
  await addPerson(api, 'percent', { firstName: '100%_sure\\', role: 'MANAGER' });
  await addPerson(api, 'both', { role: 'MANAGER', accountIds: [accountId, api.otherAccountId] });
  await addPerson(api, 'foreign', { accountIds: [api.otherAccountId], firstName: 'Zoé' });
  await addPerson(api, 'ada', { role: 'ADMIN', accountIds: [] });
  admin = await signInPerson(api, 'ada', accountId);
  const zoe = await userIdOf(api, 'zoe');
  await api.database.query(`update app_user set pseudo = 'Zouzou', business_id = 'B-1' where id = $1`, [zoe]);
  await addClaim(api.database, { accountId, userId: zoe, claimType: 'team', claimValue: 'red' });
  await addClaim(api.database, { accountId, userId: zoe, claimType: 'site', claimValue: 'x' });
  const both = await userIdOf(api, 'both');
  await addClaim(api.database, { accountId: api.otherAccountId, userId: both, claimType: 'team', claimValue: 'red' });
});
afterAll(() => api.close());

type Listed = Readonly<Record<string, unknown>>;
const EVERYBODY = ['both', 'lukasz', 'max', 'percent', 'una', 'zoe'];

async function callerOf({ token }: TestClient) {
  const { verifier, callers } = api.parts.authentication;
  return callers(await verifier(token ?? ''));
}

async function find(query: string, client = api.manager): Promise<readonly unknown[]> {
  const { status, body } = await client.get<readonly Listed[]>(`/account/users${query}`);
  expect(status).toBe(200);
  return body.map(({ userName }) => userName);
}

describe('accounts: GET /account/users', () => {
  it('returns the users of the account, sorted by name, when a MANAGER or a USER asks (§4.3)', async () => {
    expect(await find('')).toEqual(EVERYBODY);
    expect(await find('', user)).toEqual(EVERYBODY);
    expect((await user.get<readonly Listed[]>('/user/users')).body).toHaveLength(EVERYBODY.length);
  });

  it('each user is a UserInfoLight at `displayLevel` Light and a UserLight at Normal; Verbose adds fields for a manager, but not for a USER (R-C2)', async () => {
    const first = async (client: TestClient, level: string) => {
      const path = `/account/users?SearchText=zouzou&DisplayLevel=${level}`;
      return (await client.get<readonly Listed[]>(path)).body[0];
    };
    const light = {
      id: await userIdOf(api, 'zoe'),
      userName: 'zoe',
      pseudo: 'Zouzou',
      firstName: 'Zoé',
      lastName: 'Müller',
    };
    const normal = { ...light, email: 'zm@north.example', roles: [{ id: 'USER', name: 'USER' }], businessId: 'B-1' };
    expect(await first(user, 'light')).toEqual(light);
    expect(await first(user, 'Normal')).toEqual(normal);
    expect(await first(user, 'Verbose')).toEqual(normal);
    expect(await first(api.manager, 'Verbose')).toMatchObject({
      ...light,
      claims: [{}, {}],
      isLocked: false,
      sites: [],
    });
  });

  it.each([
    ['zoe', ['zoe']],
    ['ZOÉ', ['zoe']],
    ['zoe\u0301', ['zoe']],
    ['muller zoe', ['zoe']],
    ['ouzo', ['zoe']],
    ['NORTH.example', ['lukasz', 'zoe']],
    ['lukasz strauss', ['lukasz']],
    ['100%', ['percent']],
    ['0%_', ['percent']],
    ['sure\\', ['percent']],
    ['_', ['percent']],
    ['una', []],
    ['nobody', []],
    [' ', EVERYBODY],
  ])(
    'SearchText %j is compared with `pseudo`, the names and the email address of each user, ignoring case and accents (§4.3)',
    async (text, found) => {
      expect(await find(`?SearchText=${encodeURIComponent(text)}`)).toEqual(found);
    },
  );

  it('a search by SearchText uses an index in an account of 20,000 users (§4.3)', async () => {
    const client = await api.database.connect();
    try {
      await client.query('begin');
      await client.query(
        `with made as (insert into app_user (user_name, first_name, email)
                       select 'many-' || i, md5(i::text), i || '@many.example' from generate_series(1, 20000) i returning id)
         insert into account_member (account_id, user_id) select $1, id from made`,
        [api.accountId],
      );
      await client.query('analyze app_user, account_member');
      const plans: string[] = [];
      const explaining = {
        query: async (sql: string, values: unknown[]) => {
          const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, values);
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
          return { rows: [] };
        },
      } as unknown as Queryable;
      const caller = await callerOf(api.manager);
      const scope = { caller, accountId: api.accountId };
      const filters = [{ searchText: 'zouzou zoé' }];
      const selection = { scope, level: 'Normal', filters } as const;
      for (const listing of [listUsersOfAccount(selection), listVisibleUsers(selection, [])]) {
        await explaining.query(`${listing.keys} limit 20`, [...listing.values]);
        await listing.count(explaining);
      }
      expect(plans).toHaveLength(4);
      for (const plan of plans) expect(plan).toContain('app_user_search_text_idx');
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it.each([
    ['Claims[0].ClaimType=team', ['zoe']],
    ['Claims[0].ClaimType=team&Claims[0].ClaimValue=red', ['zoe']],
    ['Claims[0].ClaimType=team&Claims[0].ClaimValue=blue', []],
    ['filter.claims[1].claimvalue=x&Claims[0].ClaimType=team&claims[1].claimType=site', ['zoe']],
    ['Claims[0].ClaimType=team&Claims[1].ClaimType=nothing', []],
    ['Roles=manager', ['both', 'max', 'percent']],
    ['Roles=MANAGER&Roles=USER&SearchText=north', ['lukasz', 'zoe']],
    ['Roles=nobody', []],
    ['BusinessKeys.Name=BusinessId&BusinessKeys.Values=B-1&BusinessKeys.Values=B-2', ['zoe']],
    ['BusinessKeys.Name=username&BusinessKeys.Values=ZOE&BusinessKeys.Values=max', ['max', 'zoe']],
    ['BusinessKeys.Name=Username&BusinessKeys.Values[0]=foreign', []],
    ['BusinessKeys.Name=1&BusinessKeys.Values[0]=zoe&BusinessKeys.Values[1]=max', ['max', 'zoe']],
    ['Roles[0]=MANAGER&SearchText=sure', ['percent']],
  ])('the query %s returns exactly the matching users (§4.3)', async (query, found) => {
    expect(await find(`?${query}`)).toEqual(found);
  });

  it('the parameter `BusinessKeys` can select users by id, but no user of another account (§4.3)', async () => {
    const ids = [await userIdOf(api, 'zoe'), await userIdOf(api, 'foreign')];
    expect(await find(`?BusinessKeys.Name=Id&${ids.map((id) => `BusinessKeys.Values=${id}`).join('&')}`)).toEqual([
      'zoe',
    ]);
  });

  it.each([
    'DisplayLevel=x',
    'Paging.PageNumber=-1',
    'Paging.ItemsPerPage=0',
    'BusinessKeys.Name=x&BusinessKeys.Values=y',
    'BusinessKeys.Values=y',
    'Claims[0].ClaimValue=y',
    'AccountId=x',
    'SearchText=<255 characters>',
    'SearchText=%00',
  ])('the invalid query %s gets 400 (§4.3, §8)', async (query) => {
    const sent = query.replace('<255 characters>', 'x'.repeat(255));
    expect(await api.manager.get(`/account/users?${sent}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    });
  });

  it('the error for an invalid claim names the index of the claim in the query (R-A5)', async () => {
    const { body } = await api.manager.get('/account/users?Claims[1].ClaimType=team&Claims[5].ClaimValue=y');
    expect(body).toMatchObject({ code: 'invalid_input', details: [{ path: 'query.claims[5].claimType' }] });
  });

  it('returns pages, and the total on request (§4.3, R-A7)', async () => {
    const { body, headers } = await user.get<readonly Listed[]>(
      '/account/users?Paging.PageNumber=1&Paging.ItemsPerPage=2&DisplayLevel=Light',
      { 'x-total-count': 'true' },
    );
    expect(body.map(({ userName }) => userName)).toEqual(EVERYBODY.slice(2, 4));
    expect(headers.get('x-total-count')).toBe('6');
    expect(await find('?Paging.PageNumber=9&Paging.ItemsPerPage=2')).toEqual([]);
    expect(await find('?Paging.PageNumber=1'), 'page 0 already contains all users').toEqual([]);
  });

  it('`displayLevel` accepts a level by name or by number, 0 to 2 (R-A3, R-C2)', async () => {
    for (const [number, level] of ['Light', 'Normal', 'Verbose'].entries()) {
      const byName = (await api.manager.get(`/account/users?DisplayLevel=${level}`)).body;
      expect((await api.manager.get(`/account/users?DisplayLevel=${number}`)).body).toEqual(byName);
      const { body } = await api.manager.post<{ users: unknown }>('/account/users', { displayLevel: number });
      expect(body.users).toEqual(byName);
    }
  });

  it('the parameter `AccountId` requires the role ADMIN (§4.3, §5)', async () => {
    expect(await find(`?AccountId=${api.otherAccountId}`, admin)).toEqual(['both', 'foreign', 'sam']);
    expect((await admin.get('/account/users?AccountId=999999')).status).toBe(404);
    for (const id of [api.accountId, api.otherAccountId]) {
      expect((await api.manager.get(`/account/users?AccountId=${id}`)).status).toBe(403);
    }
  });
});

describe('accounts: saved views', () => {
  const filter = { searchText: 'north', claims: [{ claimType: 'team' }] };
  const create = async (client: TestClient) =>
    (await client.post<{ id: string }>('/account/users/views', { name: 'Red', filter })).body.id;

  it('apply in addition to the filters of the request (§4.3)', async () => {
    const id = await create(user);
    expect(await find(`?ViewId=${id}`)).toEqual(['zoe']);
    expect(await find(`?ViewId=${id}&SearchText=lukasz`)).toEqual([]);
    expect((await user.get(`/account/users/views/${id}`)).body).toMatchObject({ id, name: 'Red', filter });
    expect((await user.get<readonly Listed[]>('/account/users/views')).body).toHaveLength(1);
  });

  it('a request for a view that is unknown or belongs to another account gets 404 (§4.3, R-A5)', async () => {
    const theirs = await create(api.stranger);
    for (const id of ['nope', theirs]) {
      expect((await api.manager.get(`/account/users?ViewId=${id}`)).status).toBe(404);
      expect((await api.manager.post('/account/users', { viewId: id })).status).toBe(404);
      expect((await api.manager.get(`/account/users/visibleToMe?ViewId=${id}`)).status).toBe(404);
      expect((await api.manager.get(`/account/users/views/${id}`)).status).toBe(404);
      expect((await api.manager.put(`/account/users/views/${id}`, { name: 'x', filter })).status).toBe(404);
      expect((await api.manager.delete(`/account/users/views/${id}`)).status).toBe(404);
    }
  });

  it('can be changed and deleted only by their owner or by a manager (§4.3)', async () => {
    const id = await create(user);
    const path = `/account/users/views/${id}`;
    const other = await signInPerson(api, 'lukasz');
    expect((await other.put(path, { name: 'Mine', filter })).status).toBe(403);
    expect((await other.delete(path)).status).toBe(403);
    expect(await user.put(path, { name: 'Mine', filter })).toMatchObject({ status: 200, body: { name: 'Mine' } });
    const saved = await api.manager.put(path, { name: 'Blue', filter: { roles: ['MANAGER'] } });
    expect(saved).toMatchObject({ status: 200, body: { name: 'Blue', filter: { roles: ['MANAGER'] } } });
    expect(await find(`?ViewId=${id}`)).toEqual(['both', 'max', 'percent']);
    expect((await api.manager.delete(path)).status).toBe(200);
    expect((await api.manager.get(path)).status).toBe(404);
    expect((await user.delete(`/account/users/views/${await create(user)}`)).status).toBe(200);
  });

  it('require a name and a valid filter (R-A5)', async () => {
    for (const body of [{ filter }, { name: '', filter }, { name: 'x', filter: { claims: [{}] } }, { name: 'x' }]) {
      expect((await user.post('/account/users/views', body)).status).toBe(400);
    }
  });
});

describe('accounts: POST /account/users', () => {
  it('returns the same users as GET, and in addition their total count (§4.3, R-C3)', async () => {
    const { status, body, headers } = await user.post('/account/users', {
      DisplayLevel: 'light',
      searchText: 'NORTH',
      paging: { pageNumber: 1, itemsPerPage: 1 },
      roles: ['USER'],
    });
    expect(status).toBe(200);
    expect(headers.get('deprecation')).toBe('true');
    const query = '?DisplayLevel=light&SearchText=NORTH&Paging.PageNumber=1&Paging.ItemsPerPage=1&Roles=USER';
    const users = (await user.get(`/account/users${query}`)).body;
    expect(body).toEqual({ users, totalCount: 2, pageNumber: 1, itemsPerPage: 1 });
    const businessKeys = { name: 'BusinessId', values: ['B-1'] };
    const claims = [{ claimType: 'team', claimValue: 'red' }];
    const narrowed = await user.post('/account/users', { businessKeys, claims });
    expect(narrowed.body).toMatchObject({ totalCount: 1, pageNumber: 0, users: [{ userName: 'zoe' }] });
  });

  it('accepts page numbers as numbers or text; a page after the last is empty (§8, R-A3)', async () => {
    const paging = { pageNumber: '0', itemsPerPage: '1' };
    expect((await user.post('/account/users', { paging })).body).toMatchObject({ pageNumber: 0, itemsPerPage: 1 });
    const far = { pageNumber: 2 ** 31 - 1, itemsPerPage: 2 ** 31 - 1 };
    expect(await user.post('/account/users', far)).toMatchObject({ status: 200, body: { users: [] } });
    expect((await user.post('/account/users', { pageNumber: 2 ** 53 - 1, itemsPerPage: 100_000 })).status).toBe(400);
  });

  it('refuses accountId from a USER, and invalid values of displayLevel, paging and businessKeys (§4.3)', async () => {
    expect((await user.post('/account/users', { accountId: api.accountId })).status).toBe(403);
    for (const body of [{ displayLevel: 'x' }, { paging: { itemsPerPage: 0 } }, { businessKeys: { values: ['x'] } }]) {
      expect((await user.post('/account/users', body)).status).toBe(400);
    }
  });
});

describe('accounts: GET /account/usermapping', () => {
  it.each(['/account/usermapping', '/account/usermapping/users'])(
    '%s returns a UserInfoLight of each user, in pages, and ignores the parameters `displayLevel` and `name` (§4.3, R-A3)',
    async (path) => {
      const { body } = await user.get<readonly Listed[]>(path);
      expect(body.map(({ userName }) => userName)).toEqual(EVERYBODY);
      for (const item of body) expect(Object.keys(item)).toEqual(['id', 'userName', 'pseudo', 'firstName', 'lastName']);
      const others = await user.get<readonly Listed[]>(`${path}?displayLevel=Full&name=x&PageNumber=1&ItemsPerPage=4`);
      expect(others.body).toEqual(body.slice(4));
    },
  );
});

describe('accounts: GET /account/users/visibleToMe', () => {
  const visible = async (client: TestClient, query = '') =>
    (await client.get<readonly Listed[]>(`/account/users/visibleToMe${query}`)).body;

  it('lists the users of all accounts of the caller; in the answer, the accountIds of a user are the accounts that the user shares with the caller (§4.3, R-C2)', async () => {
    const both = await signInPerson(api, 'both');
    const listed = await visible(both);
    expect(listed.map(({ userName }) => userName)).toEqual([
      'both',
      'foreign',
      'lukasz',
      'max',
      'percent',
      'sam',
      'una',
      'zoe',
    ]);
    expect(listed[0]).toMatchObject({ accountIds: [api.accountId, api.otherAccountId] });
    const mine = await visible(api.manager);
    expect(mine.map(({ userName }) => userName)).toEqual(EVERYBODY);
    expect(mine[0]).toMatchObject({ userName: 'both', accountIds: [api.accountId] });
  });

  it('AccountIds limits the list to users of these accounts; an account that the caller cannot access adds no user (§4.3, R-A5)', async () => {
    const both = await signInPerson(api, 'both');
    const there = await visible(both, `?AccountIds=${api.otherAccountId}&SearchText=zoe`);
    expect(there.map(({ userName }) => userName)).toEqual(['foreign']);
    expect(await visible(api.manager, `?AccountIds=${api.otherAccountId}`)).toEqual([]);
    expect(await visible(both, `?AccountIds[0]=${api.otherAccountId}&SearchText=zoe`)).toEqual(there);
    expect((await api.manager.get('/account/users/visibleToMe?AccountIds=x')).status).toBe(400);
  });

  it('requires the role MANAGER (§4.3)', async () => {
    expect((await user.get('/account/users/visibleToMe')).status).toBe(403);
  });
});

describe('accounts: GET /account/usersForAccount/{id}', () => {
  it('returns the users of any account and the claims of each user; only an ADMIN may call it (§4.3)', async () => {
    const { status, body } = await admin.get<readonly Listed[]>(`/account/usersForAccount/${api.otherAccountId}`);
    expect(status).toBe(200);
    expect(body.map(({ userName }) => userName)).toEqual(['both', 'foreign', 'sam']);
    expect(body[0]).toMatchObject({ claims: [{ claimType: 'team', claimValue: 'red' }] });
    for (const client of [user, api.manager]) {
      expect((await client.get(`/account/usersForAccount/${api.accountId}`)).status).toBe(403);
    }
    for (const id of ['999999', 'x']) expect((await admin.get(`/account/usersForAccount/${id}`)).status).toBe(404);
  });
});

describe('accounts: /account/users/account', () => {
  const path = '/account/users/account';

  it('a manager of two accounts can add a user of one account to the other (§4.3, R-C3)', async () => {
    const both = await signInPerson(api, 'both');
    const zoe = await userIdOf(api, 'zoe');
    const body = { accountId: api.otherAccountId, userIds: [zoe] };
    expect(await both.post(path, body)).toMatchObject({ status: 200, body: undefined });
    expect(await find('', api.stranger)).toEqual(['both', 'foreign', 'sam', 'zoe']);
    expect((await both.post(path, body)).status).toBe(200);
    expect((await deleteWith(both, path, body)).status).toBe(200);
    expect(await find('', api.stranger)).toEqual(['both', 'foreign', 'sam']);
    const { body: trail } = await api.stranger.get(`/account/audit?targetId=${zoe}`);
    expect(trail).toMatchObject([
      { action: 'UserRemovedFromAccount' },
      { action: 'UserAddedToAccount', targetId: zoe },
    ]);
  });

  it('removing a user from an account removes the user’s claims in this account, but keeps those in other accounts (R-C3)', async () => {
    const gone = await addPerson(api, 'gone', { accountIds: [api.accountId, api.otherAccountId] });
    const claim = { userId: gone, claimType: 'team', claimValue: 'red' };
    for (const accountId of [api.accountId, api.otherAccountId]) await addClaim(api.database, { ...claim, accountId });
    const body = { accountId: api.accountId, userIds: [gone] };
    const token = await signInPerson(api, 'gone', api.accountId);
    expect((await deleteWith(api.manager, path, body)).status).toBe(200);
    expect((await token.get('/account')).status).toBe(403);
    const { rows } = await api.database.query('select account_id from user_claim where user_id = $1', [gone]);
    expect(rows).toEqual([{ account_id: api.otherAccountId }]);
    await deleteWith(admin, path, { ...body, accountId: api.otherAccountId });
  });

  it('a request that names an account or user outside the manager’s accounts gets 404 and changes nothing (R-A5, R-B8)', async () => {
    const [zoe, foreign] = [await userIdOf(api, 'zoe'), await userIdOf(api, 'foreign')];
    for (const body of [
      { accountId: api.otherAccountId, userIds: [zoe] },
      { accountId: 999_999, userIds: [zoe] },
      { accountId: api.accountId, userIds: [zoe, foreign] },
    ]) {
      expect((await api.manager.post(path, body)).status).toBe(404);
      expect((await deleteWith(api.manager, path, body)).status).toBe(404);
    }
    expect(await find('')).toEqual(EVERYBODY);
    expect(await find('', api.stranger)).toEqual(['both', 'foreign', 'sam']);
  });

  it('a manager cannot add a user who also belongs to an account outside the manager’s accounts, but can remove this user (R-B8)', async () => {
    const shared = await addPerson(api, 'shared', { accountIds: [api.accountId, api.otherAccountId] });
    const body = { accountId: api.accountId, userIds: [shared] };
    expect(await api.manager.post(path, body)).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(`^user ${shared}: the user also belongs to accounts`) },
    });
    expect((await deleteWith(api.manager, path, body)).status).toBe(200);
    expect(await find('', api.stranger)).toContain('shared');
  });

  it('a manager cannot remove an ADMIN; the error contains the id of the ADMIN (R-B8, R-A5)', async () => {
    const root = await addPerson(api, 'root', { role: 'ADMIN' });
    const moe = await addPerson(api, 'moe');
    const body = { accountId: api.accountId, userIds: [moe, root] };
    expect(await deleteWith(api.manager, path, body)).toMatchObject({
      status: 403,
      body: { message: `user ${root}: only an ADMIN may remove an ADMIN from an account` },
    });
    expect((await deleteWith(admin, path, body)).status).toBe(200);
  });

  it('requires a manager and a valid body, and refuses to remove the caller (§4.3, R-A5)', async () => {
    const max = { accountId: api.accountId, userIds: [await userIdOf(api, 'max')] };
    expect((await user.post(path, max)).status).toBe(403);
    expect((await deleteWith(user, path, max)).status).toBe(403);
    expect((await deleteWith(api.manager, path, max)).status).toBe(409);
    for (const body of [{ userIds: ['x'] }, { accountId: 1 }, { accountId: 1, userIds: [] }]) {
      expect((await api.manager.post(path, body)).status).toBe(400);
      expect((await deleteWith(api.manager, path, body)).status).toBe(400);
    }
  });
});
