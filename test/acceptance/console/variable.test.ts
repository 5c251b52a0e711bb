/**
 * A variable in the console: live points, several variables, the keyboard in the chart, corrections, deletion, lineage.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsoleStack, type ConsoleWindow, openConsoleStack } from '../../support/console/console-stack.ts';
import { findObstacles } from '../../support/console/find-obstacles.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';

const QUARTER_MS = 900_000;
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const QUARTERS = 48;
/**
 * Maximum number of points that `LivePoints` may hold at the end: two generations, each with at most one answer of
 * 30,000 points.
 */
const MAX_HELD = 60_000;

let stack: ConsoleStack;
let siteId: number;
let ids: { readonly power: number; readonly heat: number; readonly doubled: number; readonly quadrupled: number };
beforeAll(async () => {
  stack = await openConsoleStack();
  const { sourceId, siteId: site } = await createSiteAndSource(stack.manager);
  siteId = site;
  const quarterly = { granularity: 15, granularityTimeBase: 'Minute', isVersioned: true };
  const units = await stack.manager.call<{ id: number; symbol: string }[]>('GET', '/units');
  const unitOf = (symbol: string) => ({ unitId: units.find((unit) => unit.symbol === symbol)?.id });
  const create = (name: string, more: object) =>
    createVariable(stack.manager, sourceId, { name, ...quarterly, ...more });
  const power = await create('Power', { ...unitOf('kW') });
  const heat = await create('Heat', { ...unitOf('kWh'), divider: 10 });
  const doubleOf = (alias: string, variableId: number) => {
    const script = `ts <- inputVariables$${alias}$TimeSeries\nlist(TimeSeries = data.frame(Dates = ts$Dates, Values = 2 * ts$Values))`;
    const input = { alias, variableId, periodType: 'RelativeDate', period: 1, periodTimeBase: 'Day' };
    return { calculated: calculated(script, [{ ...input, canBeUsedAsATrigger: true }]) };
  };
  const doubled = await create('Doubled', doubleOf('power', power));
  const quadrupled = await create('Quadrupled', doubleOf('doubled', doubled));
  ids = { power, heat, doubled, quadrupled };
  await push(power, 0, QUARTERS, (quarter) => 100 + quarter);
  await push(heat, 0, QUARTERS, (quarter) => 10 * (500 + quarter));
  await eventually('the computed points', async () => (await read(quadrupled)).length === QUARTERS);
}, 90_000);
afterAll(() => stack?.close());

interface Row {
  readonly date: string;
  readonly rawValue: number;
  readonly version?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

const read = (variableId: number) => stack.manager.call<Row[]>('GET', `/data?variableId=${variableId}`);
const dateOf = (quarter: number) => new Date(START_MS + quarter * QUARTER_MS).toISOString();

async function push(variableId: number, from: number, to: number, toValue: (quarter: number) => number): Promise<void> {
  const data = Array.from({ length: to - from }, (_, index) => ({
    date: dateOf(from + index),
    value: toValue(from + index),
  }));
  await stack.manager.call('POST', '/api/data', [{ variableId, data }]);
  await eventually('the pushed points', async () => (await read(variableId)).length >= to);
}

const openVariable = (variableId: number, search = '', user = MANAGER) =>
  stack.open(user, `/console/variables/${variableId}${search}`);

/** Waits until the chart has drawn `count` dates. */
async function untilDrawn({ page }: ConsoleWindow, count: number): Promise<void> {
  await page.locator(`[data-points="${count}"]`).waitFor();
}

test('console variable: new points appear in the open chart, even points committed while the connection was lost (R-J1)', async () => {
  const window = await openVariable(ids.heat, '?v=known');
  const { page, complaints, close } = window;
  await page.getByText('Live', { exact: true }).waitFor();
  await untilDrawn(window, QUARTERS);
  const stops = Number(/of (\d+)/.exec((await page.locator('output').textContent()) ?? '')?.[1]);
  expect(stops).toBeGreaterThan(0);
  await page.getByText('Latest', { exact: true }).first().click();
  await push(ids.heat, QUARTERS, QUARTERS + 2, () => 7000);
  await untilDrawn(window, QUARTERS + 2);
  await page.getByText('As of', { exact: true }).click();
  await page.getByText(`of ${stops + 1}`).waitFor();
  expect(complaints).toEqual([]);
  await page.getByText('Latest', { exact: true }).first().click();
  await page.context().setOffline(true);
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await push(ids.heat, QUARTERS + 2, QUARTERS + 3, () => 7000);
  await page.context().setOffline(false);
  await untilDrawn(window, QUARTERS + 3);
  await page.getByText('Live', { exact: true }).waitFor();
  await close();
});

test('console variable: when 180,000 live points arrive, the chart keeps at most 60,000 of them (R-J1)', async () => {
  const window = await openVariable(ids.power);
  const { page, close } = window;
  await untilDrawn(window, QUARTERS);
  const devtools = await page.context().newCDPSession(page);
  const heapBytes = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize;
  };
  /** 180,000 points, which a variable with 50 points per second gets in an hour; no date repeats. */
  const events = Array.from({ length: 360 }, (_, part) => {
    const dates = Array.from({ length: 500 }, (_, index) =>
      new Date(START_MS + (part * 500 + index) * 100).toISOString(),
    );
    const data = [{ variableId: ids.power, date: dates, rawValue: dates.map(() => part), versionTimestamp: dates }];
    return `event: points\nid: AQ\ndata: ${JSON.stringify(data)}\n\n`;
  });
  let served = 0;
  await page.route('**/data/watch?**', (route) => {
    const body = events.slice(served, served + 60).join('');
    served += 60;
    return body === '' ? route.abort() : route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.reload();
  const held = async () => Number(await page.locator('[data-held]').getAttribute('data-held'));
  await eventually('the first part of the hour', async () => served >= 120);
  const before = await heapBytes();
  await eventually('the whole hour', async () => served > events.length);
  // When the chart reads its points again, the chart drops the live points that arrived before the read.
  await eventually('all but the last part of 180,000 points dropped', async () => (await held()) <= MAX_HELD);
  expect((await heapBytes()) - before).toBeLessThan(4_000_000);
  await close();
});

test('console variable: after the first read of the points fails, "Try again" reads them and shows the chart', async () => {
  const window = await stack.open(MANAGER, '/console/find');
  const { page, close } = window;
  const isFirst = (url: URL) => url.pathname === '/data' && url.searchParams.get('pagingOrder') === 'ASC';
  await page.route(isFirst, (route) => route.fulfill({ status: 500, json: { code: 'internal_error', message: 'no' } }));
  await page.goto(`${stack.origin}/console/variables/${ids.heat}`);
  await page.getByRole('alert').waitFor();
  await page.unroute(isFirst);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('[data-points]').waitFor();
  await close();
});

test('console variable: a second variable, added to the chart by name, gets an axis for its unit, is kept in the page URL and can be removed again', async () => {
  const window = await openVariable(ids.power);
  const { page, complaints, close } = window;
  await page.getByRole('combobox', { name: 'Add a variable to the chart' }).fill('heat');
  await page.getByRole('option', { name: 'Heat' }).click();
  await page.locator('.u-legend').getByText('Heat').waitFor();
  expect(new URL(page.url()).searchParams.get('with')).toBe(`[${ids.heat}]`);
  await page.goto(page.url());
  await page.locator('.u-legend').getByText('Heat').waitFor();
  await eventually('axes of dates and two units', async () => (await page.locator('.u-axis').count()) === 3);
  await page.getByRole('button', { name: 'Remove Heat from the chart' }).click();
  await page.locator('.u-legend').getByText('Heat').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: the keyboard alone suffices to select a point, to zoom, and to mark a range; the chart announces the point', async () => {
  const window = await openVariable(ids.power);
  const { page, complaints, close } = window;
  await untilDrawn(window, QUARTERS);
  const chart = page.getByRole('application');
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await chart.getByText(/: Power 101 kW$/).waitFor({ state: 'attached' });
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Versions of the point' }).waitFor();
  expect(new URL(page.url()).searchParams.get('point')).toBe(dateOf(1));
  await page.keyboard.press('+');
  await eventually('a zoom', async () => new URL(page.url()).searchParams.has('from'));
  const spanOf = () => {
    const { searchParams } = new URL(page.url());
    return Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '');
  };
  const zoomed = spanOf();
  await page.keyboard.press('-');
  await eventually('the zoom taken back', async () => Math.abs(spanOf() - 2 * zoomed) < 10);
  await page.keyboard.press('Home');
  for (let count = 0; count < 4; count += 1) await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Enter');
  await eventually('the marked range', async () => Math.abs(spanOf() - 4 * QUARTER_MS) < 1000);
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: when a range is corrected by hand, the draft survives a reload, and each written point has the VersionTag, the note and a link to the push (R-D1)', async () => {
  const window = await openVariable(ids.power);
  const { page, complaints, close } = window;
  await untilDrawn(window, QUARTERS);
  await page.getByRole('button', { name: 'Correct' }).click();
  const panel = page.getByRole('region', { name: 'Correct points' });
  await panel.getByText('Drag over the chart').waitFor();
  await page.getByRole('application').focus();
  await page.keyboard.press('Home');
  for (let count = 0; count < 3; count += 1) await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Enter');
  await panel.getByText('4 points', { exact: true }).waitFor();
  await panel.getByRole('textbox', { name: 'Value' }).fill('-5');
  await panel.getByRole('button', { name: 'Apply to the range' }).click();
  await panel
    .getByRole('textbox', { name: /^Corrected/ })
    .first()
    .fill('12.5');
  await panel.getByRole('textbox', { name: 'Note' }).fill('the meter was off');
  await panel.getByText('4 points will be written.').waitFor();
  expect(await findObstacles(page)).toEqual([]);
  await page.reload();
  await panel.getByText('4 points will be written.').waitFor();
  await panel.getByRole('button', { name: 'Write' }).click();
  await page.getByText('4 points were written.').waitFor();
  const rows = await read(ids.power);
  expect(rows.slice(0, 5).map(({ rawValue }) => rawValue)).toEqual([12.5, -5, -5, -5, 104]);
  expect(rows[0]).toMatchObject({ version: 'corrected', tags: { note: 'the meter was off' } });
  await page.goto(`${stack.origin}/console/variables/${ids.power}?point=${dateOf(0)}`);
  const versions = page.getByRole('region', { name: 'Versions of the point' });
  await versions.getByText('note: the meter was off').waitFor();
  await versions
    .getByRole('link', { name: /^Push / })
    .first()
    .click();
  await page.getByText('Completed').first().waitFor();
  expect(new URL(page.url()).searchParams.get('tab')).toBe('pushes');
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: before a deletion, a dialog shows the number of dates whose points will be deleted (R-G5)', async () => {
  const range = { from: START_MS / 1000, to: START_MS / 1000 + 2 * 900 };
  const draft = JSON.stringify({ range, edits: [], label: 'x', note: '' });
  const window = await openVariable(ids.heat);
  const { page, complaints, close } = window;
  await page.evaluate(`sessionStorage.setItem('tidemark.correction.${ids.heat}', ${JSON.stringify(draft)})`);
  await page.reload();
  await page.getByRole('button', { name: 'Delete the range…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 dates with all their versions will be deleted.').waitFor();
  expect(await findObstacles(page)).toEqual([]);
  const before = (await read(ids.heat)).length;
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('2 dates were deleted.').waitFor();
  expect((await read(ids.heat)).length).toBe(before - 2);
  expect(complaints).toEqual([]);
  await close();
});

test('console variable: a USER who may push is offered a correction but no deletion; a USER who may only read is offered no correction (R-B8, R-G5)', async () => {
  const range = { from: START_MS / 1000, to: START_MS / 1000 + 3600 };
  const draft = JSON.stringify({ range, edits: [], label: 'x', note: '' });
  const [pusher, reader] = ['pusher@example.test', 'reader@example.test'];
  await stack.world.addUser(pusher, { role: 'USER', sites: [siteId], mayPush: true });
  await stack.world.addUser(reader, { role: 'USER', sites: [siteId] });
  const [writing, reading] = await Promise.all([pusher, reader].map((user) => openVariable(ids.heat, '', user)));
  if (!writing || !reading) throw new Error('two windows must be open');
  await writing.page.getByRole('button', { name: 'Correct' }).waitFor();
  await writing.page.evaluate(`sessionStorage.setItem('tidemark.correction.${ids.heat}', ${JSON.stringify(draft)})`);
  await writing.page.reload();
  await writing.page.getByRole('button', { name: 'Write', exact: true }).waitFor();
  expect(await writing.page.getByRole('button', { name: 'Delete the range…' }).count()).toBe(0);
  const answer = reading.page.waitForResponse((response) => response.url().includes('/api/data/targets'));
  await reading.page.reload();
  expect(await (await answer).json()).toEqual([]);
  await reading.page.getByRole('application').waitFor();
  expect(await reading.page.getByRole('button', { name: 'Correct' }).count()).toBe(0);
  expect([...writing.complaints, ...reading.complaints]).toEqual([]);
  await Promise.all([writing.close(), reading.close()]);
});

test('console variable: the lineage of a calculated point leads through two runs to the pushed points (R-H8)', async () => {
  const window = await openVariable(ids.quadrupled, `?point=${dateOf(QUARTERS - 1)}`);
  const { page, complaints, close } = window;
  const panel = page.getByRole('region', { name: 'Versions of the point' });
  await panel.getByRole('button', { name: 'Show origin' }).first().click();
  const tree = panel.getByRole('region', { name: 'Origin of the value' });
  await tree.getByRole('link', { name: /^Level 5: power: Power, as of / }).waitFor();
  const push = tree.getByRole('link', { name: /^Level 6: Push .*, accepted / });
  expect(await push.getAttribute('href')).toMatch(/^\/console\/data\?tab=pushes&label=./);
  expect(await findObstacles(page)).toEqual([]);
  expect(await tree.getByRole('link', { name: /^Level \d: Run \d+, .*script of / }).count()).toBe(2);
  await tree.getByRole('link', { name: /^Level 5: power: Power/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Power' }).waitFor();
  expect(new URL(page.url()).searchParams.get('v')).toBe('known');
  expect(complaints).toEqual([]);
  await close();
});
