/**
 * Uses the console in Chromium as people do, while the product's own processes serve it. The tests sign in, and use the
 * page Home, the page Find and the page of a variable with its versions. Then they open every route in every role. For
 * ADMIN, axe-core also checks every route.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADMIN,
  type ConsoleStack,
  type ConsoleWindow,
  openConsoleStack,
  USER,
} from '../../support/console/console-stack.ts';
import { findObstacles } from '../../support/console/find-obstacles.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';

const NAME = '<img src=x onerror=alert(1)> Energy';
const QUARTER_MS = 900_000;
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const QUARTERS = 96;
/** Time-out of a walk over all routes. */
const WALK_MS = 120_000;

let stack: ConsoleStack;
let siteId: number;
let sourceId: number;
let variableId: number;
let doubledId: number;
let runId: number;
beforeAll(async () => {
  stack = await openConsoleStack();
  ({ siteId, sourceId } = await createSiteAndSource(stack.manager));
  const quarterly = { granularity: 15, granularityTimeBase: 'Minute', isVersioned: true };
  variableId = await createVariable(stack.manager, sourceId, { name: NAME, mappingConfig: 'energy', ...quarterly });
  const script =
    'ts <- inputVariables$energy$TimeSeries\nlist(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))';
  const input = { alias: 'energy', variableId, periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day' };
  const declared = calculated(script, [{ ...input, canBeUsedAsATrigger: true }]);
  doubledId = await createVariable(stack.manager, sourceId, { name: 'Doubled', ...quarterly, calculated: declared });
  await pushVersion('estimated', (quarter) => 100 + quarter);
  await pushVersion('measured', (quarter) => (quarter < 10 ? 200 : 100) + quarter);
  await eventually('the points computed from the measured values', async () => {
    const rows = await stack.manager.call<{ rawValue: number }[]>('GET', `/data?variableId=${doubledId}`);
    return rows[0]?.rawValue === 400;
  });
  const runs = await stack.manager.call<{ id: number }[]>('GET', `/variables/${doubledId}/runs`);
  runId = runs[0]?.id ?? 0;
}, 90_000);
afterAll(() => stack?.close());

async function pushVersion(version: string, toValue: (quarter: number) => number): Promise<void> {
  const data = Array.from({ length: QUARTERS }, (_, quarter) => ({
    date: new Date(START_MS + quarter * QUARTER_MS).toISOString(),
    value: toValue(quarter),
  }));
  await stack.manager.call('POST', '/api/data', [{ variableId, version, data }]);
  await eventually(`the points of ${version}`, async () => {
    const rows = await stack.manager.call<{ version: string }[]>(
      'GET',
      `/data?variableId=${variableId}&version=${version}`,
    );
    return rows.length === QUARTERS;
  });
}

test('console: a sign-in returns to the URL that was opened, a reload needs no password, and the browser stores no token (R-B2)', async () => {
  const { page, complaints, close } = await stack.open(USER, '/?from=a-shared-link');
  expect(page.url()).toBe(`${stack.origin}/?from=a-shared-link`);
  await page.reload();
  await page.getByRole('navigation').waitFor();
  expect(page.url()).toBe(`${stack.origin}/?from=a-shared-link`);
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
  expect(kept, 'tokens stay in memory').not.toMatch(/eyJ|access_token|refresh_token/);
  expect(complaints).toEqual([]);
  await close();
});

test('console: tabs that open at the same time are all signed in, and none ends the session of another (R-B2)', async () => {
  await (await stack.open(MANAGER)).close();
  const tabs = await Promise.all([1, 2, 3].map(() => stack.open(MANAGER)));
  const shown = () =>
    Promise.all(tabs.map(({ page }) => page.getByRole('heading', { name: 'Is my data all right?' }).waitFor()));
  await shown();
  await Promise.all(tabs.map(({ page }) => page.reload()));
  await shown();
  expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([]);
  await Promise.all(tabs.map(({ close }) => close()));
});

test('console: after a person switches accounts, the menu names the new account, and drafts of the former account are not shown (R-B4)', async () => {
  const other = await stack.world.addAccount('Elsewhere');
  await stack.world.addUser('both@example.test', { role: 'MANAGER', accountIds: [stack.world.accountId, other] });
  const { page, complaints, close } = await stack.open('both@example.test', '/console/settings');
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Draft of the former account');
  await page.getByText('Not saved yet').waitFor();
  await page.getByRole('button', { name: 'Menu of' }).click();
  await page.getByRole('menuitem', { name: 'Elsewhere' }).click();
  await page.getByRole('button', { name: 'Menu of' }).getByText('Elsewhere').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await eventually('the name of the new account', async () => (await name.inputValue()) === 'Elsewhere');
  expect(await page.getByText('Not saved yet').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('console: the language can be chosen with the keyboard alone, and the choice survives a reload', async () => {
  const { page, complaints, close } = await stack.open(USER, '/', { colorScheme: 'light' });
  const menu = page.getByRole('button', { name: 'Menu of' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Language' }).waitFor();
  // A menu moves the focus when its animation ends; a key pressed earlier would reach another item.
  const isFocused = (item: string) => async () => (await page.evaluate('document.activeElement?.textContent')) === item;
  await page.keyboard.press('ArrowDown');
  await eventually('the focus on Language', isFocused('Language'));
  await page.keyboard.press('ArrowRight');
  await eventually('the focus in the submenu', isFocused('English'));
  for (const item of ['Français', 'Deutsch', 'Nederlands']) {
    await page.keyboard.press('ArrowDown');
    await eventually(`the focus on ${item}`, isFocused(item));
  }
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Overzicht' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Overzicht' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('nl');
  expect(complaints).toEqual([]);
  await close();
});

test('console: “Sign out everywhere” signs the user out in every browser; the issuer then asks for the user name again (R-B5)', async () => {
  await stack.world.addUser('leaver@example.test', {});
  const first = await stack.open('leaver@example.test', '/', { isFresh: true });
  const second = await stack.open('leaver@example.test', '/', { isFresh: true });
  await first.page.getByRole('button', { name: 'Menu of' }).click();
  await first.page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
  await first.page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await second.page.reload();
  await second.page.getByLabel('User name').waitFor();
  await first.page.getByRole('button', { name: 'Sign in' }).click();
  await first.page.getByLabel('User name').waitFor();
  expect([...first.complaints, ...second.complaints]).toEqual([]);
  await Promise.all([first.close(), second.close()]);
});

test('console home: Home shows the rejected pushes, and links to the variables without new points', async () => {
  await stack.manager.call('POST', '/api/data?operationId=old-points', [
    { sourceSerialNumber: 'NONE', mappingConfig: 'x', data: [{ date: '2026-01-01T00:00:00Z', value: 1 }] },
  ]);
  const { page, complaints, close } = await stack.open(MANAGER);
  await page.getByRole('link', { name: '1 push with errors' }).waitFor();
  await page.getByText('old-points').waitFor();
  await page.getByRole('link', { name: '2 variables without new points' }).click();
  await page.getByRole('link', { name: NAME }).click();
  await page.getByRole('heading', { name: NAME }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/variables/${variableId}`);
  expect(complaints, 'a name is never HTML').toEqual([]);
  await close();
});

test('console home: a USER who has no sites is advised to ask a manager, and does not see how many variables lack new points (R-B9)', async () => {
  const { page, complaints, close } = await stack.open(USER);
  await page.getByRole('heading', { name: 'No variables yet' }).waitFor();
  await page.getByText('A manager can create variables, or give you access to a site.').waitFor();
  expect(await page.getByRole('link', { name: 'See how to create them' }).count()).toBe(0);
  expect(await page.getByText('without new points').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('console find: the tree can be opened with the keyboard alone, Enter shows the selected variable, and going back shows the tree still open', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/find');
  await page.locator('[role=treeitem][id^=site-]').waitFor();
  await page.getByRole('tree').focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('[role=treeitem][id^=source-]').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('treeitem', { level: 3, name: NAME }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: NAME }).waitFor();
  await page.goBack();
  await page.getByRole('treeitem', { level: 3, name: NAME }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console find: words and expressions find variables; an invalid expression shows the error of the API (R-C10, R-A5)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/find');
  const box = page.getByRole('searchbox', { name: 'Search' });
  await box.fill('energy img');
  await page.getByRole('link', { name: NAME }).waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe('energy img');
  await box.fill("mappingConfig = 'energy'");
  await page.getByText('1 result').waitFor();
  await box.fill('name ~');
  const problem = page.getByRole('alert');
  await problem.waitFor();
  expect(await problem.textContent()).toMatch(/customFilter.*\(request [\w-]+\)/);
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
  await close();
});

/** @returns the number of dates that the chart has drawn. */
const drawn = ({ page }: ConsoleWindow) => page.locator('[data-points]').getAttribute('data-points');

test('console variable: the chart shows the values of each VersionTag, a slider chooses the state known at an instant, and a comparison lists what changed (R-F5, R-G6)', async () => {
  const window = await stack.open(MANAGER, `/console/variables/${variableId}`);
  const { page, complaints, close } = window;
  await page.getByRole('img', { name: NAME }).waitFor();
  expect(await drawn(window)).toBe(String(QUARTERS));
  await page.getByText('Labels', { exact: true }).click();
  await page.locator('.u-legend').getByText('estimated').waitFor();
  expect(await page.getByRole('button', { name: 'measured' }).getAttribute('aria-pressed')).toBe('true');
  await page.getByText('As of', { exact: true }).click();
  await page.getByText('2 of 2').waitFor();
  await page.getByRole('slider').press('ArrowLeft');
  await page.getByText('1 of 2').waitFor();
  const chart = page.getByRole('application');
  await eventually('the value known at the first stop, beside the latest', async () => {
    await chart.press('Home');
    return (await chart.getByText(/: as of .+ 100, Latest 200$/).count()) === 1;
  });
  await page.getByText('Compare', { exact: true }).click();
  await page.getByText('10 changed, 0 added, 0 removed of 96 dates').waitFor();
  await page.getByRole('cell', { name: '200', exact: true }).waitFor();
  const shared = page.url();
  await page.goto(shared);
  await page.getByText('10 changed, 0 added, 0 removed of 96 dates').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: a click on a calculated point shows its versions, the runs that made them, and links to the inputs of a run (R-H8)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${doubledId}`);
  await page.locator('.u-over').click({ position: { x: 20, y: 100 } });
  const panel = page.getByRole('region', { name: 'Versions of the point' });
  await panel
    .getByText(/Run \d+ \(an input changed\)/)
    .first()
    .waitFor();
  await panel.getByRole('link', { name: 'energy' }).first().click();
  await page.getByRole('heading', { name: NAME }).waitFor();
  expect(new URL(page.url()).searchParams.get('v')).toBe('known');
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: the shown points can be downloaded as CSV, and a curl command that reads the variable can be copied (R-G1)', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${variableId}`, { permissions });
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV' }).click(),
  ]);
  const lines = (await (await download.createReadStream()).toArray()).join('').trim().split('\n');
  expect(lines).toHaveLength(QUARTERS + 1);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
  await page.getByText('Copied as curl').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toContain(`--data-urlencode 'variableIds=${variableId}'`);
  expect(complaints).toEqual([]);
  await close();
});

/**
 * @returns the URL of every route, and URLs with a query that opens a tab or a form of the page, or selects what the
 *   page shows.
 */
const routes = () => [
  '/',
  '/console/find',
  '/console/find?q=energy',
  `/console/variables/${variableId}`,
  `/console/variables/${variableId}?v=labels&labels=%5B%22measured%22%2C%22estimated%22%5D`,
  `/console/variables/${variableId}?v=known`,
  `/console/variables/${variableId}?v=compare&left=label%3Aestimated&right=latest&point=2026-03-01T00:00:00Z`,
  `/console/variables/${doubledId}`,
  `/console/variables/${doubledId}?with=%5B${variableId}%5D&point=2026-03-01T00:00:00Z`,
  `/console/variables/${doubledId}/script`,
  `/console/variables/${doubledId}/runs?state=Succeeded`,
  `/console/runs/${runId}`,
  `/console/variables/new?input=${variableId}`,
  '/console/sites/new',
  `/console/sites/${siteId}`,
  `/console/sites/${siteId}/new-source`,
  `/console/sources/${sourceId}`,
  `/console/sources/${sourceId}/new-variable`,
  `/console/variables/${doubledId}/properties`,
  '/console/data',
  '/console/data?tab=structure',
  '/console/data?tab=pushes',
  '/console/data?tab=mappers',
  '/console/data?tab=mappers&mapper=new',
  '/console/webhooks',
  '/console/webhooks?webhook=new',
  '/console/people',
  '/console/people?tab=invitations',
  '/console/people?tab=audit',
  '/console/people?tab=clients',
  '/console/people?tab=clients&client=new',
  '/console/settings',
  '/console/settings?tab=forms',
  '/console/settings?tab=forms&form=new',
  '/console/settings?tab=catalogues',
  '/console/settings?tab=retention',
  '/console/operate',
  '/console/no-such-page',
];

/** Goes to a URL without loading the page again. */
async function show({ page, settled }: ConsoleWindow, address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await page.locator('main h1, main [role=alert]').first().waitFor();
  await settled();
}

/** Changes the colour scheme, and waits until all colour transitions have ended. */
async function changeScheme({ page }: ConsoleWindow, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
  await eventually('the end of the transitions', () =>
    page.evaluate<boolean>('document.getAnimations().every((each) => !(each instanceof CSSTransition))'),
  );
}

// The tests run at the same time, because each test spends half of its time waiting for requests to end.
describe.concurrent('console: every route', () => {
  test.each([MANAGER, USER])(
    'opens for %s without requests to other origins and without errors, except that a USER may get status 404',
    async (user) => {
      const window = await stack.open(user);
      for (const address of routes()) await show(window, address);
      // A USER without sites gets status 404 for sites, sources and variables. The browser logs each 404 as an error.
      const refused = /status of 404/;
      expect(window.complaints.filter((text) => user !== USER || !refused.test(text))).toEqual([]);
      await window.close();
    },
    WALK_MS,
  );

  test(
    `opens for ${ADMIN} without errors and without requests to other origins; axe-core finds no serious fault in the light scheme, and no serious colour fault in the dark scheme`,
    async () => {
      const window = await stack.open(ADMIN, '/');
      const findings: string[] = [];
      for (const address of routes()) {
        await show(window, address);
        for (const scheme of ['light', 'dark'] as const) {
          await changeScheme(window, scheme);
          const found = await findObstacles(window.page, scheme === 'light' ? 'all' : 'colours');
          findings.push(...found.map((finding) => `${address} in ${scheme}: ${finding}`));
        }
      }
      expect(window.complaints).toEqual([]);
      expect(findings).toEqual([]);
      await window.close();
    },
    WALK_MS,
  );
});
