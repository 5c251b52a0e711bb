/**
 * The identity pages in Chromium with scripts disabled: content security policy, cookies, forms and accessibility tree.
 * SCREENSHOTS=1 writes pictures of every page to `.local/screenshots`: in every language, on a narrow and a wide
 * screen, in light and dark colours.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_TEXTS } from '../../../src/identity/pages/texts/page-texts.ts';
import { type Chromium, findChromium, startChromium } from '../../support/browser/chromium.ts';
import type { Screen, Tab } from '../../support/browser/chromium-tab.ts';
import { exchangeCode, startAuthorization } from '../../support/clients/authorization.ts';
import { createTestClient, requestToken } from '../../support/clients/test-client.ts';
import { linkIn, type Mailbox, openMailbox, passwordIn } from '../../support/doubles/mailbox.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { addPerson, userIdOf } from '../../support/fixtures/people.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const program = findChromium();
const FIRST = 'a few words together';
const SECOND = 'quite other words together';
const THIRD = 'words from the linked page';
const SCREENSHOTS = new URL('../../../.local/screenshots/', import.meta.url).pathname;
const KEEPS_SCREENSHOTS = process.env.SCREENSHOTS === '1';

const PHONE = { width: 360, height: 640 };
const DESKTOP = { width: 1280, height: 800 };
const SCREENS: readonly Screen[] = [
  { ...PHONE, scheme: 'light' },
  { ...DESKTOP, scheme: 'dark' },
];
const ALL_SCREENS: readonly Screen[] = [...SCREENS, { ...PHONE, scheme: 'dark' }, { ...DESKTOP, scheme: 'light' }];

/** Issues and log entries about the page itself, not about the network (statuses 400 and 401) or a slow machine. */
const ABOUT_A_PAGE =
  /"code":"(ContentSecurityPolicy|Generic|MixedContent|QuirksMode|Cookie)Issue"|"source":"(security|violation|rendering|javascript|deprecation)"/;

/**
 * Log entries to ignore: entries about a missing icon, and entries about autofocus that was blocked because the test
 * had already focused a field.
 */
const HARMLESS = /favicon|Autofocus processing was blocked because a document already has a focused element/;

let api: TestApi;
let mailbox: Mailbox;
let chromium: Chromium;
let app: Server;
let callback: string;
let profile: string;
let tab: Tab;

beforeAll(async () => {
  if (program === undefined) return;
  mailbox = await openMailbox();
  // The client has its own origin. Browsers refuse the redirect from a form to this origin unless `form-action` allows
  // it.
  app = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!DOCTYPE html><title>App</title><h1>The App</h1>');
  });
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  const appOrigin = `http://localhost:${(app.address() as AddressInfo).port}`;
  [callback, profile] = [`${appOrigin}/callback`, `${appOrigin}/profile`];
  api = await startTestApi({ SMTP_URL: mailbox.url, RETURN_URLS: profile });
  await api.database.query(
    `insert into oidc_client (client_id, name, allowed_scopes, grant_types, redirect_uris)
     values ('app', 'The App', $1, $2, $3)`,
    [['datahub-api'], ['authorization_code'], [callback]],
  );
  chromium = await startChromium(program);
  tab = chromium.tab;
});
afterAll(async () => {
  await chromium?.close();
  await api?.close();
  await mailbox?.close();
  await new Promise<void>((resolve) => (app ? app.close(() => resolve()) : resolve()));
});

/** Waits until the named element has the focus: a page may already show its title before it focuses a field. */
const untilFocused = (name: string) => eventually(`the focus on "${name}"`, async () => (await tab.focused()) === name);

const realm = (path: string) => `${api.origin}/realms/tidemark${path}`;
const authorization = (parameters = {}) =>
  startAuthorization(api.origin, { redirect_uri: callback, scope: 'openid datahub-api', ...parameters });

async function tokenOf(username: string, password: string): Promise<string> {
  const client = { client_id: 'demo', client_secret: 's3cret', scope: 'datahub-api' };
  return requestToken(api.origin, { grant_type: 'password', ...client, username, password });
}

/**
 * Checks that the contrast is sufficient and that the page does not overflow sideways: on a phone in the light scheme,
 * and on a desktop in the dark scheme.
 */
async function checkLayout(name: string): Promise<void> {
  for (const layout of SCREENS) {
    await tab.setLayout(layout);
    const where = `${name} at ${layout.width} ${layout.scheme}`;
    expect(await tab.overflow(), where).toBe(0);
    expect(await tab.lowContrast(), where).toEqual([]);
  }
  if (KEEPS_SCREENSHOTS) for (const layout of ALL_SCREENS) await keepScreenshot(name, layout);
}

async function keepScreenshot(name: string, layout: Screen): Promise<void> {
  await tab.setLayout({ ...layout, isWholePage: true });
  await mkdir(SCREENSHOTS, { recursive: true });
  await writeFile(join(SCREENSHOTS, `${name}-${layout.width}-${layout.scheme}.png`), await tab.screenshot());
}

describe.skipIf(program === undefined)(
  'identity pages in Chromium (skipped if Chromium is missing: apt-get install chromium-headless-shell)',
  () => {
    describe.each(['en', 'fr', 'nl', 'de'] as const)('in the language %s', (language) => {
      const texts = PAGE_TEXTS[language];
      const email = `ines-maria.van-den-bossche-${language}@north-energy-services.example`;
      const shot = (name: string) => checkLayout(`${language}-${name}`);
      beforeAll(() => tab.speak(language));

      it('without scripts, an invited user signs in with the mailed password and chooses a new password (§3, R-B2, R-B10)', async () => {
        await api.manager.post('/account/invitations', { email, language });
        await tab.open(linkIn(await mailbox.next(email)));
        await tab.untilText(texts.acceptInvitation);
        await shot('invitation');
        await tab.pressButton();
        await tab.untilText(texts.invitationDone);
        await shot('invitation-accepted');
        const credentials = await mailbox.next(email, 2);
        await tab.open(linkIn(credentials));
        await tab.untilTitle(texts.signInTitle);
        await shot('sign-in');
        await tab.type('username', email);
        await tab.type('password', 'wrong');
        await tab.press('Enter');
        await tab.untilText(texts.wrongCredentials);
        await shot('wrong-password');
        await tab.type('password', passwordIn(credentials));
        await tab.press('Enter');
        await tab.untilTitle(texts.firstTitle);
        await shot('first-password');
        await choose('short', 'short');
        await tab.untilText(texts.tooShort.replace('{min}', '10'));
        await shot('first-password-too-short');
        await choose(FIRST, FIRST);
        await tab.untilTitle(texts.signedInTitle);
        await shot('signed-in');
      });

      it('a password change more than five minutes after the sign-in requires the current password (§5, R-B13)', async () => {
        await openChange(FIRST);
        await tab.untilTitle(texts.changeTitle);
        await shot('change-password');
        await api.database.query(
          `update oidc_payload set payload = payload || jsonb_build_object('loginTs', (payload ->> 'loginTs')::int - 301)
           where model = 'Session'`,
        );
        await openChange(FIRST);
        await tab.untilText(texts.currentPassword);
        await shot('change-password-with-current');
        await tab.type('currentPassword', 'wrong');
        await choose(SECOND, SECOND);
        await tab.untilText(texts.wrongPassword);
        await shot('change-password-wrong');
        await tab.type('currentPassword', FIRST);
        await choose(SECOND, SECOND);
        await tab.untilAddress(profile);
      });

      it('a forgotten password is reset through a link that works once (R-B11)', async () => {
        await tab.open(realm('/forgot-password'));
        await tab.untilTitle(texts.forgotTitle);
        await shot('reset');
        await tab.type('username', email);
        await tab.press('Enter');
        await tab.untilText(texts.forgotDone);
        await shot('reset-asked');
        const link = linkIn(await mailbox.next(email, 4));
        await tab.open(link);
        await tab.untilText(texts.repeatedPassword);
        await shot('reset-by-link');
        await choose(THIRD, SECOND);
        await tab.untilText(texts.different);
        await shot('reset-by-link-different');
        await choose(THIRD, THIRD);
        await tab.untilTitle(texts.resetDoneTitle);
        await shot('reset-done');
        await tab.open(link);
        await tab.untilTitle(texts.expiredTitle);
        await tab.untilText(texts.askAgain);
        await shot('expired');
      });

      it('sign-out asks for confirmation, and the sign-in tells a locked user about the lock (R-B2, R-B11)', async () => {
        await tab.open(authorization({ prompt: 'login' }).address);
        await tab.untilTitle(texts.signInTitle);
        await tab.type('username', email);
        await tab.type('password', THIRD);
        await tab.press('Enter');
        await tab.untilAddress(callback);
        await tab.open(realm('/protocol/openid-connect/logout'));
        await tab.untilTitle(texts.signOutTitle);
        await shot('sign-out');
        await tab.pressButton();
        await tab.untilTitle(texts.signedOutTitle);
        await shot('signed-out');
        await api.manager.post(`/account/user/${await userIdOf(api, email)}/lock`, { isLocked: true });
        await tab.open(authorization().address);
        await tab.untilTitle(texts.signInTitle);
        await tab.type('username', email);
        await tab.type('password', THIRD);
        await tab.press('Enter');
        await tab.untilText(texts.locked);
        await shot('locked');
      });

      it('an invalid authorization request and an unknown address show an error page (R-B2)', async () => {
        await tab.open(authorization({ redirect_uri: 'https://elsewhere.example/' }).address);
        await tab.untilTitle(texts.failedTitle);
        await shot('error');
        await tab.open(realm('/nowhere'));
        await tab.untilTitle(texts.missingTitle);
        await shot('missing');
      });

      async function choose(password: string, repeated: string): Promise<void> {
        await tab.type('newPassword', password);
        await tab.type('repeatedPassword', repeated);
        await tab.press('Enter');
      }

      async function openChange(password: string): Promise<void> {
        const client = createTestClient(api.origin, await tokenOf(email, password));
        const { body } = await client.get<{ link: string }>('/user/updatePasswordLink');
        await tab.open(body.link);
      }
    });

    describe('by keyboard and for a screen reader', () => {
      const texts = PAGE_TEXTS.en;
      beforeAll(async () => {
        await tab.speak('en');
        await tab.setLayout({ ...DESKTOP, scheme: 'light' });
        await addPerson(api, 'kay');
      });

      it('sign-in focuses the first field and works with Tab and Enter alone (R-B2)', async () => {
        const { address, verifier } = authorization({ prompt: 'login' });
        await tab.open(address);
        await tab.untilTitle(texts.signInTitle);
        await untilFocused(texts.userName);
        await tab.typeHere('kay');
        await tab.press('Tab');
        await untilFocused(texts.password);
        await tab.typeHere(PASSWORD);
        await tab.press('Tab');
        await untilFocused(texts.signIn);
        await tab.press('Enter');
        // The page's content security policy lets its form redirect the browser to the client at another origin.
        const came = await tab.untilAddress(`${callback}?code=`);
        const { status } = await exchangeCode(api.origin, came, verifier, { redirect_uri: callback });
        expect(status).toBe(200);
      });

      it('an error is announced as an alert, and is the accessible description of both fields (R-B2)', async () => {
        await tab.open(authorization({ prompt: 'login' }).address);
        await tab.untilTitle(texts.signInTitle);
        expect(await tab.accessible('alert')).toEqual([]);
        const calm = { description: '', isInvalid: false };
        expect(await tab.accessible('textbox')).toEqual([
          { name: texts.userName, ...calm },
          { name: texts.password, ...calm },
        ]);
        expect((await tab.accessible('button')).map(({ name }) => name)).toEqual([texts.signIn]);
        await tab.type('username', 'kay');
        await tab.type('password', 'wrong');
        await tab.press('Enter');
        await tab.untilText(texts.wrongCredentials);
        expect(await tab.accessible('alert')).toHaveLength(1);
        const wrong = { description: texts.wrongCredentials, isInvalid: true };
        expect(await tab.accessible('textbox')).toEqual([
          { name: texts.userName, ...wrong },
          { name: texts.password, ...wrong },
        ]);
        await untilFocused(texts.password);
      });

      it('both buttons of the sign-out page have a name (R-B2)', async () => {
        await tab.open(realm('/protocol/openid-connect/logout'));
        await tab.untilTitle(texts.signOutTitle);
        const names = (await tab.accessible('button')).map(({ name }) => name);
        expect(names).toEqual([texts.signOut, texts.staySignedIn]);
      });
    });

    it('Chromium reports no violation of the content security policy and no field without a label (R-B2)', () => {
      const complaints = tab.complaints.filter((text) => ABOUT_A_PAGE.test(text) && !HARMLESS.test(text));
      expect(complaints).toEqual([]);
    });
  },
);
