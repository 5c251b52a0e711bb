/**
 * `/docs` in a real browser: what it shows with and without its script, whom it asks, and how it is used by keyboard. With
 * SCREENSHOTS=1 in the environment, pictures are left in `.local/screenshots` for people to look at.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '../../../src/roles/api-description.ts';
import { type Chromium, findChromium, startChromium } from '../../support/browser/chromium.ts';
import type { Looks } from '../../support/browser/chromium-tab.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const program = findChromium();
const SCREENSHOTS = new URL('../../../.local/screenshots/', import.meta.url).pathname;
const KEEPS_SCREENSHOTS = process.env.SCREENSHOTS === '1';

const PHONE = { width: 360, height: 640 };
const DESKTOP = { width: 1280, height: 800 };
const LOOKS: readonly Looks[] = [PHONE, DESKTOP].flatMap((size) => [
  { ...size, scheme: 'light' },
  { ...size, scheme: 'dark' },
]);
/** Every kind of text there is, in what is open. */
const TEXTS =
  'h1, h2, nav a, main > p, main > p code, #tools label, #tools input, [open] > summary *, [open] h4, [open] li *, [open] pre, [open] label, [open] button';

let api: TestApi;
let chromium: Chromium;
let plain: Chromium;
beforeAll(async () => {
  if (program === undefined) return;
  api = await startTestApi();
  chromium = await startChromium(program, { isScripted: true });
  plain = await startChromium(program);
});
afterAll(async () => {
  await chromium?.close();
  await plain?.close();
  await api?.close();
});

const docs = (part = '') => `${api.origin}/docs${part}`;
const idsIn = (html: string) => [...html.matchAll(/<details class="operation" id="op-(\w+)"/g)].map(([, id]) => id);

describe.skipIf(program === undefined)(
  'the description for people (skipped without a browser: apt-get install chromium)',
  () => {
    it('lists every operation also without a script (R-A9)', async () => {
      await plain.tab.open(docs());
      const ids = describeApi(api.parts.config).operations.map(({ operationId }) => operationId);
      // The page is long: it may be there in part.
      await eventually('the whole list', async () => idsIn(await plain.tab.html()).length >= ids.length);
      expect(idsIn(await plain.tab.html()).sort()).toEqual([...ids].sort());
      expect(await plain.tab.html()).toContain('id="tools" hidden');
    });

    it('opens what the address points to, and can be read in every width and scheme (R-A9)', async () => {
      const { tab } = chromium;
      await tab.open(docs('#op-readPoints'));
      await eventually('the operation is open', async () => /id="op-readPoints"[^>]* open/.test(await tab.html()));
      await untilFocused('#op-readPoints button');
      for (const looks of LOOKS) {
        await tab.look(looks);
        const where = `${looks.width} ${looks.scheme}`;
        expect(await tab.overflow(), where).toBe(0);
        expect(await tab.lowContrast(TEXTS), where).toEqual([]);
        if (KEEPS_SCREENSHOTS) await keepScreenshot(`docs-${looks.width}-${looks.scheme}`);
      }
    });

    it('is searched and tried by keyboard, and tells the answer (R-A9)', async () => {
      const { tab } = chromium;
      await tab.look({ ...DESKTOP, scheme: 'light' });
      await api.manager.post('/sites', { name: 'A site to be found' });
      // The script shows the filter; an address of its own makes it another page.
      await tab.open(docs('?tried'));
      await untilFocused('#filter');
      if (KEEPS_SCREENSHOTS) await keepScreenshot('docs-top');
      await tab.type('filter', 'list /sites');
      await tab.untilText('1 operation found');
      await tab.type('token', api.manager.token ?? '');
      await pressIn('#op-listSites summary');
      await pressIn('#op-listSites button');
      await tab.untilText('"name": "A site to be found"');
      await tab.untilText('200 /sites');
      if (KEEPS_SCREENSHOTS) await keepScreenshot('docs-tried');
    });

    it('gets the token to go on with (R-B3)', async () => {
      const { tab } = chromium;
      await tab.open(docs('?token#op-requestToken'));
      const form = '#op-requestToken form';
      await untilFocused(`${form} [name=client_id]`);
      const fields = { client_id: 'demo', client_secret: 's3cret', username: 'max', password: PASSWORD };
      for (const [name, value] of Object.entries(fields)) {
        await tab.focusOn(`${form} [name=${name}]`);
        await tab.typeHere(value);
      }
      await tab.press('Enter');
      await tab.untilText('200 /realms/tidemark/protocol/openid-connect/token');
      await tab.type('filter', 'get /account/mappers list');
      await pressIn('#op-listMappers summary');
      await pressIn('#op-listMappers button');
      await tab.untilText('200 /account/mappers');
    });

    it('shows what an operation refuses (R-A5)', async () => {
      const { tab } = chromium;
      // Another page, which has no token.
      await tab.open(docs('?#op-createSite'));
      await pressIn('#op-createSite button');
      await tab.untilText('"code": "invalid_token"');
    });

    it('asks nobody but this service, and nothing is complained of but the refusal (R-A9)', () => {
      const origins = new Set([...chromium.requests, ...plain.requests].map((address) => new URL(address).origin));
      expect([...origins].filter((origin) => origin !== 'null')).toEqual([api.origin]);
      const refused = /"source":"network".*401|"source":"recommendation"/;
      expect([...chromium.tab.complaints, ...plain.tab.complaints].filter((text) => !refused.test(text))).toEqual([]);
    });
  },
);

/** Puts the cursor there as soon as that can be. */
async function untilFocused(selector: string): Promise<void> {
  const focus = () =>
    chromium.tab.focusOn(selector).then(
      () => true,
      () => false,
    );
  await eventually(selector, focus);
}

async function pressIn(selector: string): Promise<void> {
  await untilFocused(selector);
  await chromium.tab.press('Enter');
}

async function keepScreenshot(name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  await writeFile(join(SCREENSHOTS, `${name}.png`), await chromium.tab.screenshot());
}
