import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/clients/test-client.ts';
import { eventually } from '../../support/eventually.ts';
import { CLIENT, passwordGrant } from '../../support/fixtures/accounts.ts';
import { addPerson, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let user: TestClient;
let admin: TestClient;
beforeAll(async () => {
  api = await startTestApi();
  const { siteId } = await createStructure(api.manager);
  await createStructure(api.manager);
  await createStructure(api.stranger);
  user = await api.signIn('una', 'USER', { sites: [siteId] });
  await addPerson(api, 'ada', { role: 'ADMIN', accountIds: [] });
  admin = await signInPerson(api, 'ada', api.accountId);
});
afterAll(() => api.close());

type Account = Readonly<Record<string, unknown>>;

describe('accounts: GET /account', () => {
  it('shows a USER the fields of displayLevel Normal by default (§4.1, R-C1)', async () => {
    expect(await user.get('/account')).toMatchObject({ status: 200 });
    expect((await user.get<Account>('/account')).body).toEqual({
      id: api.accountId,
      name: 'North',
      language: 'en',
      timeZoneId: 'UTC',
      currency: null,
      smsSettings: { senderName: null },
      emailSettings: { senderName: null, replyTo: null },
      versionLimit: 7,
      createdDate: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('displayLevel Light shows id and name; Verbose adds the counts of sites, sources, variables and users (R-C1)', async () => {
    expect((await user.get('/account?displayLevel=light')).body).toEqual({ id: api.accountId, name: 'North' });
    expect((await api.manager.get('/account?displayLevel=Verbose')).body).toMatchObject({
      ...{ siteCount: 2, sourceCount: 2, variableCount: 2, userCount: 2 },
    });
  });

  it('displayLevel may be a name or its number, 0 to 2 (R-A3, R-C1)', async () => {
    for (const [number, level] of ['Light', 'Normal', 'Verbose'].entries()) {
      const byName = (await user.get(`/account?displayLevel=${level}`)).body;
      const answer = await user.get(`/account?displayLevel=${number}`);
      expect([answer.status, answer.body]).toEqual([200, byName]);
    }
    expect((await user.get('/account?displayLevel=3')).status).toBe(400);
  });

  it('for a USER, siteCount, sourceCount and variableCount count only what the site access of the USER covers (R-B9, R-C1)', async () => {
    const { body } = await user.get('/account?displayLevel=Verbose');
    expect(body).toMatchObject({ siteCount: 1, sourceCount: 1, variableCount: 1 });
  });

  it('`fieldMask` takes comma-separated names in any letter case and may be repeated; an unknown name gets 400 (R-C1)', async () => {
    const selected = await user.get('/account?fieldMask=NAME,SmsSettings&fieldMask=userCount');
    expect(selected.body).toEqual({ name: 'North', smsSettings: { senderName: null }, userCount: 2 });
    expect(await user.get('/account?fieldMask=name,nope')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', details: [{ path: 'query.fieldMask' }] },
    });
  });

  it('an unknown displayLevel gets 400; a request without a bearer token gets 401 (§4.1, R-A5)', async () => {
    expect((await user.get('/account?displayLevel=x')).status).toBe(400);
    expect((await fetch(`${api.origin}/account`)).status).toBe(401);
  });
});

describe('accounts: PUT /account', () => {
  const read = async () => (await api.manager.get<Account>('/account')).body;

  it('a PUT of the body that GET returns succeeds and changes nothing (R-C1)', async () => {
    const whole = (await api.manager.get<Account>('/account?displayLevel=Verbose')).body;
    expect(await api.manager.put('/account', whole)).toMatchObject({ status: 200, body: await read() });
    expect((await api.manager.get('/account?displayLevel=Verbose')).body).toEqual(whole);
  });

  it('changes the members that the body contains, and answers with the account; member names may be in any letter case (§4.1)', async () => {
    const { status, body } = await api.manager.put('/account', {
      Name: 'North & Co',
      Language: 'FR',
      timezoneid: 'Romance Standard Time',
      currency: 'eur',
      emailSettings: { senderName: 'North', replyTo: 'help@north.example' },
      VersionLimit: 12,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ name: 'North & Co', language: 'fr', timeZoneId: 'Europe/Paris', currency: 'EUR', versionLimit: 12 },
      emailSettings: { senderName: 'North', replyTo: 'help@north.example' },
      smsSettings: { senderName: null },
    });
    expect(await read()).toEqual(body);
  });

  it('an absent member keeps its value, also inside `emailSettings`; null clears `currency`, `emailSettings` and `emailSettings.senderName` (R-C1)', async () => {
    await api.manager.put('/account', { emailSettings: { senderName: null } });
    expect(await read()).toMatchObject({
      name: 'North & Co',
      emailSettings: { senderName: null, replyTo: 'help@north.example' },
    });
    await api.manager.put('/account', { emailSettings: null, currency: null });
    expect(await read()).toMatchObject({ currency: null, emailSettings: { senderName: null, replyTo: null } });
  });

  it('changes only the members in fieldMask; an unknown name in fieldMask gets 400 (R-C1)', async () => {
    await api.manager.put('/account?fieldMask=Name', { name: 'Only the name', versionLimit: 99 });
    expect(await read()).toMatchObject({ name: 'Only the name', versionLimit: 12 });
    expect((await api.manager.put('/account?fieldMask=x', { name: 'x' })).status).toBe(400);
  });

  it('does not validate members outside fieldMask (R-C1)', async () => {
    const sparse = { id: 0, name: null, language: null, timeZoneId: '', versionLimit: 0, currency: 'NOK' };
    expect((await api.manager.put('/account?fieldMask=currency', sparse)).status).toBe(200);
    expect(await read()).toMatchObject({ name: 'Only the name', currency: 'NOK', versionLimit: 12 });
    const wrong = await api.manager.put('/account?fieldMask=currency,versionLimit', sparse);
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ path: '$.versionLimit' }] } });
    expect((await api.manager.put('/account?fieldMask=currency', [])).status).toBe(400);
  });

  it.each([
    [{ name: '' }, '$.name'],
    [{ versionLimit: 0 }, '$.versionLimit'],
    [{ versionLimit: 1001 }, '$.versionLimit'],
    [{ timeZoneId: 'Mars' }, '$.timeZoneId'],
    [{ currency: 'euro' }, '$.currency'],
    [{ language: 'xx' }, '$.language'],
    [{ emailSettings: { replyTo: 'a@b, c@d' } }, '$.emailSettings.replyTo'],
    [{ name: 'null\0' }, '$.name'],
  ])('the invalid body %j gets 400 and changes nothing (§4.1)', async (body, path) => {
    const before = await read();
    const half = { smsSettings: { senderName: 'half' }, ...body };
    expect(await api.manager.put('/account', half)).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(await read()).toEqual(before);
  });

  it('requires the role MANAGER or ADMIN, and changes only the account of the token (§4.1, R-B8)', async () => {
    expect(await user.put('/account', { name: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
    await api.stranger.put('/account', { name: 'South again' });
    expect((await read()).name).toBe('Only the name');
    expect((await admin.put('/account', { name: 'North' })).status).toBe(200);
  });
});

describe('accounts: features and secondary accesses of the account', () => {
  it.each(['/account/features', '/account/secondaryAccesses'])(
    'a manager can read %s, but a USER gets 403 (§4.1, R-C3)',
    async (path) => {
      const { status, body } = await api.manager.get<readonly Account[]>(path);
      expect(status).toBe(200);
      expect(body.length).toBeGreaterThan(0);
      for (const feature of body)
        expect(feature).toEqual({ id: expect.any(Number), name: expect.any(String), level: 'Admin' });
      expect((await user.get(path)).status).toBe(403);
    },
  );

  it('a feature has the level that the operator set for the account; the default is Admin (§4.1)', async () => {
    await api.database.query(`insert into account_feature values ($1, 'Feature', 2, 'Read')`, [api.accountId]);
    const { body } = await api.manager.get<readonly Account[]>('/account/features');
    expect(body.find(({ id }) => id === 2)).toMatchObject({ level: 'Read' });
    const elsewhere = await api.stranger.get<readonly Account[]>('/account/features');
    expect(elsewhere.body.find(({ id }) => id === 2)).toMatchObject({ level: 'Admin' });
  });
});

describe('accounts: the signed-in user', () => {
  const idsOf = (answer: { body: readonly Account[] }) => answer.body.map(({ id }) => id);

  it('GET /account/user/accounts lists the accounts of which the user is a member; for an ADMIN it lists all accounts (§4.1, R-B8)', async () => {
    expect(idsOf(await user.get('/account/user/accounts'))).toEqual([api.accountId]);
    await addPerson(api, 'both', { role: 'MANAGER', accountIds: [api.accountId, api.otherAccountId] });
    const both = await signInPerson(api, 'both');
    const listed = await both.get<readonly Account[]>('/account/user/accounts?SubscriptionId=x', {
      'x-total-count': 'true',
    });
    expect(idsOf(listed)).toEqual([api.accountId, api.otherAccountId]);
    expect(listed.headers.get('x-total-count')).toBe('2');
    expect(idsOf(await admin.get('/account/user/accounts'))).toHaveLength(2);
  });

  it('after a user activates an account, the next token request that names no account gets a token for this account (§4.1, R-B4)', async () => {
    const both = await signInPerson(api, 'both');
    expect((await both.post(`/account/user/active-account/${api.otherAccountId}`, undefined)).status).toBe(200);
    const next = await signInPerson(api, 'both');
    expect((await next.get('/account?displayLevel=Light')).body).toMatchObject({ id: api.otherAccountId });
    expect((await both.get('/account?displayLevel=Light')).body).toMatchObject({ id: api.accountId });
  });

  it('signing out everywhere revokes refresh tokens, and access tokens that are at least one second old (R-B5)', async () => {
    await addPerson(api, 'leaver');
    const leaver = await signInPerson(api, 'leaver');
    const request = async (form: Readonly<Record<string, string>>) => {
      const address = `${api.origin}/realms/tidemark/protocol/openid-connect/token`;
      const answer = await fetch(address, { method: 'POST', body: new URLSearchParams(form) });
      return (await answer.json()) as Readonly<Record<string, string>>;
    };
    const { refresh_token = '' } = await request(passwordGrant('leaver'));
    expect(refresh_token).not.toBe('');
    expect((await leaver.post('/user/signOut', undefined)).status).toBe(200);
    const refresh = { client_id: CLIENT.clientId, client_secret: CLIENT.secret, refresh_token };
    expect(await request({ grant_type: 'refresh_token', ...refresh })).toMatchObject({ error: 'invalid_grant' });
    const refused = await eventually('the end of the second of the token', async () => {
      await leaver.post('/user/signOut', undefined);
      const { status, body } = await leaver.get('/account');
      return status === 401 && body;
    });
    expect(refused).toMatchObject({ code: 'invalid_token' });
    expect((await (await signInPerson(api, 'leaver')).get('/account')).status).toBe(200);
  });

  it('activating an inaccessible or unknown account gets 404 and changes nothing (R-A5)', async () => {
    for (const id of [api.otherAccountId, 999_999, 'x', 0]) {
      expect((await user.post(`/account/user/active-account/${id}`, undefined)).status).toBe(404);
    }
    const { rows } = await api.database.query('select active_account_id from app_user where user_name = $1', ['una']);
    expect(rows).toEqual([{ active_account_id: api.accountId }]);
  });
});

describe('accounts: the audit trail', () => {
  it('lists who did what and when, newest first (R-B14)', async () => {
    await api.manager.put('/account', { name: 'Audited', currency: 'CHF' });
    const { status, body } = await api.manager.get<readonly Account[]>('/account/audit?itemsPerPage=1', {
      'x-total-count': 'true',
    });
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: expect.any(Number),
        accountId: api.accountId,
        date: expect.stringMatching(/Z$/),
        userId: await userIdOf(api, 'max'),
        userName: 'max',
        impersonator: null,
        action: 'AccountUpdated',
        targetId: String(api.accountId),
        targetName: null,
        details: { members: ['name', 'currency'] },
        requestId: expect.any(String),
      },
    ]);
  });

  it('filters entries by time, user and action, and answers 400 to an invalid filter (R-A5)', async () => {
    const ada = await userIdOf(api, 'ada');
    const byAda = await api.manager.get<readonly Account[]>(`/account/audit?userId=${ada}&action=accountupdated`);
    expect(byAda.body).toHaveLength(1);
    for (const query of [`userId=${ada}&action=UserLocked`, 'to=2020-01-01T00:00:00Z', 'from=2999-01-01T00:00:00Z']) {
      expect([query, (await api.manager.get(`/account/audit?${query}`)).body]).toEqual([query, []]);
    }
    for (const from of ['yesterday', '2026-02-30T00:00:00Z', '2026-13-01']) {
      expect([from, (await api.manager.get(`/account/audit?from=${from}`)).status]).toEqual([from, 400]);
    }
    // A date in the year 1 is accepted (R-A11).
    expect((await api.manager.get('/account/audit?from=0001-01-01T00:00:00')).status).toBe(200);
    expect((await api.manager.get('/account/audit?action=x')).status).toBe(400);
    for (const name of ['userId', 'targetId']) {
      const answer = await api.manager.get(`/account/audit?${name}=%00`);
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: `query.${name}` }] } });
    }
  });

  it('is refused to a USER, and shows managers their own account only (R-B8)', async () => {
    expect((await user.get('/account/audit')).status).toBe(403);
    const { body } = await api.stranger.get<readonly Account[]>('/account/audit');
    expect(body.map(({ userName }) => userName)).toEqual(['sam']);
  });

  it("when an ADMIN changes a user, the audit trail of that user's account lists the change (R-A5, R-B8)", async () => {
    const stella = await addPerson(api, 'stella', { accountIds: [api.otherAccountId] });
    await admin.post(`/account/user/${stella}`, { firstName: 'Stella' });
    await admin.post(`/account/user/${stella}/lock`, { isLocked: true });
    await admin.delete(`/account/user/${stella}`);
    const path = `/account/audit?targetId=${stella}`;
    expect((await api.stranger.get(path)).body).toMatchObject([
      { action: 'UserDeleted', userName: 'ada' },
      { action: 'UserLocked' },
      { action: 'UserUpdated' },
    ]);
    expect((await api.manager.get(path)).body).toEqual([]);
    const { rows } = await api.database.query(
      `select account_id from outbox_event where type = 'UserLocked' and payload ->> 'id' = $1`,
      [stella],
    );
    expect(rows).toEqual([{ account_id: api.otherAccountId }]);
  });

  it('only an ADMIN sees the deletion of a user who belonged to no account (R-A5)', async () => {
    const nobody = await addPerson(api, 'nobody', { accountIds: [] });
    await admin.delete(`/account/user/${nobody}`);
    expect((await api.manager.get(`/account/audit?targetId=${nobody}`)).body).toEqual([]);
    const { body } = await admin.get(`/account/audit?scope=operator&targetId=${nobody}`);
    expect(body).toMatchObject([{ action: 'UserDeleted', accountId: null }]);
  });

  it('returns the newest thousand entries by default; ItemsPerPage and PageNumber select another page (R-A7, §8)', async () => {
    await api.database.query(
      `insert into audit_entry (account_id, user_id, user_name, action, target_id)
       select $1, 'x', 'x', 'UserUpdated', i::text from generate_series(1, 1500) i`,
      [api.otherAccountId],
    );
    const all = { 'x-total-count': 'true' };
    const { body, headers } = await api.stranger.get<readonly Account[]>('/account/audit?action=UserUpdated', all);
    expect(body).toHaveLength(1000);
    expect(body[0]).toMatchObject({ targetId: '1500' });
    expect(Number(headers.get('x-total-count'))).toBeGreaterThanOrEqual(1500);
    const second = await api.stranger.get<readonly Account[]>('/account/audit?ItemsPerPage=1200&PageNumber=1');
    expect(second.body[0]).toMatchObject({ targetId: '300' });
    expect((await api.stranger.get('/account/audit?ItemsPerPage=10001')).status).toBe(400);
  });

  it('has no entry for a refused change or for a PUT of an empty object (R-A5)', async () => {
    const count = async () => (await api.manager.get<readonly Account[]>('/account/audit')).body.length;
    const before = await count();
    await api.manager.put('/account', { versionLimit: 0 });
    await api.manager.put('/account', {});
    expect(await count()).toBe(before);
  });
});
