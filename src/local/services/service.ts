/**
 * Manages a PostgreSQL or Redis process: waits until the process answers, reports when it ends, and stops it within a
 * deadline.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../setup-error.ts';
import type { LauncherKind, RunningProgram } from './launcher.ts';

const POLL_MS = 50;
const SHOWN_LOG_LINES = 12;
const MAX_LOG_BYTES = 32 << 20;

/** A started service. */
export interface Service {
  readonly name: string;
  readonly url: string;
  /** Resolves when the service has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  /** Sends the stop signal, and kills the service when it has not ended after `stopTimeoutMs`. */
  stop(): Promise<void>;
}

/** Options of one service of a stack: PostgreSQL or Redis. */
export interface StackServiceOptions {
  readonly launcher: LauncherKind;
  /** Directory that contains the root file system of the service. */
  readonly root: string;
  /** Directory with the data of the service. */
  readonly directory: string;
  readonly logFile: string;
  readonly password: string;
  /** File descriptor of the stack's lock. The service inherits the descriptor. */
  readonly lock: number;
  /** Port of the last start, used again if it is free. */
  readonly wantedPort: number | undefined;
  /** Whether data survive a crash; tests set false for speed. */
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
  /** Rejects until the service answers. The error is a SetupError when waiting longer is useless. */
  readonly probe: () => Promise<void>;
}

/**
 * Waits until the service answers.
 * @throws {SetupError} when the service exits before it answers, when the probe rejects with a SetupError, or when the
 * service has not answered after `readyTimeoutMs`. The message contains the last lines of the service's log.
 */
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
    if (state.hasEnded) {
      const reason = await options.program.pid.then(
        () => '',
        (error: unknown) => ` (${toError(error).message})`,
      );
      throw new SetupError(`${options.name} ended before it was ready${reason}:\n${readLogEnd(options.logFile)}`);
    }
    const problem = await options.probe().then(() => undefined, toError);
    if (problem === undefined) return service;
    if (problem instanceof SetupError || Date.now() > deadlineMs) {
      await service.stop();
      const waited = problem instanceof SetupError ? '' : ` after ${options.readyTimeoutMs / 1000} s`;
      throw new SetupError(`${options.name} is not ready${waited}: ${problem.message}\n${readLogEnd(options.logFile)}`);
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
    // The process has ended in the meantime.
  }
}

/** Opens a log to append to. A log above MAX_LOG_BYTES is first renamed to `.1`, replacing the previous `.1`. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && statSync(path).size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** Runs `work` with a descriptor of the log, then closes the descriptor. */
export function withLog<T>(path: string, work: (descriptor: number) => T): T {
  const descriptor = openLog(path);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** @returns the last lines of a log, and its path. */
export function readLogEnd(path: string): string {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  return [...lines.slice(-SHOWN_LOG_LINES), `(full log: ${path})`].join('\n');
}
