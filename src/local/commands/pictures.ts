/**
 * `npm run pictures` takes the pictures that README.md shows, from the demo of the running local stack. `npm run
 * pictures -- DIRECTORY` takes pictures of every route instead, in two color schemes, two widths and two languages.
 */
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { CHECKOUT, STACK_FILE } from '../paths.ts';
import { takeEveryRoute } from '../pictures/every-route.ts';
import { SetupError } from '../setup-error.ts';
import type { Stack } from '../stack.ts';
import { runCommand } from './cli.ts';

const DIRECTORY = join(CHECKOUT, 'src/console/pictures');
const PROGRAMS = ['chromium-headless-shell', 'chromium'];
const USER = 'manager@demo.example';
/** A user of the demo whose role may open every route. */
const ADMIN = 'admin@demo.example';

/** A picture: a URL of the demo, and the steps done there before the picture is taken. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly size: { readonly width: number; readonly height: number };
  prepare(page: Page): Promise<void>;
}

/** Names of variables of the demo, by which this command finds the URLs of the pictures. */
const [DEMAND, PEAK] = ['Demand, MW', 'Daily peak'];

const PICTURES: readonly (Picture & { readonly variable: string })[] = [
  {
    name: 'versions',
    variable: DEMAND,
    path: '?v=compare&left=label%3Aweek-ahead-forecast&right=label%3Ameasured&from=2000-08-14T00:00:00Z&to=2000-08-20T00:00:00Z',
    // A window of this size shows the heading, the chart, the version bar and the first changes.
    size: { width: 1140, height: 1010 },
    prepare: async (page) => {
      await page.getByRole('region', { name: 'Changes' }).getByRole('table').waitFor();
    },
  },
  {
    name: 'editor',
    variable: PEAK,
    path: '/script',
    size: { width: 1320, height: 760 },
    prepare: async (page) => {
      await page.getByLabel('Changed from').fill('2000-08-07T00:00');
      await page.getByLabel('Changed to').fill('2000-08-27T22:00');
      await page.getByRole('button', { name: 'Preview', exact: true }).click();
      await page.getByText('would be stored.').waitFor();
    },
  },
];

await runCommand(async () => {
  if (!existsSync(STACK_FILE)) throw new SetupError('The stack is not running; `npm start` starts it.');
  const stack = JSON.parse(readFileSync(STACK_FILE, 'utf8')) as Stack;
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
  const [directory] = process.argv.slice(2);
  try {
    if (directory !== undefined) {
      await takeEveryRoute(browser, (page) => signIn(page, stack, ADMIN), directory);
      return 0;
    }
    const context = await browser.newContext({ locale: 'en-GB', colorScheme: 'light' });
    const page = await context.newPage();
    await signIn(page, stack, USER);
    mkdirSync(DIRECTORY, { recursive: true });
    for (const picture of PICTURES) {
      await page.setViewportSize(picture.size);
      await page.goto(`${stack.api}/console/find?q=${encodeURIComponent(picture.variable)}`);
      const address = await page.getByRole('link', { name: picture.variable, exact: true }).getAttribute('href');
      await page.goto(`${stack.api}${address}${picture.path}`);
      await picture.prepare(page);
      await page.locator('canvas').first().waitFor();
      // Waits two frames, because the chart is drawn one frame after its data arrives. Waiting for an idle network
      // would never end, because the page follows new points.
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
      const path = join(DIRECTORY, `${picture.name}.png`);
      await page.screenshot({ path });
      process.stdout.write(`${path}\n`);
    }
  } finally {
    await browser.close();
  }
  return 0;
});

async function signIn(page: Page, { api, users }: Stack, name: string): Promise<void> {
  const user = users.find(({ userName }) => userName === name);
  if (!user)
    throw new SetupError(`.local/stack.json names no user ${name}; run \`npm start\` again, which writes this file.`);
  await page.goto(`${api}/`);
  await page.getByLabel('User name').fill(user.userName);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.getByRole('button').click();
  await page.getByRole('navigation').first().waitFor();
}

/** @returns the path of the first of PROGRAMS that is in PATH. @throws {SetupError} when PATH has none of them. */
function findBrowser(): string {
  const directories = (process.env.PATH ?? '').split(delimiter);
  const paths = PROGRAMS.flatMap((program) => directories.map((directory) => join(directory, program)));
  const found = paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined)
    throw new SetupError('Chromium is missing; install the Debian package chromium-headless-shell.');
  return found;
}
