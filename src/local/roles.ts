/**
 * The roles of the engine as one child process, told its settings through the environment only. It reports by IPC when
 * it is ready: `{kind: 'ready', http, grpc}`. Its JSON logs go to a file. It is killed by the kernel if we die (R-K3).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT, PINNED_NODE } from './paths.ts';
import { readLogEnd, withLog } from './services/service.ts';
import { SetupError } from './setup-error.ts';

const READY_TIMEOUT_MS = 60_000;
/** R-K2 gives a process 30 s. */
const STOP_TIMEOUT_MS = 32_000;

export type Role = 'api' | 'grpc' | 'ingester' | 'calculator' | 'deliverer';

export interface RolesOptions {
  readonly roles: readonly Role[];
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface RunningRoles {
  /** Address of the HTTP role. */
  readonly http: string;
  /** host:port of the gRPC role. */
  readonly grpc: string;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

interface ReadyMessage {
  readonly kind: 'ready';
  readonly http: string;
  readonly grpc: string;
}

/** Starts the roles and waits until they are ready. @throws SetupError with the end of their log when they are not. */
export async function startRoles(options: RolesOptions): Promise<RunningRoles> {
  const child = withLog(options.logFile, (output) => spawnRoles(options, output));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = () => stopRoles(child, ended);
  const ready = await awaitReady(child, ended);
  if (ready) return { http: ready.http, grpc: ready.grpc, ended, stop };
  await stop();
  throw new SetupError(`The engine did not become ready:\n${readLogEnd(options.logFile)}`);
}

function spawnRoles({ roles, environment }: RolesOptions, output: number): ChildProcess {
  const argv = ['--pdeathsig', 'KILL', '--', PINNED_NODE, join(CHECKOUT, 'src/main.ts'), ...roles];
  return spawn('setpriv', argv, {
    cwd: CHECKOUT,
    stdio: ['ignore', output, output, 'ipc'],
    env: { ...process.env, ...environment },
    detached: true,
  });
}

function awaitReady(child: ChildProcess, ended: Promise<void>): Promise<ReadyMessage | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), READY_TIMEOUT_MS);
    void ended.then(() => resolve(undefined)).finally(() => clearTimeout(timer));
    child.on('message', (message) => {
      if (!isReady(message)) return;
      clearTimeout(timer);
      resolve(message);
    });
  });
}

function isReady(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'ready';
}

async function stopRoles(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
