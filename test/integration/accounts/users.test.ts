import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/clients/test-client.ts';
import { type Mailbox, openMailbox } from '../../support/doubles/mailbox.ts';
import { addPerson, deleteWith, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { createSite } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let mailbox: Mailbox;
let user: TestClient;
let admin: TestClient;
let uma: string;
let shared: string;
let foreign: string;
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url });
  user = await api.signIn('una', 'USER');
  uma = await addPerson(api, 'uma', { email: 'uma@north.example', firstName: 'Uma', lastName: 'Unger' });
  shared = await addPerson(api, 'shared', { accountIds: [api.accountId, api.otherAccountId] });
  foreign = await addPerson(api, 'foreign', { accountIds: [api.otherAccountId] });
  await addPerson(api, 'ada', { role: 'ADMIN', accountIds: [api.accountId] });
  admin = await signInPerson(api, 'ada');
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

type Body = Readonly<Record<string, unknown>>;
const read = async (id: string) => (await api.manager.get<Body>(`/account/user/${id}`)).body;

describe('accounts: GET /account/user/{userId}', () => {
  it('returns every JSON field of the user (§4.2, R-C2)', async () => {
    expect(await read(uma)).toEqual({
      id: uma,
      userName: 'uma',
      pseudo: null,
      firstName: 'Uma',
      lastName: 'Unger',
      email: 'uma@north.example',
      phoneNumber: null,
      language: 'en',
      roles: [{ id: 'USER', name: 'USER' }],
      claims: [],
      features: expect.arrayContaining([{ id: 1, name: 'Structure', level: 'None' }]),
      secondaryAccesses: expect.arrayContaining([{ id: 1, name: 'Api', level: 'None' }]),
      sites: [],
      businessKeys: { id: uma, username: 'uma', businessId: null },
      isLocked: false,
      lockedUntil: null,
      accounts: [{ id: api.accountId, name: 'North' }],
      createdDate: expect.stringMatching(/Z$/),
      lastLoginDate: null,
    });
  });

  it('omits accounts the caller may not use (R-A5)', async () => {
    expect((await read(shared)).accounts).toEqual([{ id: api.accountId, name: 'North' }]);
    const { body } = await admin.get<Body>(`/account/user/${shared}`);
    expect(body.accounts).toHaveLength(2);
  });
});

/** An operation on one user. `path` is the rest of the path after the user's id; `body` is a valid body. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}
const OPERATIONS: readonly Operation[] = [
  { method: 'GET', path: '' },
  { method: 'POST', path: '', body: { firstName: 'X' } },
  { method: 'DELETE', path: '' },
  { method: 'POST', path: '/claims/add', body: { claimType: 'datapusher.standard' } },
  { method: 'POST', path: '/claims/remove', body: [{ claimType: 'datapusher.standard' }] },
  { method: 'GET', path: '/features' },
  { method: 'POST', path: '/features', body: [{ id: 1, level: 'Read' }] },
  { method: 'POST', path: '/lock', body: { isLocked: true } },
  { method: 'POST', path: '/resetpassword' },
  { method: 'GET', path: '/secondaryAccesses' },
  { method: 'POST', path: '/secondaryAccesses', body: [{ id: 1, level: 'Read' }] },
  { method: 'POST', path: '/sites', body: [] },
  { method: 'DELETE', path: '/sites', body: [] },
];

describe.each(OPERATIONS)('accounts: $method /account/user/{userId}$path', ({ method, path, body }) => {
  const send = (client: TestClient, userId: string) => client.send(method, `/account/user/${userId}${path}`, body);

  it('requires the role MANAGER (§4.2, R-B8)', async () => {
    expect(await send(user, uma)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  });

  it('answers 404 for an unknown user, and for a user who shares no account with the caller (R-A5)', async () => {
    for (const id of [foreign, 'nobody', '%00']) {
      expect(await send(api.manager, id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it(`answers ${method === 'GET' ? 200 : 403} for a user of two accounts, only one of which the caller manages (R-B8)`, async () => {
    const { status } = await send(api.manager, shared);
    expect(status).toBe(method === 'GET' ? 200 : 403);
  });
});

it.each(OPERATIONS.filter(({ body }) => body !== undefined))(
  'accounts: $method /account/user/{userId}$path with an invalid body gets 400 (R-A5)',
  async ({ method, path }) => {
    for (const wrong of ['x', 7]) {
      const answer = await api.manager.send(method, `/account/user/${uma}${path}`, wrong);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    }
  },
);

it('accounts: only an ADMIN may change an ADMIN (R-B8)', async () => {
  const ada = await userIdOf(api, 'ada');
  expect((await api.manager.post(`/account/user/${ada}`, { firstName: 'X' })).status).toBe(403);
  expect((await admin.post(`/account/user/${ada}`, { firstName: 'Ada' })).status).toBe(200);
});

describe('accounts: POST /account/user/{userId}', () => {
  it('accepts the body that GET returned, and leaves the user unchanged (R-C2)', async () => {
    const site = await createSite(api.manager);
    await api.manager.post(`/account/user/${uma}`, {
      pseudo: 'umi',
      phoneNumber: '+32 2',
      language: 'nl',
      claims: [{ id: 0, userId: 'other', claimType: 'team', claimValue: 'blue' }],
      features: [{ id: 1, level: 'Write' }],
      secondaryAccesses: [{ name: 'export', level: 'read' }],
      sites: [{ siteId: site, level: 'Write' }],
      businessKeys: { businessId: 'B-7' },
    });
    const whole = await read(uma);
    expect(whole).toMatchObject({
      ...{ pseudo: 'umi', phoneNumber: '+32 2', language: 'nl', firstName: 'Uma' },
      claims: [{ id: 0, userId: uma, claimType: 'team', claimValue: 'blue' }],
      sites: [{ siteId: site, level: 'Write' }],
      businessKeys: { businessId: 'B-7' },
    });
    expect(await api.manager.post(`/account/user/${uma}`, whole)).toMatchObject({ status: 200, body: whole });
    expect(await read(uma)).toEqual(whole);
  });

  it('an absent member keeps its value, null clears `pseudo`, and read-only members are ignored (R-C2)', async () => {
    const saved = await api.manager.post<Body>(`/account/user/${uma}`, { PSEUDO: null, isLocked: true, id: 'x' });
    expect(saved.body).toMatchObject({ id: uma, pseudo: null, isLocked: false, phoneNumber: '+32 2' });
    expect(saved.body.claims).toHaveLength(1);
  });

  it('a manager may grant the role MANAGER but not the role ADMIN (R-B8, §5)', async () => {
    const roleOf = async (roles: unknown) =>
      (await api.manager.post<Body>(`/account/user/${uma}`, { roles })).body.roles;
    expect(await roleOf(['manager'])).toEqual([{ id: 'MANAGER', name: 'MANAGER' }]);
    expect(await roleOf([{ id: 'USER', name: 'USER' }])).toEqual([{ id: 'USER', name: 'USER' }]);
    expect((await api.manager.post(`/account/user/${uma}`, { roles: ['ADMIN'] })).status).toBe(403);
  });

  it('refuses to change the caller’s own role (R-B8)', async () => {
    const max = await userIdOf(api, 'max');
    expect((await api.manager.post(`/account/user/${max}`, { roles: ['USER'] })).status).toBe(409);
    expect((await api.manager.post(`/account/user/${max}`, { roles: ['MANAGER'], firstName: 'Max' })).status).toBe(200);
  });

  it.each([
    [{ email: 'nobody' }, '$.email'],
    [{ email: 'a@x.example,b@x.example' }, '$.email'],
    [{ userName: ' ' }, '$.userName'],
    [{ userName: 'two\r\nlines' }, '$.userName'],
    [{ language: 'klingon' }, '$.language'],
    [{ roles: ['KING'] }, '$.roles[0]'],
    [{ claims: [{ claimType: '' }] }, '$.claims[0].claimType'],
    [{ features: [{ id: 99, level: 'Read' }] }, '$.features[0]'],
    [{ sites: [{ siteId: 999_999, level: 'Read' }] }, '$.sites[0].siteId'],
    [{ sites: [{ siteId: 1, level: 'Read', sourceIds: ['x'] }] }, '$.sites[0].sourceIds[0]'],
    [{ firstName: 'null\0' }, '$.firstName'],
  ])('the invalid body %j gets 400 and changes nothing (R-A5)', async (body, path) => {
    const before = await read(uma);
    const answer = await api.manager.post(`/account/user/${uma}`, { pseudo: 'half', ...body });
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(await read(uma)).toEqual(before);
  });

  it('a user name that differs from an existing user name only in case gets 409 (R-A5)', async () => {
    expect(await api.manager.post(`/account/user/${uma}`, { userName: 'FOREIGN' })).toMatchObject({
      status: 409,
      body: { message: 'userName must be unique across all accounts, ignoring letter case; "FOREIGN" is taken' },
    });
  });

  it('a POST to the subpath /sites gets the same error for a site of another account as for an unknown site (R-B9)', async () => {
    const theirs = await createSite(api.stranger);
    for (const id of [theirs, 999_999]) {
      const answer = await api.manager.post<Body>(`/account/user/${uma}/sites`, [{ siteId: id, level: 'Read' }]);
      expect(answer).toMatchObject({ status: 400, body: { message: `$[0].siteId site ${id} does not exist` } });
    }
  });
});

describe('accounts: features, secondary accesses and sites', () => {
  it.each([
    ['features', 'Structure'],
    ['secondaryAccesses', 'Api'],
  ])(
    '%s: entries absent from the body keep their level, and an entry sent with level `None` loses its level (§4.2, R-C3)',
    async (part, name) => {
      const path = `/account/user/${uma}/${part}`;
      const levelsOf = async () => (await api.manager.get<readonly Body[]>(path)).body.map(({ level }) => level);
      expect(await api.manager.post(path, [{ id: 2, level: 'Admin' }])).toMatchObject({ status: 200, body: undefined });
      await api.manager.post(path, [{ name, level: 'Write' }]);
      expect((await levelsOf()).slice(0, 2)).toEqual(['Write', 'Admin']);
      await api.manager.post(path, [{ id: 2, level: 'None' }]);
      expect((await levelsOf()).slice(0, 2)).toEqual(['Write', 'None']);
    },
  );

  it('a user’s level for a feature is at most the account’s level (§4.1)', async () => {
    await api.database.query(`insert into account_feature values ($1, 'Feature', 5, 'Read')`, [api.accountId]);
    const path = `/account/user/${uma}/features`;
    expect((await api.manager.post(path, [{ id: 5, level: 'Write' }])).status).toBe(400);
    expect((await api.manager.post(path, [{ id: 5, level: 'Read' }])).status).toBe(200);
  });

  it('reads show the account’s level after the operator lowered it below the user’s level, so the answer can be sent back (§4.1, R-C3)', async () => {
    const path = `/account/user/${uma}/features`;
    expect((await api.manager.post(path, [{ id: 4, level: 'Admin' }])).status).toBe(200);
    await api.database.query(`insert into account_feature values ($1, 'Feature', 4, 'Write')`, [api.accountId]);
    const expected = expect.arrayContaining([expect.objectContaining({ id: 4, level: 'Write' })]);
    const { body } = await api.manager.get<readonly Body[]>(path);
    expect(body).toEqual(expected);
    expect((await api.manager.get<Body>(`/account/user/${uma}`)).body.features).toEqual(expected);
    expect((await api.manager.post(path, body)).status).toBe(200);
  });

  it('when an entry names an unknown feature or no feature, the error lists the existing features and states what was received (R-A5)', async () => {
    const path = `/account/user/${uma}/features`;
    for (const [feature, got] of [
      [{ id: 99 }, '99'],
      [{ name: 'Nothing' }, '"Nothing"'],
      [{}, 'nothing'],
    ] as const) {
      const { body } = await api.manager.post<Body>(path, [{ ...feature, level: 'Read' }]);
      expect(body.message).toMatch(new RegExp(`^\\$\\[0\\] must name one of Structure, .*, got ${got}$`));
    }
  });

  it('a USER sees a site only while access to it is granted (§4.2, R-B9)', async () => {
    const siteId = await createSite(api.manager);
    const una = await userIdOf(api, 'una');
    const statusOf = async () => (await user.get(`/sites/${siteId}`)).status;
    expect(await statusOf()).toBe(404);
    expect((await api.manager.post(`/account/user/${una}/sites`, [{ siteId, level: 'Read' }])).body).toBeUndefined();
    expect(await statusOf()).toBe(200);
    expect((await deleteWith(api.manager, `/account/user/${una}/sites`, [siteId])).status).toBe(200);
    expect(await statusOf()).toBe(404);
  });
});

describe('accounts: claims', () => {
  const claim = { id: 0, claimType: 'datapusher.standard', claimValue: 'true' };
  const listed = async (id: string) => (await api.manager.get(`/account/user/claim/${id}`)).body;

  it('POST /account/user/{userId}/claims/add and /remove return the added or removed data pusher claims, and answer 400 for claims of other types (§4.2, R-C3)', async () => {
    const path = `/account/user/${uma}/claims`;
    const added = await api.manager.post(`${path}/add`, { claimType: 'datapusher.standard' });
    expect(added).toMatchObject({ status: 200, body: { ...claim, userId: uma } });
    const removed = await api.manager.post(`${path}/remove`, [claim, { claimType: 'datapusher.custom' }]);
    expect(removed.body).toEqual([{ ...claim, userId: uma }]);
    expect((await api.manager.post(`${path}/add`, { claimType: 'team' })).status).toBe(400);
    expect((await api.manager.post(`${path}/remove`, [{ claimType: 'team' }])).status).toBe(400);
  });

  it('/account/user/claims/add, /edit and /remove also accept types that do not begin with `datapusher.`; /edit and /remove find the claim by its type (§4.2, §5)', async () => {
    const body = { userId: uma, claimType: 'team', claimValue: 'red' };
    expect(await api.manager.post('/account/user/claims/add', body)).toMatchObject({ status: 200, body: undefined });
    expect(await listed(uma)).toEqual([{ id: 0, ...body }]);
    expect((await api.manager.put('/account/user/claims/edit', { ...body, claimValue: 'green' })).status).toBe(200);
    expect(await listed(uma)).toEqual([{ id: 0, ...body, claimValue: 'green' }]);
    expect((await deleteWith(api.manager, '/account/user/claims/remove', [body])).status).toBe(200);
    expect(await listed(uma)).toEqual([]);
    expect((await api.manager.put('/account/user/claims/edit', body)).status).toBe(404);
  });

  it("a MANAGER cannot change a user's claims unless the MANAGER belongs to all accounts of that user (§4.2, R-B8)", async () => {
    for (const [client, userId, status] of [
      [user, uma, 403],
      [api.manager, foreign, 404],
      [api.manager, shared, 403],
      [api.manager, '', 400],
    ] as const) {
      const body = { userId, claimType: 'team', claimValue: 'red' };
      expect((await client.post('/account/user/claims/add', body)).status).toBe(status);
      expect((await client.put('/account/user/claims/edit', body)).status).toBe(status);
      expect((await deleteWith(client, '/account/user/claims/remove', [body])).status).toBe(status);
    }
    const theirs = { userId: foreign, claimType: 'team', claimValue: 'red' };
    expect(await admin.post('/account/user/claims/add', theirs)).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/ is not a member of account \d+, and only members can have /) },
    });
    expect((await user.get(`/account/user/claim/${uma}`)).status).toBe(403);
    expect((await api.manager.get(`/account/user/claim/${foreign}`)).status).toBe(404);
  });

  it('removing claims of several users removes none when one user belongs to another account (§4.2)', async () => {
    await api.manager.post('/account/user/claims/add', { userId: uma, claimType: 'a', claimValue: 'b' });
    const body = [
      { userId: uma, claimType: 'a' },
      { userId: foreign, claimType: 'a' },
    ];
    expect((await deleteWith(api.manager, '/account/user/claims/remove', body)).status).toBe(404);
    expect(await listed(uma)).toHaveLength(1);
  });

  it('adding the claim datapusher.standard permits pushes, and removing the claim ends the permission (R-B8)', async () => {
    const pusher = await api.signIn('pushes', 'USER', { mayPush: false });
    const id = await userIdOf(api, 'pushes');
    const statusOf = async () => (await pusher.post('/api/data', [])).status;
    expect(await statusOf()).toBe(403);
    await api.manager.post(`/account/user/${id}/claims/add`, { claimType: 'datapusher.standard' });
    expect(await statusOf()).toBe(200);
    await api.manager.post(`/account/user/${id}/claims/remove`, [{ claimType: 'datapusher.standard' }]);
    expect(await statusOf()).toBe(403);
  });
});

describe('accounts: the lock of a user', () => {
  it('while a user is locked, the tokens of the user are refused (§4.2, R-B5, R-B11)', async () => {
    const locked = await api.signIn('lena', 'USER');
    const id = await userIdOf(api, 'lena');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const body = { isLocked: true, until, reason: 'holidays' };
    expect(await api.manager.post(`/account/user/${id}/lock`, body)).toMatchObject({ status: 200, body: undefined });
    expect((await locked.get('/account')).status).toBe(401);
    const shown = await read(id);
    expect(shown.isLocked).toBe(true);
    expect(Date.parse(shown.lockedUntil as string)).toBe(Date.parse(until));
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: false });
    expect((await locked.get('/account')).status).toBe(200);
    expect(await read(id)).toMatchObject({ isLocked: false, lockedUntil: null });
    const { rows } = await api.database.query(`select payload from outbox_event where type = 'UserLocked'`);
    expect(rows).toMatchObject([{ payload: { id, userName: 'lena' } }]);
  });

  it('a lock with an end time expires by itself (R-B11)', async () => {
    const lars = await api.signIn('lars', 'USER');
    const id = await userIdOf(api, 'lars');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: true, until });
    expect((await lars.get('/account')).status).toBe(401);
    await api.database.query(`update app_user set locked_until = now() - interval '1 s' where id = $1`, [id]);
    expect((await lars.get('/account')).status).toBe(200);
    expect(await read(id)).toMatchObject({ isLocked: false, lockedUntil: null });
  });

  it.each([
    ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999999Z'],
    ['2099-01-01T00:00:00+18:00', '2098-12-31T06:00:00Z'],
    ['2099-06-01T12:00-0330', '2099-06-01T15:30:00Z'],
  ])('after a lock with until = %s, GET shows lockedUntil = %s (R-A8, R-B11)', async (until, shown) => {
    expect((await api.manager.post(`/account/user/${uma}/lock`, { isLocked: true, until })).status).toBe(200);
    expect((await read(uma)).lockedUntil).toBe(shown);
    await api.manager.post(`/account/user/${uma}/lock`, { isLocked: false });
  });

  it('a manager can unlock a user who was locked after too many wrong passwords (R-B11)', async () => {
    await addPerson(api, 'typo');
    const id = await userIdOf(api, 'typo');
    await api.database.query(`update app_user set sign_in_locked_until = now() + interval '1 h' where id = $1`, [id]);
    expect(await read(id)).toMatchObject({ isLocked: true, lockedUntil: expect.any(String) });
    await expect(signInPerson(api, 'typo')).rejects.toThrow('invalid_grant');
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: false });
    await expect(signInPerson(api, 'typo')).resolves.toBeDefined();
  });

  it('a request to lock a user is refused when it is invalid, or when it would lock the caller (R-B11, R-A11)', async () => {
    const lock = (id: string, body: unknown) => api.manager.post(`/account/user/${id}/lock`, body);
    expect((await lock(uma, {})).status).toBe(400);
    expect(await lock(uma, { isLocked: true, until: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('$.until must be in the future, got 2020-01-01T00:00:00') },
    });
    for (const until of ['tomorrow', '2030-02-30T00:00:00Z', '9999-12-31T23:59:59-12:00']) {
      expect([until, (await lock(uma, { isLocked: true, until })).status]).toEqual([until, 400]);
    }
    expect((await lock(await userIdOf(api, 'max'), { isLocked: true })).status).toBe(409);
    expect((await read(uma)).isLocked).toBe(false);
    for (const until of ['2030-01-01 00:00:00', Date.UTC(2030, 0, 1)]) {
      await lock(uma, { isLocked: true, until });
      expect((await read(uma)).lockedUntil).toBe('2030-01-01T00:00:00Z');
      await lock(uma, { isLocked: false });
    }
  });
});

describe('accounts: DELETE /account/user/{userId}', () => {
  it('deletes the user and revokes their tokens (§4.2, R-B5)', async () => {
    const gone = await api.signIn('gone', 'USER');
    const id = await userIdOf(api, 'gone');
    expect(await api.manager.delete(`/account/user/${id}`)).toMatchObject({ status: 200, body: undefined });
    expect((await gone.get('/account')).status).toBe(401);
    expect((await api.manager.get(`/account/user/${id}`)).status).toBe(404);
    const { body } = await api.manager.get('/account/audit?action=UserDeleted');
    expect(body).toMatchObject([{ targetId: id, targetName: 'gone', userName: 'max' }]);
  });

  it('refuses to delete the caller (R-B8)', async () => {
    expect((await api.manager.delete(`/account/user/${await userIdOf(api, 'max')}`)).status).toBe(409);
  });
});
