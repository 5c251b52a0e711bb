/** Finds what axe-core calls serious or critical in the page that is shown. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Runs in the page. With `resultTypes`, axe-core lists only violations in full: its list of the elements that pass is
 * larger than the page.
 */
const RUN = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** @returns one text per rule: its id and the HTML of the elements that break the rule. */
export async function findObstacles(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  return page.evaluate<readonly string[]>(RUN);
}
