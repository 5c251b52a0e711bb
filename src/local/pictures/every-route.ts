/**
 * Takes pictures of every route of the console with the data of the demo. People use the pictures to check the layout;
 * the pictures are not committed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';

const SCHEMES = ['light', 'dark'] as const;
const LOCALES = ['en-GB', 'de-DE'] as const;
const SIZES = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
] as const;
/**
 * Time, in milliseconds, that a route gets to read and draw its data. The time is fixed, because a wait for an idle
 * network would never end on the page of a variable, where a connection stays open.
 */
const SETTLE_MS = 1500;

/** Left side of the comparison of versions; the right side is the latest version. */
const FORECAST = 'label:week-ahead-forecast';

/** A route to photograph; `name` becomes the name of the file. */
interface Route {
  readonly name: string;
  readonly path: string;
}

type SignIn = (page: Page) => Promise<void>;

/**
 * Takes the pictures. Prints the path of each picture, with a note when the page is wider than its window.
 * @param signIn function that opens the console and signs in.
 * @param directory folder for the pictures; it gets a subfolder for each combination of size, scheme and language.
 */
export async function takeEveryRoute(browser: Browser, signIn: SignIn, directory: string): Promise<void> {
  const first = await browser.newContext();
  const page = await first.newPage();
  await signIn(page);
  const routes = await listRoutes(page);
  const storageState = await first.storageState();
  const origin = new URL(page.url()).origin;
  // Takes the pictures for all languages in parallel, because most of the time is spent waiting until pages are drawn.
  await Promise.all(
    LOCALES.map(async (locale) => {
      for (const colorScheme of SCHEMES) {
        for (const viewport of SIZES) {
          const options = { locale, colorScheme, viewport, storageState, reducedMotion: 'reduce' } as const;
          const context = await browser.newContext(options);
          const folder = join(directory, `${viewport.width}-${colorScheme}-${locale.slice(0, 2)}`);
          await takeRoutes(context, origin, routes, folder);
          await context.close();
        }
      }
    }),
  );
  await first.close();
}

async function takeRoutes(
  context: BrowserContext,
  origin: string,
  routes: readonly Route[],
  folder: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const page = await context.newPage();
  for (const { name, path } of routes) {
    await page.goto(origin + path);
    await page.locator('main h1, main [role=alert]').first().waitFor();
    await page.waitForTimeout(SETTLE_MS);
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file, fullPage: true });
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    process.stdout.write(`${file}${isTooWide ? ' (the page is wider than the window)' : ''}\n`);
  }
}

/**
 * Lists the routes to photograph. Takes the URLs of the demo's objects, such as a source or a webhook, from links in
 * the console.
 */
async function listRoutes(page: Page): Promise<readonly Route[]> {
  const origin = new URL(page.url()).origin;
  await page.goto(`${origin}/console/find?q=Daily`);
  const peak = await addressOf(page, 'main a[href*="/console/variables/"]:not([href$="new"])');
  await page.goto(origin + peak);
  const source = await addressOf(page, 'main a[href*="/console/sources/"]');
  const site = await addressOf(page, 'main a[href*="/console/sites/"]');
  await page.goto(`${origin}${peak}/runs`);
  const run = await addressOf(page, 'main a[href*="/console/runs/"]');
  const [data, people, settings] = ['/console/data', '/console/people', '/console/settings'];
  const first: Record<string, string> = {};
  for (const [name, path, parameter] of [
    ['user', people, 'user'],
    ['storedMapper', `${data}?tab=mappers`, 'mapper'],
    ['storedWebhook', '/console/webhooks', 'webhook'],
    ['storedForm', `${settings}?tab=forms`, 'form'],
    ['push', `${data}?tab=pushes`, 'label'],
    ['file', data, 'file'],
  ] as const) {
    await page.goto(origin + path);
    await page.locator('main h1').waitFor();
    await page.waitForTimeout(SETTLE_MS);
    const link = page.locator(`main section a[href*="${parameter}="]`).first();
    // If the demo has no object of this kind, the route of this kind is left out.
    if ((await link.count()) > 0) first[name] = (await link.getAttribute('href')) ?? '/';
  }
  return Object.entries({
    home: '/',
    find: '/console/find',
    results: '/console/find?q=demand',
    ...{ site, newSource: `${site}/new-source`, newSite: '/console/sites/new' },
    ...{ source, newVariable: `${source}/new-variable` },
    ...{
      variable: peak,
      known: `${peak}?v=known`,
      labels: `${peak}?v=labels`,
      compare: `${peak}?v=compare&left=${FORECAST}`,
    },
    properties: `${peak}/properties`,
    ...{ script: `${peak}/script`, runs: `${peak}/runs`, run, newCalculated: '/console/variables/new' },
    ...{ files: data, structure: `${data}?tab=structure`, pushes: `${data}?tab=pushes` },
    ...{ mappers: `${data}?tab=mappers`, mapper: `${data}?tab=mappers&mapper=new` },
    ...{ webhooks: '/console/webhooks', webhook: '/console/webhooks?webhook=new' },
    ...{ users: people, newUser: `${people}?user=new`, invitations: `${people}?tab=invitations` },
    ...{
      audit: `${people}?tab=audit`,
      clients: `${people}?tab=clients`,
      newClient: `${people}?tab=clients&client=new`,
    },
    ...{ account: settings, forms: `${settings}?tab=forms`, form: `${settings}?tab=forms&form=new` },
    ...{ catalogues: `${settings}?tab=catalogues`, retention: `${settings}?tab=retention` },
    ...first,
    ...{ operate: '/console/operate', missing: '/console/no-such-page' },
  }).map(([name, path]) => ({ name, path }));
}

async function addressOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().getAttribute('href')) ?? '/';
}
