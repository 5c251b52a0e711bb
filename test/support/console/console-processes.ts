/**
 * Starts the product's roles and a browser. The test files of a worker share these processes, because the start takes
 * five CPU seconds. One test file at a time leases the processes, with an empty database.
 */
import { type Browser, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { findChromium } from '../browser/chromium.ts';
import { createStoredWorld, renewWorld, type StoredWorld } from '../fixtures/world.ts';
import { type RoleProcess, startRoles } from '../services/role-process.ts';
import { testRRoot } from '../services/stack.ts';

const FLAGS = [
  ...['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ...['--no-first-run', '--disable-breakpad', '--disable-gpu'],
];
/** Milliseconds that the processes run after the last `release`, so that the next test file can lease them. */
const IDLE_MS = 5000;

export interface ConsoleProcesses {
  readonly origin: string;
  readonly browser: Browser;
  readonly world: StoredWorld;
  /** Releases the processes, so that another test file can lease them. */
  release(): Promise<void>;
}

interface Running {
  readonly world: StoredWorld;
  readonly roles: RoleProcess;
  readonly browser: Browser;
  /** Called when the worker exits. Kills the process that runs the roles. */
  readonly onExit: () => void;
}

let running: Running | undefined;
let isLeased = false;
let idleTimer: NodeJS.Timeout | undefined;
/** Settles when the previous roles and browser have ended. New roles and a new browser start only afterwards. */
let ending: Promise<void> = Promise.resolve();

/** Leases the processes, and starts them if none are running. @throws {Error} if the processes are already leased. */
export async function leaseConsoleProcesses(): Promise<ConsoleProcesses> {
  if (isLeased) throw new Error('a test file may open one console stack at a time; close the first one');
  isLeased = true;
  clearTimeout(idleTimer);
  try {
    await ending;
    const isFirst = running === undefined;
    running ??= await start();
    const { roles, browser } = running;
    const world = isFirst ? running.world : await renewWorld(running.world);
    return { origin: roles.http, browser, world, release: () => release(browser) };
  } catch (error) {
    isLeased = false;
    throw error;
  }
}

async function start(): Promise<Running> {
  const program = findChromium();
  if (program === undefined) throw new Error('Chromium is missing; install the Debian package chromium-headless-shell');
  const world = await createStoredWorld();
  const environment = { ...world.environment, CONSOLE_DIRECTORY: inject('consoleDirectory'), R_ROOT: testRRoot() };
  const [roles, browser] = await Promise.all([
    startRoles(['api', 'ingester', 'calculator', 'deliverer'], environment),
    // The worker, not Playwright, handles the signals sent to the worker. When the worker ends, its pipe to the browser
    // closes, and the browser ends.
    chromium.launch({ executablePath: program, args: FLAGS, handleSIGTERM: false, handleSIGHUP: false }),
  ]);
  const onExit = () => void roles.kill();
  process.once('exit', onExit);
  process.once('SIGTERM', exitOnSignal);
  return { world, roles, browser, onExit };
}

/**
 * Runs the `exit` handlers on SIGTERM, by which Vitest ends a worker. By default, SIGTERM ends a process without
 * running these handlers.
 */
function exitOnSignal(): void {
  process.exit(0);
}

async function release(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
  isLeased = false;
  idleTimer = setTimeout(() => {
    ending = end();
  }, IDLE_MS).unref();
}

async function end(): Promise<void> {
  if (!running) return;
  const { world, roles, browser, onExit } = running;
  running = undefined;
  process.off('exit', onExit);
  process.off('SIGTERM', exitOnSignal);
  await browser.close();
  await roles.kill();
  await world.close();
}
