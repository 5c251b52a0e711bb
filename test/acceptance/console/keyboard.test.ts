/**
 * The console can be used by keyboard alone. Every element that Tab reaches shows the focus, and an open dialog keeps
 * the focus.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, type ConsoleStack, openConsoleStack } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { createStructure } from '../../support/fixtures/structure.ts';

/** Maximum number of Tab stops. Every view that the test visits has fewer controls. */
const MAX_STOPS = 80;
const WALK_MS = 90_000;

/** Selects the controls that Tab must reach: enabled buttons and fields. */
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

/**
 * A script that runs in the page. `walk.stop()` returns the name of the focused control (null when the focus has left
 * the content). It also returns the problems found in the focused control and in the control that had the focus before.
 * The check of a control's appearance includes the elements around it, because they draw some controls, such as a
 * checkbox.
 */
const WALK = `window.walk = (() => {
  const content = document.getElementById('content');
  const looks = (element) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, stroke } = getComputedStyle(element);
    return [outlineStyle === 'none' ? '' : outlineWidth + outlineColor, boxShadow, stroke].join(' ');
  };
  const isDrawn = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const around = (element) => {
    const parts = isDrawn(element) ? [element] : [element, ...element.parentElement.children, ...(element.labels ?? [])];
    // A node of a drawing shows the focus by its shape.
    parts.push(...element.querySelectorAll('rect'));
    let parent = element.parentElement;
    for (let level = 0; level < 3 && content.contains(parent); level += 1, parent = parent.parentElement) parts.push(parent);
    return parts;
  };
  const problemOf = (element) => {
    if (element.closest('[aria-hidden=true], [inert]')) return 'is hidden from screen readers';
    const drawn = around(element).find((part) => isDrawn(part) && part.getBoundingClientRect().width > 1);
    if (!drawn) return 'is not drawn';
    const { left, right, top, bottom } = drawn.getBoundingClientRect();
    const [x1, x2, y1, y2] = [Math.max(0, left), Math.min(innerWidth, right), Math.max(0, top), Math.min(innerHeight, bottom)];
    if (x2 - x1 < 2 || y2 - y1 < 2) return 'is outside of the window';
    const hit = document.elementFromPoint((x1 + x2) / 2, (y1 + y2) / 2);
    return hit && (drawn.contains(hit) || hit.contains(drawn)) ? undefined : 'is behind another part';
  };
  let last;
  return { stop: () => {
    const problems = [];
    const element = document.activeElement;
    // The parts of a date are stops of one control.
    if (element === last?.element) return { name: last.name, problems };
    if (last && last.parts.every((part, at) => looks(part) === last.styles[at])) problems.push(last.name + ' does not show the focus');
    last = undefined;
    if (!content.contains(element) || element === content) return { name: null, problems };
    const name = element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).slice(0, 40);
    const problem = problemOf(element);
    if (problem) problems.push(name + ' ' + problem);
    const parts = around(element);
    last = { element, name, parts, styles: parts.map(looks) };
    return { name, problems };
  } };
})()`;

interface Stop {
  /** Name of the focused control; null once the focus has left the content. */
  readonly name: string | null;
  readonly problems: readonly string[];
}

/**
 * Presses Tab until the focus leaves the content of the page.
 * @returns the names of the controls that Tab focused, in order, and the problems of these controls.
 */
async function tabThrough(page: Page): Promise<{ readonly stops: readonly string[]; readonly problems: string[] }> {
  const stops: string[] = [];
  const problems: string[] = [];
  await page.evaluate(WALK);
  await page.locator('#content').focus();
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<Stop>('walk.stop()');
    problems.push(...stop.problems);
    if (stop.name === null) return { stops, problems };
    stops.push(stop.name);
  }
  throw new Error(`Tab did not leave the content after ${MAX_STOPS} stops: ${stops.join(', ')}`);
}

/** @returns the URLs of the views that the test visits: at least one of each section of the navigation. */
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
  'console: in each of fifteen views, Tab makes at least as many stops as there are controls, then leaves the view; each stop is visible and shows the focus',
  async () => {
    const { page, settled, complaints, close } = await stack.open(ADMIN);
    for (const address of views()) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.locator('main h1').first().waitFor();
      await settled();
      const { stops, problems } = await tabThrough(page);
      expect(problems, address).toEqual([]);
      const controls = await page.locator(CONTROLS).count();
      expect(stops.length, `${address}: ${stops.join(', ')}`).toBeGreaterThanOrEqual(controls);
    }
    expect(complaints).toEqual([]);
    await close();
  },
  WALK_MS,
);

test('console: the first Tab reaches a link that skips the navigation; a dialog keeps the focus, and Escape returns the focus to the button that opened the dialog', async () => {
  const { page, complaints, close } = await stack.open(ADMIN, `/console/sites/${siteId}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
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
  // The dialog fades out before it returns the focus to the button.
  await eventually('the focus on the button', () =>
    page.evaluate<boolean>('document.activeElement.textContent === "Delete"'),
  );
  expect(complaints).toEqual([]);
  await close();
});
