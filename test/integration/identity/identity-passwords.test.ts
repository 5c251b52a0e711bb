import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type BrowserPage, createBrowser } from '../../support/browser/browser.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { linkIn, type Mailbox, openMailbox, passwordIn } from '../../support/doubles/mailbox.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson, userIdOf } from '../../support/fixtures/people.ts';
import { createSite } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const CHOSEN = 'another one, chosen well';
const PROFILE = 'https://app.example/profile';

let api: TestApi;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url, RETURN_URLS: `${PROFILE},https://app.example/other` });
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

type Body = Readonly<Record<string, unknown>>;

const form = (username: string, password: string) => ({
  ...{ grant_type: 'password', client_id: 'demo', client_secret: 's3cret' },
  ...{ username, password },
});
const tokenOf = (username: string, password: string) => requestToken(api.origin, form(username, password));
const newPerson = (name: string) => addPerson(api, name, { email: `${name}@north.example`, firstName: name });
const choose = (browser: Browser, page: BrowserPage, password: string, more = {}) =>
  browser.submit(page, { newPassword: password, repeatedPassword: password, ...more });

describe('identity: POST /account/user/create', () => {
  const create = (body: Body, query = '') => api.manager.post(`/account/user/create${query}`, body);

  it('creates a user, who gets a temporary password by email (§4.2, R-B10)', async () => {
    const created = await create({ userName: 'new', email: 'new@north.example', language: 'de', pseudo: 'n' });
    expect(created).toMatchObject({ status: 200, body: undefined });
    const id = await userIdOf(api, 'new');
    expect(created.headers.get('location')).toBe(`/account/user/${id}`);
    const mail = await mailbox.next('new@north.example');
    expect(mail.subject).toBe('Ihr Zugang');
    await expect(tokenOf('new', passwordIn(mail))).rejects.toThrow('Account is not fully set up');
    const { rows } = await api.database.query('select payload from outbox_event where type = $1', ['UserCreated']);
    const payload = { id, userName: 'new', email: 'new@north.example', firstName: null, lastName: null };
    expect(rows).toContainEqual({ payload });
  });

  it('the user name defaults to the email address (§4.2)', async () => {
    await create({ email: 'plain@north.example' });
    expect(await userIdOf(api, 'plain@north.example')).toBeTypeOf('string');
  });

  it('the language of the email defaults to the language of the account (§4.2, R-B10)', async () => {
    await api.manager.put('/account', { language: 'nl' });
    for (const [name, more, subject] of [
      ['niet', {}, 'Uw toegang'],
      ['null', { language: null }, 'Uw toegang'],
      ['engels', { language: 'en' }, 'Your access'],
    ] as const) {
      await create({ email: `${name}@north.example`, ...more });
      expect((await mailbox.next(`${name}@north.example`)).subject).toBe(subject);
    }
    await api.manager.put('/account', { language: 'en' });
  });

  it('when a user is created or changed, null counts as absent for id, user name, roles, claims, sites, features and business keys (§4.2, R-C2)', async () => {
    const none = {
      id: null,
      userName: null,
      roles: null,
      claims: null,
      sites: null,
      features: null,
      businessKeys: null,
    };
    expect((await create({ ...none, email: 'nulls@north.example' })).status).toBe(200);
    const id = await userIdOf(api, 'nulls@north.example');
    const path = `/account/user/${id}`;
    expect((await api.manager.get(path)).body).toMatchObject({
      ...{ userName: 'nulls@north.example', roles: [{ id: 'USER' }], claims: [], sites: [] },
    });
    const { body: before } = await api.manager.post<Body>(path, {
      ...{ roles: ['MANAGER'], claims: [{ claimType: 'team', claimValue: 'red' }] },
      ...{ features: [{ id: 1, level: 'Read' }], businessKeys: { businessId: 'B-9' } },
      sites: [{ siteId: await createSite(api.manager), level: 'Read' }],
    });
    expect(before).toMatchObject({ claims: [{}], sites: [{}], businessKeys: { businessId: 'B-9' } });
    const { body: after } = await api.manager.post(path, { ...none, firstName: 'Nell' });
    expect(after).toEqual({ ...before, firstName: 'Nell' });
  });

  it.each(['-1', '73', '1.5', 'x'])('delayToSendEmail=%s gets 400 (§8, R-B12)', async (hours) => {
    const answer = await create({ email: 'never@north.example' }, `?delayToSendEmail=${hours}`);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'query.delayToSendEmail' }] } });
  });

  it('a delayed email is not sent before the delay has passed (R-B12)', async () => {
    await create({ userName: 'patient', email: 'patient@north.example' }, '?delayToSendEmail=72');
    const { rows } = await api.database.query<{ hours: number; state: string }>(
      `select round(extract(epoch from not_before_date - created_date) / 3600)::int as hours, state from mail
       where to_address = 'patient@north.example'`,
    );
    expect(rows).toEqual([{ hours: 72, state: 'Waiting' }]);
    // The email to the user `hasty` is queued after the delayed email to the user `patient`, but is sent first.
    await create({ userName: 'hasty', email: 'hasty@north.example' });
    await mailbox.next('hasty@north.example');
    expect(mailbox.mails.some(({ receivers }) => receivers.includes('patient@north.example'))).toBe(false);
    await api.database.query(`update mail set not_before_date = now() where to_address = 'patient@north.example'`);
    expect(passwordIn(await mailbox.next('patient@north.example'))).not.toBe('');
  });

  it('requires that the caller has the role MANAGER, and that the new user has an email address, an unused user name and a role that the caller may grant (§4.2, R-B8)', async () => {
    expect(await create({ userName: 'x' })).toMatchObject({ status: 400, body: { details: [{ path: '$.email' }] } });
    expect((await create({ userName: 'MAX', email: 'x@north.example' })).status).toBe(409);
    expect((await create({ email: 'x@north.example', roles: ['ADMIN'] })).status).toBe(403);
    const user = await api.signIn('una', 'USER');
    expect((await user.post('/account/user/create', { email: 'x@north.example' })).status).toBe(403);
    const { rows } = await api.database.query(`select from app_user where email = 'x@north.example'`);
    expect(rows).toEqual([]);
  });

  it('stores the generated password neither in the mail outbox nor with the user (R-B11)', async () => {
    await create({ userName: 'secret', email: 'secret@north.example' });
    const password = passwordIn(await mailbox.next('secret@north.example'));
    const { rows } = await api.database.query(
      `select from (select m::text as line from mail m union all select u::text from app_user u) t where line like $1`,
      [`%${password}%`],
    );
    expect(password).not.toBe('');
    expect(rows).toEqual([]);
  });
});

describe('identity: the first password', () => {
  it('is requested again until it meets the rules (R-B10)', async () => {
    await api.manager.post('/account/user/create', { userName: 'first', email: 'first@north.example' });
    const mail = await mailbox.next('first@north.example');
    const browser = createBrowser();
    const temporary = passwordIn(mail);
    const page = await browser.submit(await browser.open(linkIn(mail)), { username: 'first', password: temporary });
    const problems = [
      await choose(browser, page, 'short'),
      await choose(browser, page, 'first@north.example'),
      await choose(browser, page, temporary),
      await browser.submit(page, { newPassword: CHOSEN, repeatedPassword: `${CHOSEN}!` }),
    ];
    expect(problems.map(({ problem }) => problem)).toEqual([
      'The new password must have at least 10 characters.',
      'The new password must not be your user name or email address.',
      'The new password must differ from the current one.',
      'The two new passwords do not match.',
    ]);
    const again = createBrowser();
    const elsewhere = await again.submit(await again.open(linkIn(mail)), { username: 'first', password: temporary });
    expect(elsewhere.title).toBe('Choose your password');
    expect((await choose(browser, page, CHOSEN)).title).toBe('You are signed in');
    await expect(tokenOf('first', CHOSEN)).resolves.toBeTypeOf('string');
  });
});

describe('identity: resetpassword', () => {
  const reset = async (name: string) => {
    const { status } = await api.manager.post(`/account/user/${await userIdOf(api, name)}/resetpassword`, undefined);
    expect(status).toBe(200);
    return linkIn(await mailbox.next(`${name}@north.example`));
  };

  it('emails a link that works for one change of the password (§4.2, R-B11)', async () => {
    await newPerson('rita');
    const body = new URLSearchParams(form('rita', PASSWORD));
    const tokens = await fetch(`${api.origin}/realms/tidemark/protocol/openid-connect/token`, { method: 'POST', body });
    const { refresh_token: refreshToken = '' } = (await tokens.json()) as { refresh_token?: string };
    const link = await reset('rita');
    const browser = createBrowser();
    const page = await browser.open(link);
    expect(page).toMatchObject({ title: 'Choose a new password', fields: ['newPassword', 'repeatedPassword'] });
    expect((await choose(browser, page, 'short')).problem).toContain('at least 10');
    expect((await choose(browser, page, CHOSEN)).html).toContain('Your password has been changed');
    await expect(tokenOf('rita', PASSWORD)).rejects.toThrow('invalid_grant');
    await expect(tokenOf('rita', CHOSEN)).resolves.toBeTypeOf('string');
    const refresh = {
      grant_type: 'refresh_token',
      client_id: 'demo',
      client_secret: 's3cret',
      refresh_token: refreshToken,
    };
    await expect(requestToken(api.origin, refresh)).rejects.toThrow('invalid_grant');
    expect((await browser.open(link)).status).toBe(400);
    expect((await choose(browser, page, `${CHOSEN} 2`)).title).toBe('This page has expired');
    expect((await mailbox.next('rita@north.example', 2)).subject).toBe('Your password was changed');
  });

  it('a link is valid for at most an hour; a newer link makes the older link invalid immediately (R-B11)', async () => {
    const id = await newPerson('rolf');
    const first = await reset('rolf');
    await api.manager.post(`/account/user/${id}/resetpassword`, undefined);
    const second = linkIn(await mailbox.next('rolf@north.example', 2));
    expect((await createBrowser().open(first)).status).toBe(400);
    const { rows } = await api.database.query<{ minutes: number }>(
      'select round(extract(epoch from expires_date - now()) / 60)::int as minutes from password_reset where user_id = $1',
      [id],
    );
    expect(rows).toEqual([{ minutes: 60 }]);
    await api.database.query('update password_reset set expires_date = now() where user_id = $1', [id]);
    expect((await createBrowser().open(second)).status).toBe(400);
  });

  it('when the linked page is submitted twice at the same time, the password is changed once (R-B11)', async () => {
    await newPerson('race');
    const browser = createBrowser();
    const page = await browser.open(await reset('race'));
    const pages = await Promise.all([choose(browser, page, `${CHOSEN} 1`), choose(browser, page, `${CHOSEN} 2`)]);
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('the answer is 409 when the user has no email address (R-B11)', async () => {
    const id = await addPerson(api, 'nomail');
    expect((await api.manager.post(`/account/user/${id}/resetpassword`, undefined)).status).toBe(409);
  });

  it('the page for requesting a new password does not reveal whether a user name exists (R-B11)', async () => {
    await newPerson('forgetful');
    const browser = createBrowser();
    const page = await browser.open(`${api.origin}/realms/tidemark/forgot-password`);
    const ask = async (username: string) => {
      const startMs = performance.now();
      const { html } = await browser.submit(page, { username });
      return { html, ms: performance.now() - startMs };
    };
    const answers = await Promise.all(['forgetful@north.example', 'nobody', '', 'null\0'].map(ask));
    expect(new Set(answers.map(({ html }) => html)).size).toBe(1);
    // The server delays every answer until 300 ms have passed, to hide how long queuing an email takes. The test
    // expects 295 ms, because a timer may fire a little early.
    expect(Math.min(...answers.map(({ ms }) => ms))).toBeGreaterThan(295);
    const link = linkIn(await mailbox.next('forgetful@north.example'));
    expect((await browser.open(link)).title).toBe('Choose a new password');
  });
});

describe('identity: GET /user/updatePasswordLink', () => {
  const linkFor = async (name: string, query = '') => {
    const client = createTestClient(api.origin, await tokenOf(name, PASSWORD));
    return client.get<{ link: string }>(`/user/updatePasswordLink${query}`);
  };
  const openLink = async (name: string, browser: Browser) => browser.open((await linkFor(name)).body.link);
  const signInAs = async (browser: Browser, name: string) => {
    const page = await browser.open(`${api.origin}/realms/tidemark/signed-in`);
    return browser.submit(page, { username: name, password: PASSWORD });
  };
  const ageSessions = (name: string, seconds = 301) =>
    api.database.query(
      `update oidc_payload p set payload = jsonb_set(payload, '{loginTs}', to_jsonb((payload ->> 'loginTs')::bigint - $2))
       from app_user u where p.model = 'Session' and p.payload ->> 'accountId' = u.id and u.user_name = $1`,
      [name, seconds],
    );
  const appBrowser = () => createBrowser(['https://app.example']);

  it('the link opens a page that changes the password and then sends the browser back to the profile (§4.6, R-B13)', async () => {
    await newPerson('paul');
    const browser = appBrowser();
    await signInAs(browser, 'paul');
    const page = await openLink('paul', browser);
    expect(page).toMatchObject({ title: 'Change your password', fields: ['newPassword', 'repeatedPassword'] });
    const back = await choose(browser, page, CHOSEN);
    expect(back.url.startsWith(PROFILE)).toBe(true);
    await expect(tokenOf('paul', CHOSEN)).resolves.toBeTypeOf('string');
    expect((await mailbox.next('paul@north.example')).subject).toBe('Your password was changed');
    const still = await browser.open(`${api.origin}/realms/tidemark/signed-in`);
    expect(still.title).toBe('You are signed in');
  });

  it('the password page requires the current password if the sign-in is older than five minutes (§5, R-B13)', async () => {
    await newPerson('petra');
    const browser = appBrowser();
    await signInAs(browser, 'petra');
    await ageSessions('petra', 240);
    expect((await openLink('petra', browser)).fields).toEqual(['newPassword', 'repeatedPassword']);
    await ageSessions('petra', 61);
    const page = await openLink('petra', browser);
    expect(page.fields).toEqual(['currentPassword', 'newPassword', 'repeatedPassword']);
    const refusal =
      'The current password is missing or wrong. After too many wrong passwords, sign-in is blocked for a while.';
    expect((await choose(browser, page, CHOSEN)).problem).toBe(refusal);
    const wrong = await choose(browser, page, CHOSEN, { currentPassword: 'x' });
    expect(wrong.problem).toBe(refusal);
    await expect(tokenOf('petra', PASSWORD)).resolves.toBeTypeOf('string');
    const back = await choose(browser, page, CHOSEN, { currentPassword: PASSWORD });
    expect(back.url.startsWith(PROFILE)).toBe(true);
  });

  it('wrong current passwords count as failed sign-ins (R-B11)', async () => {
    await newPerson('pia');
    const browser = appBrowser();
    await signInAs(browser, 'pia');
    await ageSessions('pia');
    const page = await openLink('pia', browser);
    for (let attempt = 1; attempt <= 5; attempt++) await choose(browser, page, CHOSEN, { currentPassword: 'x' });
    expect((await choose(browser, page, CHOSEN, { currentPassword: PASSWORD })).problem).toContain('current password');
    await expect(tokenOf('pia', PASSWORD)).rejects.toThrow('invalid_grant');
  });

  it('before the password page opens, the user for whom the link was made must sign in, even if the browser is signed in as another user (R-B13)', async () => {
    await newPerson('pim');
    await newPerson('other');
    const fresh = await openLink('pim', appBrowser());
    expect(fresh.title).toBe('Sign in');
    expect(fresh.html).toContain('value="pim"');
    const browser = appBrowser();
    await signInAs(browser, 'other');
    const asked = await openLink('pim', browser);
    expect(asked.title).toBe('Sign in');
    const page = await browser.submit(asked, { username: 'pim', password: PASSWORD });
    expect(page.html).toContain('You are signed in as pim.');
    await choose(browser, page, CHOSEN);
    await expect(tokenOf('pim', CHOSEN)).resolves.toBeTypeOf('string');
    await expect(tokenOf('other', PASSWORD)).resolves.toBeTypeOf('string');
  });

  it('the code that the password page returns cannot be exchanged for a token (R-B13)', async () => {
    await newPerson('pat');
    const browser = appBrowser();
    await signInAs(browser, 'pat');
    const back = await choose(browser, await openLink('pat', browser), CHOSEN);
    const code = new URL(back.url).searchParams.get('code') ?? '';
    const answer = requestToken(api.origin, {
      ...{ grant_type: 'authorization_code', client_id: 'tidemark-account', code, redirect_uri: PROFILE },
      code_verifier: 'x'.repeat(43),
    });
    await expect(answer).rejects.toThrow('invalid_grant');
  });

  it('when the return URL is not in RETURN_URLS, the call and the linked page answer 400 (R-B13)', async () => {
    await newPerson('pippa');
    expect((await linkFor('pippa', '?returnUrl=https%3A%2F%2Fapp.example%2Fother')).body.link).toContain('other');
    for (const address of ['https://evil.example', `${PROFILE}/deeper`, 'https://app.example']) {
      expect(await linkFor('pippa', `?returnUrl=${encodeURIComponent(address)}`)).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(/RETURN_URLS, got "https:/) },
      });
    }
    const link = new URL((await linkFor('pippa')).body.link);
    link.searchParams.set('redirect_uri', 'https://evil.example');
    expect((await appBrowser().open(link.href)).status).toBe(400);
    expect((await createTestClient(api.origin).get('/user/updatePasswordLink')).status).toBe(401);
  });

  it('replaces POST /user/password, which answers 410 and names the replacement (§4.6, R-B13)', async () => {
    const answer = await api.manager.post('/user/password', { password: 'x' });
    expect(answer).toMatchObject({ status: 410, body: { code: 'gone' } });
    expect(JSON.stringify(answer.body)).toContain('GET /user/updatePasswordLink');
  });
});

describe('identity: wrong passwords', () => {
  it('the lock after five wrong passwords is announced once, as an event and in the audit trail (R-B11, R-I2)', async () => {
    await newPerson('lou');
    const id = await userIdOf(api, 'lou');
    const read = async () => {
      const { rows } = await api.database.query<{ payload: object }>(
        `select payload from outbox_event where type = 'UserLocked' and payload ->> 'id' = $1`,
        [id],
      );
      return rows.map(({ payload }) => payload);
    };
    for (let guess = 1; guess <= 4; guess += 1) await expect(tokenOf('lou', `wrong ${guess}`)).rejects.toThrow();
    expect(await read()).toEqual([]);
    for (let guess = 5; guess <= 7; guess += 1) await expect(tokenOf('lou', `wrong ${guess}`)).rejects.toThrow();
    const until = expect.stringMatching(/^20\d\d-.*Z$/);
    expect(await read()).toEqual([{ id, userName: 'lou', until, reason: 'too many wrong passwords' }]);
    expect((await api.manager.get(`/account/audit?targetId=${id}&action=UserLocked`)).body).toMatchObject([
      {
        ...{ userId: 'service', targetName: 'lou', requestId: null },
        details: { until, reason: 'too many wrong passwords', network: expect.any(String) },
      },
    ]);
  });
});
