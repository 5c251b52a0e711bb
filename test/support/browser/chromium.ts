/**
 * Drives Debian's Chromium with the DevTools protocol over a pair of pipes. By default, pages run no scripts. When the
 * test's process ends, the pipes close and the browser ends too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createTab, type Tab } from './chromium-tab.ts';

export interface Chromium {
  readonly tab: Tab;
  /** Every requested address. */
  readonly requests: readonly string[];
  /** Ends the browser and removes its profile. */
  close(): Promise<void>;
}

/** Sends a command and resolves with its result. @see https://chromedevtools.github.io/devtools-protocol/ */
export type SendCommand = <Result>(method: string, parameters?: object) => Promise<Result>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Connection {
  send<Result>(method: string, parameters?: object, sessionId?: string): Promise<Result>;
  /** Closes the connection and rejects pending commands. */
  close(): void;
}

interface SentRequest {
  readonly request: { readonly url: string };
}

type OnEvent = (method: string, parameters: unknown) => void;

const FLAGS = [
  ...['--headless', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--disable-extensions'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-breakpad'],
  // Chromium's sandbox does not start as root. It is not needed, because the browser opens only pages of the tests.
  '--no-sandbox',
  '--remote-debugging-pipe',
];
const DOMAINS = ['Page', 'DOM', 'CSS', 'Log', 'Audits', 'Network', 'Runtime'];
const COMPLAINTS: ReadonlySet<string> = new Set(['Log.entryAdded', 'Audits.issueAdded', 'Runtime.exceptionThrown']);
const END_TIMEOUT_MS = 5000;
const PROFILE_PREFIX = 'tidemark-chromium-';

/** The headless shell has Chromium's engine without its window, and needs half the CPU time (2026-11). */
const PROGRAMS = ['chromium-headless-shell', 'chromium'];

/**
 * @returns the path of the first program of PROGRAMS that is installed; undefined when none is installed (`apt-get
 * install chromium-headless-shell`).
 */
export function findChromium(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  const paths = PROGRAMS.flatMap((program) => directories.map((directory) => join(directory, program)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @param isScripted true when pages may run scripts. Default: false, because the issuer's pages contain no scripts. */
export async function startChromium(program: string, { isScripted = false } = {}): Promise<Chromium> {
  await removeLeftProfiles();
  const profile = await mkdtemp(join(tmpdir(), `${PROFILE_PREFIX}${process.pid}-`));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const complaints: string[] = [];
  const requests: string[] = [];
  const connection = connect(child, (method, parameters) => {
    if (COMPLAINTS.has(method)) complaints.push(JSON.stringify(parameters));
    if (method === 'Network.requestWillBeSent') requests.push((parameters as SentRequest).request.url);
  });
  const close = async () => {
    connection.close();
    await end(child);
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    return { tab: createTab(await attach(connection, isScripted), complaints), requests, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Removes the browser profiles of test processes that were killed. */
async function removeLeftProfiles(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = new RegExp(`^${PROFILE_PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

/** Opens an empty page. @returns a function that sends commands to it. */
async function attach({ send }: Connection, isScripted: boolean): Promise<SendCommand> {
  const { targetId } = await send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
  const sendToPage: SendCommand = (method, parameters) => send(method, parameters, sessionId);
  for (const domain of DOMAINS) await sendToPage(`${domain}.enable`);
  await sendToPage('Emulation.setScriptExecutionDisabled', { value: !isScripted });
  return sendToPage;
}

/** Messages are JSON, each ended by a zero byte. */
function connect(child: ChildProcess, onEvent: OnEvent): Connection {
  const [toBrowser, fromBrowser] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const waiting = new Map<number, (message: Message) => void>();
  let last = 0;
  let rest = '';
  const fail = (reason: string) => {
    for (const answer of waiting.values()) answer({ error: { message: reason } });
    waiting.clear();
  };
  toBrowser.on('error', () => fail('Chromium has closed its pipe'));
  child.on('error', ({ message }) => fail(message));
  child.on('exit', () => fail('Chromium has ended'));
  fromBrowser.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const message = JSON.parse(part) as Message;
      if (message.id === undefined) onEvent(message.method ?? '', message.params);
      else waiting.get(message.id)?.(message);
    }
  });
  return {
    send: <Result>(method: string, params: object = {}, sessionId?: string) =>
      new Promise<Result>((resolve, reject) => {
        const id = ++last;
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error) reject(new Error(`${method}: ${error.message}`));
          else resolve(result as Result);
        });
        toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
      }),
    close: () => {
      fail('the connection was closed');
      toBrowser.end();
      fromBrowser.destroy();
    },
  };
}

/** Waits for the browser, whose pipes are closed, to exit. If it has not exited after END_TIMEOUT_MS, kills it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const killer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
  await once(child, 'exit');
  clearTimeout(killer);
}
