/**
 * Measures the console in Chromium, on loopback: times, frames per second, the size of the first view, and memory.
 * While the memory is measured, points arrive for 20 s, or for CONSOLE_BENCH_MINUTES minutes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Database } from '../../../src/platform/database/database.ts';
import { findChromium } from '../../support/browser/chromium.ts';
import { PASSWORD } from '../../support/fixtures/accounts.ts';
import { type ApiClient, MANAGER, signIn } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';
import { type Figure, figure } from '../report.ts';

const ROUNDS = 5;
const YEAR_POINTS = 35_040;
const MANY_POINTS = 1_000_000;
const MEBIBYTE = 2 ** 20;
const PUSHES_PER_SECOND = 5;
const PAN_STEPS = 20;
/** Limit of each figure. */
const MOST = { firstViewKb: 250, interactiveMs: 1000, yearMs: 300, manyMs: 1500, growthMib: 5 } as const;
const LEAST_FRAMES = 50;

export interface ConsoleService {
  readonly api: ApiClient;
  readonly http: string;
}

export async function benchConsole(database: Database, { api, http }: ConsoleService): Promise<readonly Figure[]> {
  const { yearId, manyId } = await addVariables(database, api);
  const program = findChromium();
  if (program === undefined) throw new Error('Chromium is missing; install the Debian package chromium');
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  try {
    const { page, firstViewKb } = await openFirst(browser, http);
    return [
      figure('first view of the console', 'bytes over the network, of the allowed bytes', 'kB', [
        [firstViewKb, MOST.firstViewKb],
      ]),
      figure(
        'console until it can be used',
        'duration, of the allowed duration',
        'ms',
        await rounds(() => reopen(page, http), MOST.interactiveMs),
      ),
      figure(
        'a year of 15-minute points',
        'duration from the click to the drawn chart, of the allowed duration',
        'ms',
        await rounds(() => openVariable(page, http, yearId, 'Year'), MOST.yearMs),
      ),
      figure(
        'a million raw points, drawn as the band of minimum and maximum, which fills the same pixels',
        'duration from the click to the drawn chart, of the allowed duration',
        'ms',
        await rounds(() => showAll(page, http, manyId), MOST.manyMs),
      ),
      figure('moving the period', 'required frames, of the measured frames', 'frames/s', [
        [LEAST_FRAMES, await countFrames(page, http, yearId)],
      ]),
      figure('memory of the page while points arrive', 'growth, of the allowed growth', 'MiB', [
        [await growth(page, http, api, yearId), MOST.growthMib],
      ]),
    ];
  } finally {
    await browser.close();
  }
}

async function rounds(measure: () => Promise<number>, limit: number): Promise<readonly (readonly [number, number])[]> {
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) pairs.push([await measure(), limit]);
  return pairs;
}

/**
 * Creates a variable with 15-minute points for the past year, and a variable with a point for each of the past million
 * minutes.
 */
async function addVariables(database: Database, api: ApiClient) {
  const { sourceId } = await createSiteAndSource(api);
  const quarterly = { granularity: 15, granularityTimeBase: 'Minute' };
  const yearId = await createVariable(api, sourceId, { name: 'Year', ...quarterly });
  const manyId = await createVariable(api, sourceId, { name: 'Many', granularity: 1, granularityTimeBase: 'Minute' });
  const add = async (id: number, minutes: number, points: number) => {
    await database.query(
      `insert into point select date_trunc('hour', now()) - n * $2::int * interval '1 minute', sin(n / 100.0), now(), $1, 0, 0
       from generate_series(1, $3::int) n`,
      [id, minutes, points],
    );
    await database.query(
      `insert into series (variable_id, max_date) values ($1, date_trunc('hour', now()))
       on conflict (variable_id) do update set max_date = excluded.max_date`,
      [id],
    );
  };
  await add(yearId, 15, YEAR_POINTS);
  await add(manyId, 1, MANY_POINTS);
  await database.query('analyze point');
  return { yearId, manyId };
}

/** Signs in with an empty cache and counts the bytes of the first view. */
async function openFirst(
  browser: Browser,
  http: string,
): Promise<{ readonly page: Page; readonly firstViewKb: number }> {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(http);
  await page.getByLabel('User name').fill(MANAGER);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  let bytes = 0;
  page.on('requestfinished', (request) => {
    if (request.url().includes('/console/assets/') || request.isNavigationRequest())
      void request.sizes().then(({ responseBodySize }) => (bytes += responseBodySize));
  });
  // The steps above have filled the cache. It is cleared, so that the first view loads as much as on a first visit.
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await page.getByRole('button').click();
  await page.getByRole('navigation').first().waitFor();
  await page.waitForLoadState('networkidle');
  return { page, firstViewKb: bytes / 1000 };
}

/**
 * @returns milliseconds from the request for the home page until its menu is shown, including the automatic sign-in
 * with the browser's session.
 */
async function reopen(page: Page, http: string): Promise<number> {
  const startMs = performance.now();
  await page.goto(http, { waitUntil: 'commit' });
  await page.getByRole('navigation').first().waitFor();
  return performance.now() - startMs;
}

/** Function that the page evaluates: clicks `link` and returns the milliseconds until the chart is drawn. */
const CLICK_UNTIL_DRAWN = `(link, isDrawn) => new Promise((resolve) => {
  const start = performance.now();
  link.click();
  const look = () => isDrawn() ? resolve(performance.now() - start) : requestAnimationFrame(look);
  requestAnimationFrame(look);
})`;

async function openVariable(page: Page, http: string, variableId: number, name: string): Promise<number> {
  await page.goto(`${http}/console/find?q=${name}`);
  // Hovers over the link first, as a person does before a click. The page then loads the code of the linked view.
  await page.getByRole('link', { name }).hover();
  await page.waitForLoadState('networkidle');
  return page.evaluate<number>(
    `(${CLICK_UNTIL_DRAWN})(document.querySelector('main a[href*="/variables/${variableId}"]'),
      () => Number(document.querySelector('[data-points]')?.dataset.points ?? 0) > 30000)`,
  );
}

async function showAll(page: Page, http: string, variableId: number): Promise<number> {
  await page.goto(`${http}/console/variables/${variableId}`);
  await page.locator('[data-points]').waitFor();
  return page.evaluate<number>(
    `(() => {
      const before = document.querySelector('[data-points]').getAttribute('aria-label');
      const button = [...document.querySelectorAll('main button')].find((each) => each.textContent === 'All');
      const isDrawn = () =>
        (document.querySelector('[data-points]')?.getAttribute('aria-label') ?? before) !== before;
      return (${CLICK_UNTIL_DRAWN})(button, isDrawn);
    })()`,
  );
}

/** @returns the frames per second while buttons move the period of the chart back and forth. */
async function countFrames(page: Page, http: string, variableId: number): Promise<number> {
  await page.goto(`${http}/console/variables/${variableId}`);
  await page.locator('[data-points]').waitFor();
  await page.getByText('Month', { exact: true }).click();
  const back = page.getByRole('button', { name: 'Earlier' });
  await back.waitFor();
  await page.evaluate(
    `window.frames_ = 0; window.start_ = performance.now();
     const count = () => { window.frames_ += 1; requestAnimationFrame(count); }; requestAnimationFrame(count)`,
  );
  for (let step = 0; step < PAN_STEPS; step += 1) {
    await page.getByRole('button', { name: step < PAN_STEPS / 2 ? 'Earlier' : 'Later' }).click();
    await pause(100);
  }
  return page.evaluate<number>('(window.frames_ * 1000) / (performance.now() - window.start_)');
}

/**
 * Prints the heap, the DOM nodes and the event listeners of the page at the minutes that `minutesOfReport` returns.
 * @returns mebibytes by which the heap grew while the page followed a variable.
 */
async function growth(page: Page, http: string, api: ApiClient, variableId: number): Promise<number> {
  await page.goto(`${http}/console/variables/${variableId}`);
  await page.locator('[data-points]').waitFor();
  const session = await page.context().newCDPSession(page);
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
    return { heapMib: usedSize / MEBIBYTE, nodes, jsEventListeners };
  };
  let pushed = 0;
  let client = api;
  /**
   * Pushes points for `seconds` seconds: one point per request, each point at a new date. Like a client, `push` repeats
   * a request that got 503; after a 401, it signs in again and repeats the request.
   */
  const push = async (seconds: number) => {
    const end = pushed + Math.round(seconds * PUSHES_PER_SECOND);
    for (; pushed < end; pushed += 1) {
      const date = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 + pushed * 1000).toISOString();
      const { status, body } = await client.send('POST', '/api/data', [
        { variableId, data: [{ date, value: pushed }] },
      ]);
      if (status === 401) client = await signIn(http);
      if (status === 401 || status === 503) pushed -= 1;
      else if (status >= 300) throw new Error(`POST /api/data: ${status} ${JSON.stringify(body)}`);
      await pause(1000 / PUSHES_PER_SECOND);
    }
  };
  // When the page gets its first points, it loads code and fills caches. The measurement begins after that.
  await push(3);
  const before = await measure();
  const startMs = performance.now();
  let last = before;
  for (const minute of minutesOfReport(Number(process.env.CONSOLE_BENCH_MINUTES ?? 1 / 3))) {
    while (performance.now() - startMs < minute * 60_000) await push(1);
    last = await measure();
    const { heapMib, nodes, jsEventListeners } = last;
    process.stderr.write(
      `minute ${minute.toFixed(1)}: ${heapMib.toFixed(1)} MiB, ${nodes} nodes, ${jsEventListeners} listeners, ${pushed} points\n`,
    );
  }
  return Math.max(0, last.heapMib - before.heapMib);
}

/**
 * @param minutes duration of the measurement.
 * @returns the times at which figures are printed, in minutes after the start: only the end if `minutes` is less than
 *   2.
 */
function minutesOfReport(minutes: number): readonly number[] {
  if (minutes < 2) return [minutes];
  const quarters = Array.from({ length: Math.ceil(minutes / 15) - 1 }, (_, index) => (index + 1) * 15);
  return [1, ...quarters, minutes];
}
