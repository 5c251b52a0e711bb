import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser } from '../../support/browser/browser.ts';
import { postToken } from '../../support/clients/authorization.ts';
import { createTestClient, requestToken, type TestClient } from '../../support/clients/test-client.ts';
import { linkIn, type Mailbox, openMailbox, passwordIn } from '../../support/doubles/mailbox.ts';
import { eventually } from '../../support/eventually.ts';
import { addPerson, signInPerson, userIdOf } from '../../support/fixtures/people.ts';
import { createSite } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let mailbox: Mailbox;
let user: TestClient;
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url, MAIL_FROM: 'service@tidemark.example' });
  user = await api.signIn('una', 'USER');
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

type Body = Readonly<Record<string, unknown>>;
const PATH = '/account/invitations';

async function invite(email: string, more: Body = {}): Promise<string> {
  const { status, body } = await api.manager.post<{ id: string }>(PATH, { email, ...more });
  expect(status).toBe(200);
  return body.id;
}

const tokenIn = (link: string) => new URL(link).searchParams.get('token') ?? '';
const register = (token: string) =>
  createTestClient(api.origin).post<Body>(`/account/user/register?invitationToken=${token}`, undefined);
const form = (username: string, password: string) => ({
  ...{ grant_type: 'password', client_id: 'demo', client_secret: 's3cret' },
  ...{ username, password },
});

describe('accounts: accepting an invitation (§3)', () => {
  it('a new user opens the link, gets a temporary password by email, and signs in for the first time (§3, R-B10)', async () => {
    const siteId = await createSite(api.manager);
    const email = 'ines@north.example';
    await invite(email, {
      ...{ firstName: 'Ines', language: 'fr', role: 'USER' },
      claims: [{ claimType: 'datapusher.standard' }],
      sites: [{ siteId, level: 'Write' }],
    });

    const invitation = await mailbox.next(email);
    expect(invitation.subject).toBe('Invitation à rejoindre North');
    const browser = createBrowser();
    const page = await browser.open(linkIn(invitation));
    expect(page).toMatchObject({ status: 200, title: 'Invitation à rejoindre North', fields: [] });
    const welcome = await browser.submit(page);
    expect(welcome.status).toBe(200);

    const credentials = await mailbox.next(email, 2);
    const temporary = passwordIn(credentials);
    expect(credentials.text).toContain(email);
    await expect(requestToken(api.origin, form(email, temporary))).rejects.toThrow('Account is not fully set up');
    await expect(requestToken(api.origin, form(email, 'wrong'))).rejects.toThrow('Invalid user credentials');

    const signIn = await browser.open(linkIn(credentials));
    expect(signIn.fields).toEqual(['username', 'password']);
    const first = await browser.submit(signIn, { username: email, password: temporary });
    expect(first).toMatchObject({
      title: 'Choisissez votre mot de passe',
      fields: ['newPassword', 'repeatedPassword'],
    });
    const chosen = 'quatre mots bien choisis';
    const done = await browser.submit(first, { newPassword: chosen, repeatedPassword: chosen });
    expect(done).toMatchObject({ status: 200, title: expect.any(String) });
    expect(done.url).toContain('/signed-in?code=');

    const client = createTestClient(api.origin, await requestToken(api.origin, form(email, chosen)));
    expect((await client.get<readonly Body[]>('/sites')).body.map(({ id }) => id)).toEqual([siteId]);
    expect((await client.post('/api/data', [])).status).not.toBe(403);
    await expect(requestToken(api.origin, form(email, temporary))).rejects.toThrow('invalid_grant');
  });

  it('the token works once and is not stored in plain text (R-B10)', async () => {
    await invite('once@north.example');
    const token = tokenIn(linkIn(await mailbox.next('once@north.example')));
    const { rows } = await api.database.query('select from invitation i where i::text like $1', [`%${token}%`]);
    expect(rows).toEqual([]);
    const result = await register(token);
    expect(result).toMatchObject({
      status: 200,
      body: { userId: expect.any(String), userName: 'once@north.example', email: 'once@north.example' },
    });
    expect(await register(token)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await createBrowser().open(linkIn(await mailbox.next('once@north.example')))).status).toBe(400);
  });

  it('neither opening the link nor a cross-site POST accepts the invitation (R-B10)', async () => {
    await invite('scanned@north.example');
    const link = linkIn(await mailbox.next('scanned@north.example'));
    await createBrowser().open(link);
    const { rows } = await api.database.query(`select from app_user where user_name = 'scanned@north.example'`);
    expect(rows).toEqual([]);
    const foreign = await fetch(link, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } });
    expect(foreign.status).toBe(400);
    expect((await register(tokenIn(link))).status).toBe(200);
  });

  it('only one of two concurrent acceptances succeeds (R-B10)', async () => {
    await invite('twice@north.example');
    const token = tokenIn(linkIn(await mailbox.next('twice@north.example')));
    const answers = await Promise.all([register(token), register(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  it('an invitation expires after seven days (R-B10)', async () => {
    const id = await invite('late@north.example');
    const token = tokenIn(linkIn(await mailbox.next('late@north.example')));
    const { rows } = await api.database.query<{ days: number }>(
      'select extract(day from expires_date - sent_date)::int as days from invitation where id = $1',
      [id],
    );
    expect(rows).toEqual([{ days: 7 }]);
    await api.database.query('update invitation set expires_date = now() where id = $1', [id]);
    expect((await register(token)).status).toBe(404);
    expect((await api.manager.get<Body>(`${PATH}/${id}`)).body.state).toBe('Expired');
  });

  it('no bearer token is required: an unknown invitation token gets 404, and an empty or missing one gets 400 (§4.2, R-B10)', async () => {
    expect((await register('x')).status).toBe(404);
    expect((await register('')).status).toBe(400);
    expect((await createTestClient(api.origin).post('/account/user/register', undefined)).status).toBe(400);
  });

  it('an existing user with a verified email address joins the account and keeps their role and password (R-B10)', async () => {
    const id = await addPerson(api, 'sofia@south.example', {
      accountIds: [api.otherAccountId],
      email: 'sofia@south.example',
    });
    await invite('Sofia@south.example', { role: 'MANAGER' });
    const token = tokenIn(linkIn(await mailbox.next('Sofia@south.example')));
    expect((await register(token)).body).toMatchObject({ userId: id, userName: 'sofia@south.example' });
    const messages = await mailbox.next('sofia@south.example');
    expect(messages.subject).toBe('Access to North');
    const client = await signInPerson(api, 'sofia@south.example', api.accountId);
    expect((await client.get('/account/audit')).status).toBe(403);
  });

  /** A manager of South creates the user `userName` with the email address `{userName}.evil`, and sets the password. */
  async function plant(userName: string): Promise<string> {
    await api.stranger.post('/account/user/create', { userName, email: `${userName}.evil` });
    const credentials = await mailbox.next(`${userName}.evil`);
    const browser = createBrowser();
    const page = await browser.open(linkIn(credentials));
    const first = await browser.submit(page, { username: userName, password: passwordIn(credentials) });
    expect((await browser.submit(first, { newPassword: PLANTED, repeatedPassword: PLANTED })).status).toBe(200);
    return userIdOf(api, userName);
  }
  const PLANTED = 'known to another person';

  it('an existing user whose user name equals the invited address, but whose email address does not, is refused (R-B8, R-B10)', async () => {
    const id = await plant('vera@north.example');
    await invite('vera@north.example');
    const link = linkIn(await mailbox.next('vera@north.example'));
    expect(await register(tokenIn(link))).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const browser = createBrowser();
    const page = await browser.submit(await browser.open(link));
    expect(page).toMatchObject({ status: 409, title: 'Something went wrong' });
    const { rows } = await api.database.query<{ account_id: number }>(
      'select account_id from account_member where user_id = $1',
      [id],
    );
    expect(rows).toEqual([{ account_id: api.otherAccountId }]);
  });

  it('an existing user who never verified the email address gets a temporary password; the old password stops working (R-B8, R-B10)', async () => {
    const email = 'vicky@north.example';
    const id = await plant(email);
    await api.stranger.post(`/account/user/${id}`, { email });
    const { body } = await postToken(api.origin, { ...form(email, PLANTED), scope: 'datahub-api' });
    expect(body.refresh_token).toEqual(expect.any(String));
    await invite(email);
    expect((await register(tokenIn(linkIn(await mailbox.next(email))))).body).toMatchObject({ userId: id });
    const temporary = await eventually('the temporary password', async () =>
      mailbox.mails.filter(({ receivers }) => receivers.includes(email)).find((mail) => passwordIn(mail) !== ''),
    );
    await expect(requestToken(api.origin, form(email, PLANTED))).rejects.toThrow('Invalid user credentials');
    const refresh = { grant_type: 'refresh_token', client_id: 'demo', client_secret: 's3cret' };
    const refreshed = await postToken(api.origin, { ...refresh, refresh_token: String(body.refresh_token) });
    expect(refreshed.body.error).toBe('invalid_grant');
    const browser = createBrowser();
    const page = await browser.open(linkIn(temporary));
    const first = await browser.submit(page, { username: email, password: passwordIn(temporary) });
    expect(first.title).toBe('Choose your password');
  });

  it('a MANAGER of another account can accept an invitation to the role MANAGER, but not one to the role USER (R-B8, R-B10)', async () => {
    const email = 'marc@south.example';
    await addPerson(api, email, { role: 'MANAGER', accountIds: [api.otherAccountId], email });
    await invite(email);
    expect((await register(tokenIn(linkIn(await mailbox.next(email))))).status).toBe(409);
    await invite(email, { role: 'MANAGER' });
    expect((await register(tokenIn(linkIn(await mailbox.next(email, 2))))).status).toBe(200);
    const client = await signInPerson(api, email, api.accountId);
    expect((await client.get('/account/audit')).status).toBe(200);
  });
});

it('accounts: when the address of a user changes, a delayed password email goes to the new address only (R-B10, R-B12)', async () => {
  const [old, email] = ['typo@north.exampel', 'typo@north.example'];
  await api.manager.post('/account/user/create?delayToSendEmail=72', { userName: 'typo', email: old });
  await api.manager.post(`/account/user/${await userIdOf(api, 'typo')}`, { email });
  await api.database.query(`update mail set not_before_date = now() where to_address = $1`, [email]);
  await invite('wakes-the-sender@north.example');
  expect(passwordIn(await mailbox.next(email))).not.toBe('');
  expect(mailbox.mails.some(({ receivers }) => receivers.includes(old))).toBe(false);
});

describe('accounts: managing invitations', () => {
  it('lists invitations newest first, with state and without tokens (R-B10)', async () => {
    const id = await invite('listed@north.example', { firstName: 'L' });
    await mailbox.next('listed@north.example');
    const { body, headers } = await api.manager.get<readonly Body[]>(`${PATH}?itemsPerPage=1`, {
      'x-total-count': 'true',
    });
    expect(body).toEqual([
      {
        ...{ id, email: 'listed@north.example', firstName: 'L', lastName: null, language: 'en', role: 'USER' },
        ...{ claims: [], sites: [], state: 'Sent', createdDate: expect.any(String), sentDate: expect.any(String) },
        ...{ expiresDate: expect.any(String), acceptedDate: null },
      },
    ]);
    expect(Number(headers.get('x-total-count'))).toBeGreaterThan(1);
  });

  it('sending an invitation again makes a new token, and the old one stops working (R-B10)', async () => {
    const id = await invite('again@north.example');
    const old = tokenIn(linkIn(await mailbox.next('again@north.example')));
    expect(await api.manager.post(`${PATH}/${id}/resend`, undefined)).toMatchObject({ status: 200, body: undefined });
    const token = tokenIn(linkIn(await mailbox.next('again@north.example', 2)));
    expect(token).not.toBe(old);
    expect((await register(old)).status).toBe(404);
    expect((await register(token)).status).toBe(200);
    expect((await api.manager.post(`${PATH}/${id}/resend`, undefined)).status).toBe(409);
    expect((await api.manager.get<Body>(`${PATH}/${id}`)).body.state).toBe('Accepted');
  });

  it('a deleted invitation cannot be accepted (R-B10)', async () => {
    const id = await invite('gone@north.example');
    const token = tokenIn(linkIn(await mailbox.next('gone@north.example')));
    expect((await api.manager.delete(`${PATH}/${id}`)).status).toBe(200);
    expect((await register(token)).status).toBe(404);
    expect((await api.manager.get(`${PATH}/${id}`)).status).toBe(404);
  });

  it('a manager gets 404 for invitations of another account; a USER gets 403 for all requests about invitations (R-B10, R-A5)', async () => {
    const id = await invite('own@north.example');
    const requests = (client: TestClient) =>
      Promise.all([
        client.get(`${PATH}/${id}`),
        client.post(`${PATH}/${id}/resend`, undefined),
        client.delete(`${PATH}/${id}`),
      ]);
    for (const { status } of await requests(api.stranger)) expect(status).toBe(404);
    for (const { status } of await requests(user)) expect(status).toBe(403);
    expect((await user.get(PATH)).status).toBe(403);
    expect((await user.post(PATH, { email: 'x@north.example' })).status).toBe(403);
    expect((await api.stranger.get(PATH)).body).toEqual([]);
  });

  it('the role of an invitation comes from `role`, else from `roles`, else is USER; a manager may not name ADMIN in `roles` (R-B10, R-C2)', async () => {
    const roleOf = async (more: Body) =>
      (await api.manager.post<Body>(PATH, { email: 'role@north.example', ...more })).body?.role;
    expect(await roleOf({ roles: [{ id: 'MANAGER', name: 'MANAGER' }] })).toBe('MANAGER');
    expect(await roleOf({ role: 'USER', roles: ['MANAGER'] })).toBe('USER');
    expect(await roleOf({ role: null, roles: [] })).toBe('USER');
    expect((await api.manager.post(PATH, { email: 'a@north.example', roles: ['ADMIN'] })).status).toBe(403);
  });

  it('only an ADMIN may invite an ADMIN (R-B8)', async () => {
    expect((await api.manager.post(PATH, { email: 'a@north.example', role: 'ADMIN' })).status).toBe(403);
    await addPerson(api, 'ada', { role: 'ADMIN' });
    const admin = await signInPerson(api, 'ada');
    expect((await admin.post(PATH, { email: 'a@north.example', role: 'ADMIN' })).status).toBe(200);
  });

  it.each([
    [{}, '$.email'],
    [{ email: 'x' }, '$.email'],
    [{ email: 'a@x.example', role: 'KING' }, '$.role'],
    [{ email: 'a@x.example', roles: ['KING'] }, '$.roles[0]'],
    [{ email: 'a@x.example', language: 'xx' }, '$.language'],
    [{ email: 'a@x.example', sites: [{ siteId: 999_999 }] }, '$.sites[0].siteId'],
  ])('the invalid body %j gets 400 (R-A5)', async (body, path) => {
    expect(await api.manager.post(PATH, body)).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });

  it('the creation and the acceptance of an invitation are in the audit trail, and the acceptance appends an event to the outbox (R-B14)', async () => {
    const id = await invite('trail@north.example');
    await register(tokenIn(linkIn(await mailbox.next('trail@north.example'))));
    const { body } = await api.manager.get<readonly Body[]>(`/account/audit?targetId=${id}`);
    expect(body.map(({ action, userName }) => [action, userName])).toEqual([
      ['InvitationAccepted', 'trail@north.example'],
      ['InvitationCreated', 'max'],
    ]);
    const userId = await userIdOf(api, 'trail@north.example');
    const { rows } = await api.database.query('select payload from outbox_event where type = $1', [
      'InvitationAccepted',
    ]);
    expect(rows).toContainEqual({
      payload: { id, userId, userName: 'trail@north.example', email: 'trail@north.example' },
    });
  });
});
