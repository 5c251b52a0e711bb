/** Searches the shown page for accessibility violations that axe-core rates as serious or critical. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Rules of axe-core that depend on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * @returns a script to run in the page; the script returns one text per serious or critical violation. Without
 *   `resultTypes`, axe-core would also list all elements that pass.
 */
const run = (
  options: object,
) => `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/**
 * Applies all rules, or only the rules that depend on colours. `colours` is enough for a page that has passed all rules
 * in another colour scheme, because only the colours differ.
 * @returns one text per broken rule: its id and the HTML of the elements that break it.
 */
export async function findObstacles(page: Page, rules: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  return page.evaluate<readonly string[]>(run(rules === 'all' ? {} : { runOnly: COLOUR_RULES }));
}
