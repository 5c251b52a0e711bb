/** A database or Redis under way: waits until it answers, notices when it ends by itself, stops it within a deadline. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../setup-error.ts';
import type { LauncherKind, RunningProgram } from './launcher.ts';

const POLL_MS = 50;
const SHOWN_LOG_LINES = 12;
const LARGEST_LOG_BYTES = 32 << 20;

/** A started service. */
export interface Service {
  readonly name: string;
  readonly url: string;
  /** Resolves when the service has ended, whoever wanted it. */
  readonly ended: Promise<void>;
  /** Asks it to stop in good order, and kills it after `timeoutMs`. */
  stop(): Promise<void>;
}

/** What the services of a stack are started with. */
export interface StackServiceOptions {
  readonly launcher: LauncherKind;
  readonly root: string;
  /** Directory of this stack's own. */
  readonly directory: string;
  readonly logFile: string;
  readonly password: string;
  readonly lock: number;
  readonly wantedPort: number | undefined;
  /** Whether what it holds must survive a crash; tests trade that for speed. */
  readonly isDurable: boolean;
}

export interface ServiceOptions {
  readonly name: string;
  readonly url: string;
  readonly program: RunningProgram;
  readonly logFile: string;
  readonly stopSignal: 'SIGINT' | 'SIGTERM';
  readonly stopTimeoutMs: number;
  readonly readyTimeoutMs: number;
  /** Throws until the service answers; a SetupError when it never will. */
  readonly probe: () => Promise<void>;
}

/** Waits until the service answers. @throws SetupError with the end of its log when it ends first or takes too long. */
export async function awaitService(options: ServiceOptions): Promise<Service> {
  const { child } = options.program;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const service = { name: options.name, url: options.url, ended, stop: () => stop(options, ended) };
  const deadlineMs = Date.now() + options.readyTimeoutMs;
  const state = { hasEnded: false };
  void ended.then(() => {
    state.hasEnded = true;
  });
  for (;;) {
    if (state.hasEnded) throw new SetupError(`${options.name} ended at once:\n${readLogEnd(options.logFile)}`);
    const problem = await options.probe().then(() => undefined, toError);
    if (problem === undefined) return service;
    if (problem instanceof SetupError || Date.now() > deadlineMs) {
      await service.stop();
      throw new SetupError(`${options.name} does not answer: ${problem.message}\n${readLogEnd(options.logFile)}`);
    }
    await delay(POLL_MS);
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

async function stop(options: ServiceOptions, ended: Promise<void>): Promise<void> {
  const { child, pid } = options.program;
  if (child.exitCode !== null || child.signalCode !== null) return;
  signal(await pid.catch(() => undefined), options.stopSignal);
  const timer = setTimeout(() => child.kill('SIGKILL'), options.stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** Opens a log to append to; one that has grown large is put aside first, replacing the one put aside before. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && statSync(path).size > LARGEST_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** Runs `work` with the log open. */
export function withLog<T>(path: string, work: (descriptor: number) => T): T {
  const descriptor = openLog(path);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The last lines of a log, and where it is. */
export function readLogEnd(path: string): string {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  return [...lines.slice(-SHOWN_LOG_LINES), `(all of it: ${path})`].join('\n');
}
