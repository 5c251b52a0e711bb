/**
 * Tests the page `/docs`, over HTTP and in a real browser. With SCREENSHOTS=1 in the environment, the tests write
 * screenshots to `.local/screenshots`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '../../../src/roles/api-description.ts';
import { type Chromium, findChromium, startChromium } from '../../support/browser/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const program = findChromium();
const SCREENSHOTS = new URL('../../../.local/screenshots/', import.meta.url).pathname;
const KEEPS_SCREENSHOTS = process.env.SCREENSHOTS === '1';
const DESKTOP = { width: 1280, height: 800, scheme: 'light' } as const;
const PHONE = { width: 360, height: 640, scheme: 'light' } as const;

let api: TestApi;
let chromium: Chromium;
beforeAll(async () => {
  api = await startTestApi();
  if (program !== undefined) chromium = await startChromium(program, { isScripted: true });
});
afterAll(async () => {
  await chromium?.close();
  await api?.close();
});

/** The files of the page. A file is given by what follows `/docs` in its URL. */
const FILES = [
  ...[
    '',
    '/swagger-ui.css',
    '/swagger-ui-bundle.js',
    '/docs-script.mjs',
    '/oauth2-redirect.html',
    '/oauth2-redirect.js',
  ],
];
const docs = (part = '') => `${api.origin}/docs${part}`;

describe('docs: the files of the page', () => {
  it('are served with a Content-Security-Policy that names only the origin of the service (R-A9)', async () => {
    for (const name of FILES) {
      const response = await fetch(docs(name));
      await response.text();
      const policy = response.headers.get('content-security-policy') ?? '';
      expect([name, response.status]).toEqual([name, 200]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      const origins = [...policy.matchAll(/https?:[^ ;]+/g)].map(([origin]) => origin);
      expect(new Set(origins)).toEqual(new Set([api.origin]));
    }
  });

  it('are not sent again when If-None-Match is their ETag: the answer is 304 without a body (R-A9)', async () => {
    for (const name of FILES) {
      const first = await fetch(docs(name));
      await first.text();
      const again = await fetch(docs(name), { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
      expect([name, again.status, await again.text()]).toEqual([name, 304, '']);
    }
  });

  it('are served only under their own names, with or without a trailing slash; a request for any other name under /docs gets 404 (R-A5)', async () => {
    for (const name of ['/package.json', '/index.html/', '/..%2fpackage.json', '/constructor', '/swagger-ui.js']) {
      const response = await fetch(docs(name));
      await response.text();
      expect([name, response.status]).toEqual([name, name === '/index.html/' ? 200 : 404]);
    }
  });
});

describe.skipIf(program === undefined)(
  'docs: the page in Chromium (skipped if Chromium is missing: apt-get install chromium-headless-shell)',
  () => {
    it('shows every operation, and is no wider than the window of a desktop or a phone (R-A9)', async () => {
      const { tab } = chromium;
      await tab.setLayout(DESKTOP);
      await tab.open(docs());
      const ids = describeApi(api.parts.config).operations.map(
        ({ tag, operationId }) => `operations-${tag}-${operationId}`,
      );
      await tab.untilText(`id="${ids[0]}"`);
      expect(await tab.overflow()).toBe(0);
      await keepScreenshot('docs-top');
      // With 150 operations or more, the page contains only the operations in and near its visible part, so the test
      // scrolls through the whole page.
      const missing = new Set(ids);
      await eventually('every operation', async () => {
        const html = await tab.html();
        for (const id of missing) if (html.includes(`id="${id}"`)) missing.delete(id);
        if (missing.size > 0) await tab.scrollBy(400);
        return missing.size === 0;
      });
      await tab.setLayout(PHONE);
      expect(await tab.overflow()).toBe(0);
      await keepScreenshot('docs-phone');
    });

    it('opens the operation that the URL names (R-A9)', async () => {
      const { tab } = chromium;
      await tab.setLayout(DESKTOP);
      await tab.open(docs('?linked#/Points/readPoints'));
      await eventually('the operation is open', async () =>
        /class="opblock[^"]*is-open"[^>]*id="operations-Points-readPoints"/.test(await tab.html()),
      );
      await tab.untilText('relativeVersion');
      await keepScreenshot('docs-linked');
    });

    it('shows the error of an operation tried without a token, and the result of the same operation after a sign-in (R-A5, R-A9, R-B3)', async () => {
      const { tab } = chromium;
      await api.manager.post('/sites', { name: 'A site to be found' });
      await tab.open(docs('?tried#/Sites/listSites'));
      await pressIn('#operations-Sites-listSites .try-out__btn');
      await pressIn('#operations-Sites-listSites .execute');
      await tab.untilText('invalid_token');
      await pressIn('.auth-wrapper .authorize');
      const fields = {
        '#oauth_username': 'max',
        '#oauth_password': PASSWORD,
        '#client_id_password': 'demo',
        '#client_secret_password': 's3cret',
      };
      for (const [selector, value] of Object.entries(fields)) {
        await untilFocused(selector);
        await tab.typeHere(value);
      }
      await keepScreenshot('docs-authorize');
      await pressIn('.auth-btn-wrapper .authorize');
      await tab.untilText('Logout');
      await pressIn('.auth-btn-wrapper .btn-done');
      await untilScrolledTo('#operations-Sites-listSites .execute');
      await pressIn('#operations-Sites-listSites .execute');
      await tab.untilText('A site to be found');
      await keepScreenshot('docs-tried');
    });

    it('requests nothing from other origins, and logs no error except the 401 of a call without a token (R-A9)', () => {
      const origins = new Set(chromium.requests.map((address) => new URL(address).origin));
      expect([...origins].filter((origin) => origin !== 'null')).toEqual([api.origin]);
      // Ignores Chromium's advice on forms, and the 401 of the call without a token.
      const refused = /"source":"network".*401|"source":"recommendation"|"code":"GenericIssue"/;
      expect(chromium.tab.complaints.filter((text) => !refused.test(text))).toEqual([]);
    });
  },
);

/** Waits until the page contains the element of `selector`, and focuses the element. */
async function untilFocused(selector: string): Promise<void> {
  const focus = () =>
    chromium.tab.focusOn(selector).then(
      () => true,
      () => false,
    );
  await eventually(selector, focus);
}

/** Scrolls down from the top until the page contains the element of `selector`, and focuses the element. */
async function untilScrolledTo(selector: string): Promise<void> {
  const { tab } = chromium;
  await tab.scrollBy(-100_000);
  await eventually(`${selector} in the list`, async () => {
    const isThere = await tab.focusOn(selector).then(
      () => true,
      () => false,
    );
    if (!isThere) await tab.scrollBy(300);
    return isThere;
  });
}

async function pressIn(selector: string): Promise<void> {
  await untilFocused(selector);
  await chromium.tab.press('Enter');
}

async function keepScreenshot(name: string): Promise<void> {
  if (!KEEPS_SCREENSHOTS) return;
  await mkdir(SCREENSHOTS, { recursive: true });
  await writeFile(join(SCREENSHOTS, `${name}.png`), await chromium.tab.screenshot());
}
