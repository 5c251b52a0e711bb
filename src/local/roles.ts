/**
 * Runs the roles in one child process. The arguments of the child name the roles; environment variables hold all its
 * settings. The child reports over IPC: `{kind: 'ready', http, grpc}`, or `{kind: 'refused', message}` before it exits.
 * The JSON logs of the child go to a file. The kernel kills the child when this process dies (R-K3).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT, LOCAL_DIRECTORY, PINNED_NODE } from './paths.ts';
import { readLogEnd, withLog } from './services/service.ts';
import { SetupError } from './setup-error.ts';

const READY_TIMEOUT_MS = 60_000;
/** Time between SIGTERM and SIGKILL in `stopRoles`. Longer than the 30 s within which a process must stop (R-K2). */
const STOP_TIMEOUT_MS = 32_000;

export type Role = 'api' | 'grpc' | 'ingester' | 'calculator' | 'deliverer';

export interface RolesOptions {
  readonly roles: readonly Role[];
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export interface RunningRoles {
  /** URL of the HTTP API, such as http://127.0.0.1:3000. */
  readonly http: string;
  /** host:port of the gRPC server. */
  readonly grpc: string;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

type Report =
  | { readonly kind: 'ready'; readonly http: string; readonly grpc: string }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Starts the roles in a child process and waits until they are ready.
 * @throws {SetupError} when the roles do not become ready. The message has the reported reason or, if there is none,
 *   the end of the log.
 */
export async function startRoles(options: RolesOptions): Promise<RunningRoles> {
  const child = withLog(options.logFile, (output) => spawnRoles(options, output));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = () => stopRoles(child, ended);
  const report = await awaitReport(child, ended);
  if (report?.kind === 'ready') return { http: report.http, grpc: report.grpc, ended, stop };
  // A closed channel shows that the child has ended.
  const hasEnded = !child.connected;
  await stop();
  if (report) throw new SetupError(report.message);
  const what = hasEnded
    ? 'The server process ended before it was ready'
    : `The server process was not ready within ${READY_TIMEOUT_MS / 1000} s`;
  throw new SetupError(`${what}; the end of the log:\n${readLogEnd(options.logFile)}`);
}

function spawnRoles({ roles, environment }: RolesOptions, output: number): ChildProcess {
  const argv = ['--pdeathsig', 'KILL', '--', PINNED_NODE, join(CHECKOUT, 'src/main.ts'), ...roles];
  return spawn('setpriv', argv, {
    cwd: CHECKOUT,
    stdio: ['ignore', output, output, 'ipc'],
    // The cache of compiled code halves the time of every start but the first.
    env: { NODE_COMPILE_CACHE: join(LOCAL_DIRECTORY, 'compile-cache'), ...process.env, ...environment },
    detached: true,
  });
}

/** @returns the report of the child; undefined when the child ends, or READY_TIMEOUT_MS passes, without a report. */
function awaitReport(child: ChildProcess, ended: Promise<void>): Promise<Report | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), READY_TIMEOUT_MS);
    // The wait ends at `disconnect`, not at `exit`, because the child's report may arrive after `exit`.
    child.once('disconnect', () => resolve(undefined));
    child.once('error', ({ message }) =>
      resolve({ kind: 'refused', message: `The server process could not be started: ${message}` }),
    );
    child.on('message', (message) => {
      if (isReport(message)) resolve(message);
    });
    void ended.finally(() => clearTimeout(timer));
  });
}

function isReport(message: unknown): message is Report {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    (message.kind === 'ready' || message.kind === 'refused')
  );
}

async function stopRoles(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
