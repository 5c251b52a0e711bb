/** Every view of the console by keyboard alone: each control is reached by Tab; dialogs keep the focus. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, type ConsoleStack, openConsoleStack } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { createStructure } from '../../support/fixtures/structure.ts';

/** More than the controls of any view with the data of this test. */
const MAX_STOPS = 80;
const WALK_MS = 90_000;

/** What a person can press or fill in; disabled controls are no stops. */
const CONTROLS =
  '#content :is(button, select, textarea, input:not([type=hidden]):not([type=file])):enabled:not([tabindex="-1"]):visible';

let stack: ConsoleStack;
let siteId: number;
let sourceId: number;
let variableId: number;
beforeAll(async () => {
  stack = await openConsoleStack();
  ({ siteId, sourceId, variableId } = await createStructure(stack.manager));
}, 90_000);
afterAll(() => stack?.close());

/** Runs in the page: the focused control of the content; null when the focus has left the content. */
const DESCRIBE = `(() => {
  const element = document.activeElement;
  if (!document.getElementById('content').contains(element)) return null;
  return element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).slice(0, 40);
})()`;

/** Tabs through the content of the page. @returns the stops until the focus leaves it. */
async function tabThrough(page: Page): Promise<readonly string[]> {
  const stops: string[] = [];
  await page.locator('#content').focus();
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<string | null>(DESCRIBE);
    if (stop === null) return stops;
    stops.push(stop);
  }
  throw new Error(`Tab did not leave the content after ${MAX_STOPS} stops: ${stops.join(', ')}`);
}

/** One address for each view. */
const views = () => [
  '/',
  '/console/find',
  `/console/sites/${siteId}`,
  `/console/sources/${sourceId}/new-variable`,
  `/console/variables/${variableId}`,
  `/console/variables/${variableId}/properties`,
  '/console/variables/new',
  '/console/data',
  '/console/data?tab=mappers&mapper=new',
  '/console/webhooks?webhook=new',
  '/console/people',
  '/console/people?tab=audit',
  '/console/settings?tab=forms&form=new',
  '/console/settings?tab=catalogues',
  '/console/operate',
];

test(
  'console: Tab reaches every control of every view, and leaves every view',
  async () => {
    const { page, settled, complaints, close } = await stack.open(ADMIN);
    for (const address of views()) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.locator('main h1').first().waitFor();
      await settled();
      const stops = await tabThrough(page);
      const controls = await page.locator(CONTROLS).count();
      expect(stops.length, `${address}: ${stops.join(', ')}`).toBeGreaterThanOrEqual(controls);
    }
    expect(complaints).toEqual([]);
    await close();
  },
  WALK_MS,
);

test('console: the first Tab offers to skip the navigation; a dialog keeps the focus, and Escape gives it back', async () => {
  const { page, complaints, close } = await stack.open(ADMIN, `/console/sites/${siteId}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  const button = page.getByRole('button', { name: 'Delete', exact: true });
  await button.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (let stop = 0; stop < 5; stop += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.querySelector("[role=dialog]").contains(document.activeElement)')).toBe(true);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The dialog gives the focus back when it has faded.
  await eventually('the focus on the button', () =>
    page.evaluate<boolean>('document.activeElement.textContent === "Delete"'),
  );
  expect(complaints).toEqual([]);
  await close();
});
