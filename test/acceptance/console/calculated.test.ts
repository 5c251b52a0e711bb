/**
 * Calculated variables in the console: the editor, previews, saving and restoring, runs and their cascades,
 * recalculations, and a new variable.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ConsoleStack, openConsoleStack, USER } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';

const DOUBLE = `ts <- inputVariables$energy$TimeSeries
list(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))`;
/** A script that draws a plot and writes a message; the page shows the plot as an SVG image. */
const DRAWING = `message("drawn by the script")\nplot(1:10)\n${DOUBLE}`;
const SLOW = `Sys.sleep(25)\n${DOUBLE}`;

/** Time-out for an answer from R. The time-out is long, because other tests use the processors at the same time. */
const R_MS = 40_000;
vi.setConfig({ testTimeout: 3 * R_MS });

let stack: ConsoleStack;
let sourceId: number;
let energyId: number;
let doubledId: number;
let fourfoldId: number;
beforeAll(async () => {
  stack = await openConsoleStack();
  const made = await createSiteAndSource(stack.manager);
  sourceId = made.sourceId;
  const hourly = { granularity: 1, granularityTimeBase: 'Hour', isVersioned: true };
  energyId = await createVariable(stack.manager, sourceId, { name: 'Energy', mappingConfig: 'energy', ...hourly });
  const reading = (variableId: number) => ({ alias: 'energy', variableId, period: 1, periodTimeBase: 'Day' });
  const declared = { ...calculated(DOUBLE, [reading(energyId)]), note: 'the first script' };
  doubledId = await createVariable(stack.manager, sourceId, { name: 'Doubled', ...hourly, calculated: declared });
  const chained = calculated(DOUBLE, [reading(doubledId)]);
  fourfoldId = await createVariable(stack.manager, sourceId, { name: 'Fourfold', ...hourly, calculated: chained });
  await pushHours(1);
  await eventually('the points computed from computed points', async () => (await valuesOf(fourfoldId)).length === 24);
}, 90_000);
afterAll(() => stack?.close());

async function pushHours(first: number): Promise<void> {
  const data = Array.from({ length: 24 }, (_, hour) => ({
    date: new Date(Date.parse('2026-03-01T00:00:00Z') + hour * 3_600_000).toISOString(),
    value: first + hour,
  }));
  await stack.manager.call('POST', '/api/data', [{ variableId: energyId, data }]);
}

const valuesOf = async (variableId: number) =>
  (await stack.manager.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`)).map(
    (row) => row.rawValue,
  );

test(
  'console script: names are completed, a syntax error is marked, and the draft survives a reload (R-H9)',
  async () => {
    const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${doubledId}/script`);
    const editor = page.getByRole('textbox', { name: 'R script' });
    await page.getByText('No problems found.').waitFor({ timeout: R_MS });
    await editor.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\ninputVariables$e');
    // The name must match exactly, because `inputVariables$energy$TimeSeries` is suggested too.
    await page.getByRole('option', { name: 'energy', exact: true }).click();
    await page.keyboard.type(' <-');
    await page.locator('.cm-lint-marker-error').waitFor({ timeout: R_MS });
    await page.reload();
    await page.getByText('Not saved yet').waitFor();
    await page.locator('.cm-line', { hasText: 'inputVariables$energy <-' }).waitFor();
    await page.locator('.cm-lint-marker-error').waitFor({ timeout: R_MS });
    await page.getByRole('button', { name: 'Discard draft' }).click();
    await page.getByText('No problems found.').waitFor({ timeout: R_MS });
    expect(await page.getByText('Not saved yet').count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  },
  3 * R_MS,
);

test('console script: text keeps its order when the user types while the page renders (R-H9)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${doubledId}/script`);
  const editor = page.getByRole('textbox', { name: 'R script' });
  await page.getByText('No problems found.').waitFor({ timeout: R_MS });
  await editor.focus();
  await page.keyboard.press('Control+End');
  const typed = `# ${'abcdefghij'.repeat(8)}`;
  await page.keyboard.press('Enter');
  // Types each letter in a task of its own, without waiting for a frame, so that the letters arrive at different steps
  // of a page update.
  await page.evaluate(`(async () => {
    const { port1, port2 } = new MessageChannel();
    for (const letter of ${JSON.stringify(typed)}) {
      document.execCommand('insertText', false, letter);
      await new Promise((resolve) => {
        port1.onmessage = resolve;
        port2.postMessage(0);
      });
    }
  })()`);
  await page.locator('.cm-line', { hasText: typed }).waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  expect(complaints).toEqual([]);
  await close();
});

test('console script: a preview shows the plots of a script, and the history restores an old script (R-H9, R-H12)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${doubledId}/script`);
  const editor = page.getByRole('textbox', { name: 'R script' });
  // Does not call `fill`: the editor may restore its own selection before it notices the selection that `fill` makes.
  // The text would then be inserted before the old script, not in place of it.
  await editor.press('Control+a');
  await page.keyboard.insertText(DRAWING);
  await editor.press('Control+Enter');
  // The page shows the result of a script, even of one that failed, in an element with the ARIA role `status`. It shows
  // the error of a refused request in an element with the role `alert`.
  const results = page.getByRole('region', { name: 'Results' });
  const answer = results.getByRole('status').or(page.getByRole('alert')).first();
  const shown = answer.textContent({ timeout: R_MS }).catch(() => results.textContent());
  expect(await shown).toBe('24 points would be stored.');
  await page.getByRole('listitem').getByText('drawn by the script').waitFor();
  const drawing = page.getByRole('img', { name: 'plot-001.svg' });
  await drawing.waitFor();
  expect(await drawing.getAttribute('src')).toMatch(/^blob:/);
  await page.getByText('Windows', { exact: true }).click();
  const windows = page.getByRole('img', { name: '1 input and the window it reads' });
  expect(await windows.getAttribute('data-spans')).toBe('1');
  await page.getByText('Differences', { exact: true }).click();
  await page.locator('[data-diff] .cm-line').getByText('plot(1:10)').waitFor();
  await page.getByRole('textbox', { name: 'Reason for the change' }).fill('draws the series');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved. The next run').waitFor();
  await page.getByText('History', { exact: true }).click();
  await page.getByText('draws the series').waitFor();
  const first = page.getByRole('listitem').filter({ hasText: 'the first script' });
  await first.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await eventually('the restored script', async () => {
    const path = `/sources/${sourceId}/variables/${doubledId}/calculated/history`;
    const saves = await stack.manager.call<{ note: string; declarationHash: string }[]>('GET', path);
    return saves.length === 3 && saves[0]?.declarationHash === saves[2]?.declarationHash;
  });
  expect(complaints).toEqual([]);
  await close();
});

test('console script: an input is found by its name, and a save over a newer declaration is refused (R-H1, R-H12)', async () => {
  const { page, close } = await stack.open(MANAGER, `/console/variables/${fourfoldId}/script`);
  await page.getByText('No problems found.').waitFor({ timeout: R_MS });
  // Until the search is answered, the list has other variables too, and a click can miss an option that moves.
  const found = page.waitForResponse((response) => response.url().includes('customFilter='));
  await page.getByRole('combobox', { name: 'Add an input' }).fill('energ');
  await found;
  await page.getByRole('option', { name: /^Energy/ }).click();
  await page.getByRole('group', { name: 'energy_2' }).waitFor();
  await page.getByText('Not saved yet').waitFor();
  const { calculated: saved } = await stack.manager.call<{ calculated: object }>('GET', `/variables/${fourfoldId}`);
  const newer = { calculated: { ...saved, friendlyName: 'by somebody else' } };
  await stack.manager.call('PUT', `/sources/${sourceId}/variables/${fourfoldId}`, newer);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('alert').getByText('request').waitFor();
  await page.getByText('Another definition was saved').waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await close();
});

test('console runs: the page of a run shows the cascade of the run, the points read, and the saved script (R-H8, R-H12)', async () => {
  const { page, complaints, close } = await stack.open(
    MANAGER,
    `/console/variables/${fourfoldId}/runs?state=Succeeded`,
  );
  await page.getByRole('cell', { name: 'an input changed' }).first().waitFor();
  await page
    .getByRole('link', { name: /^Run \d+$/ })
    .last()
    .click();
  await page.getByText('These inputs changed:').waitFor();
  const wave = page.getByRole('group', { name: '3 variables in the cascade' });
  await wave.getByRole('link', { name: 'Energy changed' }).waitFor();
  await wave.getByRole('link', { name: 'Doubled succeeded' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Doubled' }).waitFor();
  await page.getByText(/Saved by .*the first script/).waitFor();
  await page.getByRole('region', { name: 'Points read' }).getByRole('link', { name: 'energy' }).click();
  await page.getByRole('heading', { name: 'Energy' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console runs: the next five runs of a schedule are listed; a recalculation shows its progress and can be stopped (R-H5)', async () => {
  const declared = calculated(SLOW, [{ alias: 'energy', variableId: energyId, canBeUsedAsATrigger: false }]);
  const [formula] = declared.calculatedVariableFormulas;
  const scheduled = { calculatedVariableFormulas: [{ ...formula, schedule: '0 6 1 1 *' }] };
  const slowId = await createVariable(stack.manager, sourceId, { name: 'Slow', calculated: scheduled });
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${slowId}/runs`);
  const next = await page.getByText('Next runs (').textContent();
  expect(next?.match(/1 Jan 20\d\d/g)).toHaveLength(5);
  await page.getByRole('button', { name: 'Recalculate' }).click();
  await page.getByRole('progressbar', { name: 'Progress of the run' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('1 run was stopped.').waitFor();
  await page.getByRole('cell', { name: /failed.*stopped by/ }).waitFor();
  await page.getByText('Nothing is running or waiting.').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console: a calculated variable is created from the page of its input, and the editor opens with a valid script (R-H1)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, `/console/variables/${energyId}`);
  await page.getByRole('link', { name: 'Create a calculated variable' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Copied');
  await page.reload();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Copied');
  await page.getByRole('button', { name: 'Create and write the script' }).click();
  await page.getByRole('heading', { name: 'Copied' }).waitFor();
  await page.getByText('No problems found.').waitFor({ timeout: R_MS });
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByText('would be stored.').waitFor({ timeout: R_MS });
  expect(complaints).toEqual([]);
  await close();
});

test('console script: a USER cannot create a calculated variable, or open the script of an inaccessible variable (R-B9)', async () => {
  const { page, close } = await stack.open(USER, '/console/variables/new');
  await page.getByText('Only managers and administrators can create calculated variables.').waitFor();
  await page.goto(`${stack.origin}/console/variables/${doubledId}/script`);
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await close();
});
