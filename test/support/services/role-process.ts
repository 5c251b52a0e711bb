/**
 * Starts processes of the product as in production. Each process runs `src/main.ts`, with roles as arguments and an
 * environment of its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const READY_TIMEOUT_MS = 40_000;
const DRAIN_TIMEOUT_MS = 5000;

/** Environment variables of every role. A role gets only PATH from the environment of the suite. */
export const OWN_ENVIRONMENT: RoleEnvironment = {
  PATH: process.env.PATH ?? '',
  // The suite starts many roles; the compile cache makes each start faster.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../.local/compile-cache', import.meta.url)),
  HTTP_PORT: '0',
  GRPC_PORT: '0',
};

export interface RoleProcess {
  /** Address of the api role; empty when the process does not run it. */
  readonly http: string;
  /** host:port of the grpc role; empty when the process does not run it. */
  readonly grpc: string;
  /** Address of the health server; empty when HEALTH_PORT is not set. HEALTH_PORT=0 picks a free port. */
  readonly health: string;
  readonly pid: number;
  /** @returns the output of the process so far: JSON lines. */
  log(): string;
  /** Closes the reading end of the output. This simulates a log collector that has exited. */
  closeLog(): void;
  /** Resolves to the exit code or signal when the process has ended and its log is complete. */
  readonly ended: Promise<number | string>;
  /**
   * Sends a signal and waits for the exit. Default: SIGKILL, which ends the process like a crash.
   * @returns exit code or signal.
   */
  kill(signal?: NodeJS.Signals): Promise<number | string>;
}

export type RoleEnvironment = Readonly<Record<string, string>>;

/** Starts roles and waits until they are ready. @throws {Error} with the log when they do not become ready. */
export async function startRoles(roles: readonly string[], environment: RoleEnvironment): Promise<RoleProcess> {
  const child = fork(MAIN, [...roles], {
    env: { ...OWN_ENVIRONMENT, LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => lines.push(String(chunk)));
  const log = () => lines.join('');
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 0));
  });
  const ready = await waitUntilReady(child, log);
  return {
    http: ready.http ?? '',
    grpc: ready.grpc ?? '',
    health: ready.health ?? '',
    pid: child.pid ?? 0,
    ended,
    log,
    closeLog: () => {
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    },
    kill: (signal) => end(child, signal),
  };
}

interface Ready {
  /** `refused`: the process cannot start, and its log says why. */
  readonly kind?: string;
  readonly http?: string;
  readonly grpc?: string;
  readonly health?: string;
}

async function waitUntilReady(child: ChildProcess, log: () => string): Promise<Ready> {
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS);
  try {
    const outcome = await Promise.race([
      once(child, 'message').then(([message]) => message as Ready),
      once(child, 'exit').then(() => undefined),
    ]);
    if (!outcome || outcome.kind === 'refused') throw new Error(`the roles did not become ready:\n${log()}`);
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends the signal to a running child, and waits for its `close`: after `exit`, the last log lines may still be in the
 * pipe. A grandchild that keeps the pipe open delays the result by at most DRAIN_TIMEOUT_MS.
 * @returns the exit code, or the name of the signal that ended the child.
 */
async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    const close = once(child, 'close');
    child.kill(signal);
    await exit;
    await Promise.race([close, delay(DRAIN_TIMEOUT_MS, undefined, { ref: false })]);
  }
  return child.exitCode ?? child.signalCode ?? 0;
}
