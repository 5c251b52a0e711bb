/** Opens the console in Debian's Chromium as users of every role. The product's own processes serve the console. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { eventually } from '../eventually.ts';
import { PASSWORD } from '../fixtures/accounts.ts';
import { type ApiClient, MANAGER, signIn } from '../fixtures/sign-in.ts';
import type { World } from '../fixtures/world.ts';
import { leaseConsoleProcesses } from './console-processes.ts';

/** Time-out of each action in a page. It is long, because the machine may run other tests at the same time. */
const TIMEOUT_MS = 15_000;

export const ADMIN = 'admin@example.test';
export const USER = 'user@example.test';

export interface WindowOptions extends BrowserContextOptions {
  readonly isFresh?: boolean;
}

export interface ConsoleStack {
  readonly origin: string;
  readonly world: World;
  /** The account's manager, who may push. */
  readonly manager: ApiClient;
  /**
   * Opens a new window. The first window of a user signs in on the issuer's sign-in page; later windows of the user get
   * the cookies of that sign-in. @param path the page to open.
   * @param options `isFresh`: the window starts without cookies and signs in on the sign-in page.
   */
  open(userName: string, path?: string, options?: WindowOptions): Promise<ConsoleWindow>;
  close(): Promise<void>;
}

export interface ConsoleWindow {
  readonly page: Page;
  /** The page's uncaught errors, the errors and warnings in its browser console, and its requests to other origins. */
  readonly complaints: readonly string[];
  /** Waits until the page has had no running request for QUIET_MS. Streams of live points do not count as requests. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Leases a browser and the processes whose work the console shows: api, ingester, calculator and deliverer. The test
 * files of one worker share them in turn: `close` releases them to the next file, which finds an empty database.
 */
export async function openConsoleStack(): Promise<ConsoleStack> {
  const { origin, browser, world, release } = await leaseConsoleProcesses();
  await world.addUser(ADMIN, { role: 'ADMIN' });
  await world.addUser(USER, { role: 'USER' });
  const sessions: Sessions = new Map();
  return {
    ...{ origin, world, manager: await signIn(origin, undefined, MANAGER) },
    open: (userName, path = '/', options = {}) => openWindow({ browser, origin, sessions }, userName, path, options),
    close: release,
  };
}

type Sessions = Map<string, Exclude<BrowserContextOptions['storageState'], undefined | string>>;

interface Opener {
  readonly browser: Browser;
  readonly origin: string;
  /** Cookies of the issuer, by user name. */
  readonly sessions: Sessions;
}

async function openWindow(
  { browser, origin, sessions }: Opener,
  userName: string,
  path: string,
  { isFresh = false, ...options }: WindowOptions,
): Promise<ConsoleWindow> {
  const known = isFresh ? undefined : sessions.get(userName);
  const state = known && { storageState: known };
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...state, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const complaints = listen(page, origin);
  const settled = watchRequests(page);
  await page.goto(origin + path);
  if (!known) {
    await page.getByLabel('User name').fill(userName);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button').click();
  }
  await page.getByRole('navigation').first().waitFor();
  const { cookies } = await context.storageState();
  // Later windows of the user get only the cookies, not the choices in the local storage.
  if (!isFresh) sessions.set(userName, { cookies, origins: [] });
  return { page, complaints, settled, close: () => context.close() };
}

function listen(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol.startsWith('http') && asked !== origin) complaints.push(`request to elsewhere: ${request.url()}`);
  });
  return complaints;
}

const QUIET_MS = 300;
const STREAM = '/data/watch';

/**
 * @returns a function that waits until `page` has had no running request for QUIET_MS. Requests to the path STREAM do
 * not count.
 */
function watchRequests(page: Page): () => Promise<void> {
  const running = new Set<unknown>();
  let lastEndMs = performance.now();
  const end = (request: unknown) => {
    if (running.delete(request)) lastEndMs = performance.now();
  };
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== STREAM) running.add(request);
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return async () => {
    lastEndMs = performance.now();
    await eventually('no running request', async () => running.size === 0 && performance.now() - lastEndMs >= QUIET_MS);
  };
}
