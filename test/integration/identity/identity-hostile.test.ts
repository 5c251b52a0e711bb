/** Attacks on the pages, attacks with stolen tokens, and attacks through emails and logs. */
import { Writable } from 'node:stream';
import { Hono } from 'hono';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestLog } from '../../../src/http/create-app.ts';
import { signIn as signInByPassword } from '../../../src/identity/passwords/sign-in.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Queryable } from '../../../src/platform/database/database.ts';
import { requestId } from '../../../src/platform/http/request-id.ts';
import { createBrowser } from '../../support/browser/browser.ts';
import {
  APP_ORIGIN,
  exchangeCode,
  postToken,
  registerApp,
  startAuthorization,
} from '../../support/clients/authorization.ts';
import { linkIn, type Mailbox, openMailbox } from '../../support/doubles/mailbox.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson, userIdOf } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await openMailbox();
  api = await startTestApi({ SMTP_URL: mailbox.url, TOKEN_RATE_PER_MINUTE: '1000' });
  await registerApp(api.database);
  await addPerson(api, 'uma', { email: 'uma@north.example' });
});
afterAll(async () => {
  await api.close();
  await mailbox.close();
});

async function signIn(username: string) {
  const browser = createBrowser([APP_ORIGIN]);
  const { address, verifier } = startAuthorization(api.origin);
  const form = await browser.open(address);
  const before = browser.cookiesFor(address);
  const page = await browser.submit(form, { username, password: PASSWORD });
  return { browser, before, page, verifier };
}

describe('identity: cookies', () => {
  it('cookies set before a sign-in give no access after the sign-in, which prevents session fixation (R-B2)', async () => {
    const { browser, before } = await signIn('uma');
    const { address } = startAuthorization(api.origin, { prompt: 'none' });
    const errorWith = async (cookie: string) => {
      const { headers } = await fetch(address, { headers: { cookie }, redirect: 'manual' });
      return new URL(headers.get('location') ?? '').searchParams.get('error');
    };
    expect(await errorWith(browser.cookiesFor(address))).toBeNull();
    expect(await errorWith(before)).toBe('login_required');
  });

  it('cookies are Secure, HttpOnly and SameSite behind TLS (R-B2)', async () => {
    const behindTls = await startTestApi({ AUTH_URL: 'https://id.example' });
    try {
      await registerApp(behindTls.database);
      const { headers } = await fetch(startAuthorization(behindTls.origin).address, { redirect: 'manual' });
      expect(headers.get('location')).toMatch(/^https:\/\/id\.example\/realms\/tidemark\/interaction\//);
      expect(headers.getSetCookie().length).toBeGreaterThan(0);
      for (const line of headers.getSetCookie()) {
        expect(line).toMatch(/; secure/i);
        expect(line).toMatch(/; httponly/i);
        expect(line).toMatch(/; samesite=lax/i);
      }
    } finally {
      await behindTls.close();
    }
  });
});

describe('identity: a wrong password', () => {
  it('the SQL statements are the same for an existing, an unknown and a blocked user (R-B11)', async () => {
    await addPerson(api, 'known');
    const work = async (userName: string) => {
      const statements: string[] = [];
      const database: Queryable = {
        query: (...args: Parameters<Queryable['query']>) => {
          statements.push(String(args[0]));
          return api.database.query(...args);
        },
      } as Queryable;
      const policy = { maxFailures: 2, lockSec: 900, proxyHops: 0 };
      const credentials = { userName, password: 'x', network: '192.0.2.1' };
      expect((await signInByPassword(database, credentials, policy, systemClock)).kind).toBe('wrong_credentials');
      return statements;
    };
    const known = await work('known');
    expect(known).toHaveLength(2);
    expect(await work('nobody')).toEqual(known);
    await work('known');
    expect(await work('known')).toEqual(known);
  });
});

describe('identity: a stolen refresh token', () => {
  it('reuse of a refresh token of a public client is detected and revokes the grant (R-B3)', async () => {
    const { page, verifier } = await signIn('uma');
    const { body } = await exchangeCode(api.origin, page.url, verifier);
    const refresh = (token: unknown) =>
      postToken(api.origin, { grant_type: 'refresh_token', client_id: 'app', refresh_token: String(token) });
    const rotated = await refresh(body.refresh_token);
    expect(rotated.body.refresh_token).not.toBe(body.refresh_token);
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(rotated.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('a refresh token is refused when another client sends it (R-B3)', async () => {
    const { page, verifier } = await signIn('uma');
    const { body } = await exchangeCode(api.origin, page.url, verifier);
    const other = { client_id: 'demo', client_secret: 's3cret', refresh_token: String(body.refresh_token) };
    expect((await postToken(api.origin, { grant_type: 'refresh_token', ...other })).body.error).toBe('invalid_grant');
  });
});

describe('identity: emails', () => {
  it('line breaks in names add neither headers nor recipients to an email (R-B10)', async () => {
    const injected = 'North\r\nBcc: spy@evil.example\r\nX-Spy: 1';
    await api.manager.put('/account', { name: injected, emailSettings: { senderName: injected } });
    await api.manager.post('/account/invitations', { email: 'ines@north.example', firstName: injected });
    const mail = await mailbox.next('ines@north.example');
    expect(mail.receivers).toEqual(['ines@north.example']);
    const names = mail.headers.map(({ key }) => key);
    expect(names).not.toContain('bcc');
    expect(names).not.toContain('x-spy');
    await api.manager.put('/account', { name: 'North', emailSettings: { senderName: null } });
  });

  it.each(['a@x.example, spy@evil.example', 'a@x.example\r\nBcc: spy@evil.example', '<spy@evil.example>'])(
    '%j is refused as the address of a recipient and as a reply-to address (R-A5)',
    async (email) => {
      expect((await api.manager.post('/account/invitations', { email })).status).toBe(400);
      expect((await api.manager.put('/account', { emailSettings: { replyTo: email } })).status).toBe(400);
    },
  );
});

describe('identity: requesting a new password', () => {
  const ask = async (username: string) => {
    const browser = createBrowser();
    const page = await browser.open(`${api.origin}/realms/tidemark/forgot-password`);
    return (await browser.submit(page, { username })).html;
  };
  const mailsTo = async (userName: string) => {
    const { rows } = await api.database.query(`select from mail where kind = 'password_reset' and user_id = $1`, [
      await userIdOf(api, userName),
    ]);
    return rows.length;
  };

  it('the answer is the same for existing and unknown users (R-B11)', async () => {
    const answer = await ask('uma');
    expect(answer).toContain('If this user exists');
    expect(await ask('nobody')).toBe(answer);
  });

  it('the owner of an address gets a link by email, even when the address is the user name of another user (R-B11)', async () => {
    await addPerson(api, 'olga', { email: 'olga@north.example' });
    await addPerson(api, 'olga@north.example', { email: 'spy@evil.example' });
    await ask('olga@north.example');
    expect(linkIn(await mailbox.next('olga@north.example'))).toContain('/reset-password?token=');
    expect(linkIn(await mailbox.next('spy@evil.example'))).toContain('/reset-password?token=');
  });

  it('at most three emails to a user are queued within 15 minutes (R-B11, R-B15)', async () => {
    await addPerson(api, 'busy', { email: 'busy@north.example' });
    const answer = await ask('busy');
    for (let count = 1; count < 5; count++) expect(await ask('busy')).toBe(answer);
    expect(await mailsTo('busy')).toBe(3);
    const age = (minutes: number) =>
      api.database.query(`update mail set created_date = created_date - $1 * interval '1 minute'`, [minutes]);
    await age(14);
    await ask('busy');
    expect(await mailsTo('busy')).toBe(3);
    await age(2);
    await ask('busy');
    expect(await mailsTo('busy')).toBe(4);
  });
});

describe('identity: the log of requests', () => {
  it('the log contains no token that a request has in its query or in a header (R-K4)', async () => {
    let written = '';
    const log = pino(
      new Writable({
        write: (chunk, _encoding, done) => {
          written += String(chunk);
          done();
        },
      }),
    );
    const app = new Hono().use('*', requestId(), requestLog(log)).get('*', (c) => c.text('ok'));
    const headers = { authorization: 'Bearer s3cr3t' };
    await app.request('/account/invitation?token=s3cr3t', { headers });
    await app.request('/realms/tidemark/reset-password?token=s3cr3t', { headers });
    expect(written).toContain('/realms/tidemark/reset-password');
    expect(written).not.toContain('s3cr3t');
  });
});
