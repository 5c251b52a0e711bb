import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClient, type TestClient } from '../../support/clients/test-client.ts';
import { type KeycloakDouble, startKeycloakDouble } from '../../support/doubles/keycloak-double.ts';
import { linkIn, type Mailbox, openMailbox, passwordIn } from '../../support/doubles/mailbox.ts';
import { eventually } from '../../support/eventually.ts';
import { addPerson, userIdOf } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const PROFILE = 'https://app.example/profile';
const AUTH_URL = 'https://auth.tidemark.example';

let keycloak: KeycloakDouble;
let mailbox: Mailbox;
let api: TestApi;
beforeAll(async () => {
  keycloak = await startKeycloakDouble();
  mailbox = await openMailbox();
  const { issuer } = keycloak;
  const jwksUri = `${issuer}/protocol/openid-connect/certs`;
  const own = { issuer: `${AUTH_URL}/realms/tidemark`, jwksUri: `${AUTH_URL}/unused`, audience: 'tidemark' };
  api = await startTestApi({
    ...{ USER_DIRECTORY: 'keycloak', KEYCLOAK_URL: keycloak.url, KEYCLOAK_CLIENT_SECRET: keycloak.clientSecret },
    ...{ AUTH_URL, RETURN_URLS: PROFILE, SMTP_URL: mailbox.url },
    TRUSTED_ISSUERS: JSON.stringify([own, { issuer, jwksUri, audience: 'tidemark' }]),
  });
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
  await keycloak.close();
});

const create = (name: string, more = {}) =>
  api.manager.post('/account/user/create', { userName: name, email: `${name}@north.example`, ...more });
const inKeycloak = (name: string) => [...keycloak.users.values()].find(({ username }) => username === name);

async function stateOf(address: string): Promise<string | undefined> {
  const { rows } = await api.database.query<{ state: string }>('select state from mail where to_address = $1', [
    address,
  ]);
  return rows[0]?.state;
}

async function signInAt(name: string): Promise<TestClient> {
  return createTestClient(api.origin, await keycloak.tokenOf(inKeycloak(name)?.id ?? ''));
}

describe('Keycloak: creating a user', () => {
  it('creates the user in Keycloak with a temporary password, and Keycloak’s tokens identify the user (R-B2, R-B5)', async () => {
    expect((await create('Nora', { firstName: 'Nora', language: 'fr' })).status).toBe(200);
    expect(inKeycloak('nora')).toMatchObject({
      ...{ username: 'nora', email: 'Nora@north.example', firstName: 'Nora', enabled: true },
      requiredActions: ['UPDATE_PASSWORD'],
      attributes: { tidemark: ['true'], locale: ['fr'], account: [String(api.accountId)] },
    });
    const mail = await mailbox.next('Nora@north.example');
    expect(passwordIn(mail)).toBe(keycloak.passwords.get(inKeycloak('nora')?.id ?? ''));
    expect(mail.text).toContain(`${keycloak.issuer}/account`);
    const client = await signInAt('nora');
    expect((await client.get('/account?displayLevel=Light')).body).toMatchObject({ id: api.accountId });
    const { rows } = await api.database.query(`select password_hash from app_user where user_name = 'Nora'`);
    expect(rows).toEqual([{ password_hash: null }]);
  });

  it('is refused and stores no user when a different user at Keycloak already has that email address (R-B2)', async () => {
    await create('first');
    const taken = await create('second', { email: 'first@north.example' });
    expect(taken).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const { rows } = await api.database.query(`select from app_user where user_name = 'second'`);
    expect(rows).toEqual([]);
  });

  it('uses the user that Keycloak still has from an earlier, failed attempt (R-B2)', async () => {
    await create('halfway');
    await api.database.query(`delete from app_user where user_name = 'halfway'`);
    const id = inKeycloak('halfway')?.id;
    expect((await create('halfway')).status).toBe(200);
    expect(inKeycloak('halfway')?.id).toBe(id);
    expect((await (await signInAt('halfway')).get('/account')).status).toBe(200);
  });

  it('is refused if Keycloak has a user of that name without the attribute `tidemark` (R-B2, R-B8)', async () => {
    const boss = { id: 'boss-id', username: 'boss', enabled: true, emailVerified: true, requiredActions: [] };
    keycloak.users.set('boss-id', { ...boss, attributes: {} });
    expect(await create('boss')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(inKeycloak('boss')).toEqual({ ...boss, attributes: {} });
    // The operator sets this attribute to allow the service to manage the existing user.
    keycloak.users.set('boss-id', { ...boss, attributes: { tidemark: ['true'] } });
    expect((await create('boss')).status).toBe(200);
    expect((await (await signInAt('boss')).get('/account')).status).toBe(200);
  });

  it('mails no temporary password after the user has chosen a password (R-B10)', async () => {
    await create('quick', { email: 'quick@north.example' });
    await mailbox.next('quick@north.example');
    // The email may arrive before the sender has stored the state `Sent`.
    await eventually('the end of the email', async () => (await stateOf('quick@north.example')) === 'Sent');
    const user = inKeycloak('quick');
    keycloak.users.set(user?.id ?? '', { ...(user as NonNullable<typeof user>), requiredActions: [] });
    await api.database.query(
      `update mail set state = 'Waiting', not_before_date = now() where to_address = 'quick@north.example'`,
    );
    await eventually('the email to be left out', async () => (await stateOf('quick@north.example')) === 'Obsolete');
  });
});

describe('Keycloak: changes by a manager', () => {
  it('changing first name and language leaves everything else about the user at Keycloak unchanged (R-B2)', async () => {
    await create('wanda');
    const user = inKeycloak('wanda');
    const attributes = { ...user?.attributes, badge: ['7'] };
    keycloak.users.set(user?.id ?? '', { ...(user as NonNullable<typeof user>), attributes });
    const id = await userIdOf(api, 'wanda');
    expect((await api.manager.post(`/account/user/${id}`, { firstName: 'Wanda', language: 'nl' })).status).toBe(200);
    expect(inKeycloak('wanda')).toMatchObject({
      ...{ firstName: 'Wanda', email: 'wanda@north.example', enabled: true, requiredActions: ['UPDATE_PASSWORD'] },
      attributes: { badge: ['7'], locale: ['nl'], account: [String(api.accountId)] },
    });
  });

  it('a new email address becomes unverified at Keycloak; other changes leave the address verified (R-B5, R-B10)', async () => {
    await create('vera');
    const user = inKeycloak('vera');
    keycloak.users.set(user?.id ?? '', { ...(user as NonNullable<typeof user>), emailVerified: true });
    const id = await userIdOf(api, 'vera');
    await api.manager.post(`/account/user/${id}`, { firstName: 'Vera', email: 'VERA@north.example' });
    expect(inKeycloak('vera')?.emailVerified).toBe(true);
    await api.manager.post(`/account/user/${id}`, { email: 'other@north.example' });
    expect(inKeycloak('vera')?.emailVerified).toBe(false);
  });

  it('adding a claim does not call Keycloak (R-B5)', async () => {
    const id = await userIdOf(api, 'wanda');
    await eventually('the emails to all created users', async () => {
      const soon = `state = 'Waiting' and not_before_date < now() + interval '10 min'`;
      return (await api.database.query(`select from mail where ${soon}`)).rowCount === 0;
    });
    const before = keycloak.calls.length;
    await api.manager.post(`/account/user/${id}/claims/add`, { claimType: 'datapusher.standard' });
    expect(keycloak.calls).toHaveLength(before);
  });

  it('locking disables the user at Keycloak and ends the sessions; unlocking enables the user (R-B11)', async () => {
    await create('lock');
    const id = await userIdOf(api, 'lock');
    const client = await signInAt('lock');
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: true });
    expect(inKeycloak('lock')?.enabled).toBe(false);
    expect(keycloak.loggedOut).toContain(inKeycloak('lock')?.id);
    expect((await client.get('/account')).status).toBe(401);
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: false });
    expect(inKeycloak('lock')?.enabled).toBe(true);
    expect((await client.get('/account')).status).toBe(200);
  });

  it("a lock with an end date ends the user's sessions, but the user stays enabled at Keycloak (R-B5, R-B11)", async () => {
    await create('briefly');
    const id = await userIdOf(api, 'briefly');
    const client = await signInAt('briefly');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await api.manager.post(`/account/user/${id}/lock`, { isLocked: true, until })).status).toBe(200);
    const { id: subject, enabled } = inKeycloak('briefly') ?? {};
    expect({ enabled, isOut: keycloak.loggedOut.includes(subject ?? '') }).toEqual({ enabled: true, isOut: true });
    expect((await client.get('/account')).status).toBe(401);
    await api.database.query(`update app_user set locked_until = now() - interval '1 s' where id = $1`, [id]);
    expect((await client.get('/account')).status).toBe(200);
  });

  it('resetting the password of a user who is locked without an end date gets 409 and sends no email (R-A5, R-B11)', async () => {
    await create('stuck');
    const id = await userIdOf(api, 'stuck');
    await api.manager.post(`/account/user/${id}/lock`, { isLocked: true });
    const mailsBefore = keycloak.actionMails.length;
    expect((await api.manager.post(`/account/user/${id}/resetpassword`, undefined)).status).toBe(409);
    expect(keycloak.actionMails).toHaveLength(mailsBefore);
  });

  it('after a password reset, Keycloak emails the user a link that is valid for an hour (R-B11)', async () => {
    await create('reset');
    const id = await userIdOf(api, 'reset');
    expect((await api.manager.post(`/account/user/${id}/resetpassword`, undefined)).status).toBe(200);
    const mail = keycloak.actionMails.at(-1);
    expect(mail).toMatchObject({ userId: inKeycloak('reset')?.id, actions: ['UPDATE_PASSWORD'] });
    expect(Object.fromEntries(mail?.query ?? [])).toEqual({ lifespan: '3600', client_id: 'tidemark-account' });
  });

  it('a user can be deleted, even if the user is already missing at Keycloak (R-B2)', async () => {
    for (const isGone of [false, true]) {
      await create('delete');
      const id = await userIdOf(api, 'delete');
      if (isGone) {
        keycloak.users.delete(inKeycloak('delete')?.id ?? '');
        const message = expect.stringMatching(/no longer exists at the .*; a manager can delete the user and create/);
        const refused = await api.manager.post(`/account/user/${id}`, { firstName: 'D' });
        expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', message } });
      }
      expect((await api.manager.delete(`/account/user/${id}`)).status).toBe(200);
      expect(inKeycloak('delete')).toBeUndefined();
    }
  });
});

describe('Keycloak: a user', () => {
  it('who was stored before Tidemark used Keycloak is created in Keycloak when a manager first changes the user (R-B2)', async () => {
    const id = await addPerson(api, 'legacy', { email: 'legacy@north.example' });
    await api.manager.post(`/account/user/${id}`, { lastName: 'Old' });
    expect(inKeycloak('legacy')).toMatchObject({ lastName: 'Old', email: 'legacy@north.example' });
  });

  it('after a user chooses another account, the next token of the user is for the chosen account (R-B4)', async () => {
    await create('chooser');
    const userId = await userIdOf(api, 'chooser');
    await api.database.query('insert into account_member values ($1, $2)', [api.otherAccountId, userId]);
    const client = await signInAt('chooser');
    expect((await client.post(`/account/user/active-account/${api.otherAccountId}`, undefined)).status).toBe(200);
    const next = await signInAt('chooser');
    expect((await next.get('/account?displayLevel=Light')).body).toMatchObject({ id: api.otherAccountId });
  });
});

describe('Keycloak: POST /user/signOut', () => {
  it('ends the sessions of the caller at Keycloak (R-B5)', async () => {
    await create('leaver');
    const client = await signInAt('leaver');
    expect((await client.post('/user/signOut', undefined)).status).toBe(200);
    expect(keycloak.loggedOut).toContain(inKeycloak('leaver')?.id);
  });
});

describe('Keycloak: a user who leaves the active account', () => {
  const accountOf = async (client: TestClient) =>
    (await client.get<{ id?: number }>('/account?displayLevel=Light')).body.id;

  it('gets tokens for another account of which they are a member or, if there is none, for the next account they join (R-B4)', async () => {
    await create('mover');
    const userId = await userIdOf(api, 'mover');
    await api.database.query('insert into account_member values ($1, $2)', [api.otherAccountId, userId]);
    const move = (client: TestClient, method: string, accountId: number) =>
      client.send(method, '/account/users/account', { accountId, userIds: [userId] });
    expect((await move(api.manager, 'DELETE', api.accountId)).status).toBe(200);
    expect(await accountOf(await signInAt('mover'))).toBe(api.otherAccountId);
    await move(api.stranger, 'DELETE', api.otherAccountId);
    expect((await (await signInAt('mover')).get('/account')).status).toBe(403);
    const admin = await api.signIn('ada', 'ADMIN');
    expect((await move(admin, 'POST', api.accountId)).status).toBe(200);
    expect(await accountOf(await signInAt('mover'))).toBe(api.accountId);
  });
});

describe('Keycloak: an invitation that a user of another account accepts', () => {
  const accept = async (email: string) => {
    await api.manager.post('/account/invitations', { email });
    const token = new URL(linkIn(await mailbox.next(email))).searchParams.get('token');
    const path = `/account/user/register?invitationToken=${token}`;
    expect((await createTestClient(api.origin).post(path, undefined)).status).toBe(200);
  };

  it("keeps the user's password and sessions only if Keycloak has verified the email address (R-B10)", async () => {
    for (const [email, emailVerified] of [
      ['known@north.example', true],
      ['unknown@north.example', false],
    ] as const) {
      await addPerson(api, email, { email, accountIds: [api.otherAccountId] });
      await api.stranger.post(`/account/user/${await userIdOf(api, email)}`, { firstName: 'X' });
      const user = inKeycloak(email) as NonNullable<ReturnType<typeof inKeycloak>>;
      keycloak.users.set(user.id, { ...user, emailVerified, requiredActions: [] });
      keycloak.passwords.set(user.id, 'theirs');
      await accept(email);
      const isSame = keycloak.passwords.get(user.id) === 'theirs';
      const { rows } = await api.database.query<{ isVoid: boolean }>(
        'select tokens_valid_from is not null as "isVoid" from app_user where user_name = $1',
        [email],
      );
      expect({ isSame, isOut: keycloak.loggedOut.includes(user.id), ...rows[0] }).toEqual({
        isSame: emailVerified,
        isOut: !emailVerified,
        isVoid: !emailVerified,
      });
    }
    const mail = await eventually('the temporary password', async () =>
      mailbox.mails.find((one) => one.receivers.includes('unknown@north.example') && passwordIn(one) !== ''),
    );
    expect(passwordIn(mail)).toBe(keycloak.passwords.get(inKeycloak('unknown@north.example')?.id ?? ''));
  });
});

describe('Keycloak: the account of a token', () => {
  it('comes from the claim `account`, and the user must be a member of the account (R-B4, R-B5)', async () => {
    await create('claire');
    const user = inKeycloak('claire') as NonNullable<ReturnType<typeof inKeycloak>>;
    for (const [account, status] of [
      [api.accountId, 200],
      [api.otherAccountId, 403],
      [0, 403],
    ] as const) {
      keycloak.users.set(user.id, { ...user, attributes: { ...user.attributes, account: [String(account)] } });
      expect([account, (await (await signInAt('claire')).get('/account')).status]).toEqual([account, status]);
    }
  });
});

describe('Keycloak: GET /user/updatePasswordLink', () => {
  it('answers with the URL of the Keycloak page for a new password (§4.6, R-B13)', async () => {
    await create('paul');
    const { body } = await (await signInAt('paul')).get<{ link: string }>('/user/updatePasswordLink');
    const link = new URL(body.link);
    expect(`${link.origin}${link.pathname}`).toBe(`${keycloak.issuer}/protocol/openid-connect/auth`);
    expect(Object.fromEntries(link.searchParams)).toEqual({
      ...{ client_id: 'tidemark-account', response_type: 'code', scope: 'openid', redirect_uri: PROFILE },
      ...{ kc_action: 'UPDATE_PASSWORD', login_hint: 'paul' },
    });
  });
});

describe('Keycloak: the service account', () => {
  it('renews its token when Keycloak refuses the token (R-B2)', async () => {
    keycloak.expireTokens();
    expect((await create('renewed')).status).toBe(200);
    expect(inKeycloak('renewed')).toBeDefined();
  });
});

it('Keycloak: a failure of Keycloak gives 503, rolls the change back, and reveals no details (R-A5, R-B2)', async () => {
  keycloak.failWith(500);
  const answer = await create('unlucky');
  keycloak.failWith(undefined);
  expect(answer).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } });
  expect(JSON.stringify(answer.body)).not.toMatch(/keycloak|unknown_error|127\.0\.0\.1/i);
  const { rows } = await api.database.query(`select from app_user where user_name = 'unlucky'`);
  expect(rows).toEqual([]);
});

describe('Keycloak: the realm export', () => {
  const realm = JSON.parse(
    readFileSync(new URL('../../../src/identity/keycloak/realm-export.json', import.meta.url), 'utf8'),
  ) as {
    readonly clientScopes: readonly {
      readonly name: string;
      readonly protocolMappers: readonly { readonly name: string; readonly config: Readonly<Record<string, string>> }[];
    }[];
    readonly clients: readonly { readonly clientId: string; readonly optionalClientScopes?: readonly string[] }[];
  };

  it('has the scopes, the claims and the clients that the service needs (R-B2, R-B4, R-B6)', () => {
    const scopes = new Map(realm.clientScopes.map((scope) => [scope.name, scope.protocolMappers]));
    for (const name of ['datahub-api', 'push-data']) {
      expect(scopes.get(name)?.[0]?.config['included.custom.audience']).toBe('tidemark');
    }
    const account = scopes.get('tidemark-account')?.find(({ name }) => name === 'account');
    expect(account?.config).toMatchObject({
      'claim.name': 'account',
      'jsonType.label': 'int',
      'user.attribute': 'account',
    });
    // Claims by which the service may identify a user, depending on the setting EXTERNAL_USERS.
    const claims = scopes.get('tidemark-account')?.map(({ config }) => config['claim.name']);
    expect(claims).toEqual(expect.arrayContaining(['email', 'email_verified', 'businessId']));
    const { KEYCLOAK_CLIENT_ID, KEYCLOAK_ACCOUNT_CLIENT_ID } = api.parts.config;
    const ids = realm.clients.map(({ clientId }) => clientId);
    expect(ids).toEqual(expect.arrayContaining([KEYCLOAK_CLIENT_ID, KEYCLOAK_ACCOUNT_CLIENT_ID]));
  });

  it('contains no secret (R-B2)', () => {
    expect(JSON.stringify(realm)).not.toMatch(/"(secret|privateKey|credentials)"/);
  });
});
