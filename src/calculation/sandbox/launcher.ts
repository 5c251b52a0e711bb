/**
 * Interface of the launchers, which start R with bwrap, with an OCI engine or without a container. Isolation is never
 * reduced silently (R-H7).
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export type ContainerMode = 'namespaces' | 'rlimits-only';

/** A started container. Its process prints `ready` on standard output when the zygote listens on `socketPath`. */
export interface Container {
  readonly process: ChildProcess;
  readonly socketPath: string;
  /** Removes what the launch created on the host. The caller ends the process first. */
  remove(): Promise<void>;
}

export interface Launcher {
  /** Tells the zygote how the R process of a run (the runner) must confine itself inside the container. */
  readonly mode: ContainerMode;
  launch(): Promise<Container>;
}

/**
 * Id of the unprivileged user that R runs as when an OCI engine or root starts R. No other program may run as this
 * user.
 */
export const SANDBOX_UID = 26_002;

/** Directory of the socket inside the container; r-runtime/build.sh creates the mount point. */
export const SOCKET_DIRECTORY = '/opt/tidemark/socket';
export const SOCKET_NAME = 'zygote.sock';
export const RUNTIME_LIBRARY = '/opt/tidemark/r-runtime/library';

/**
 * Environment of R; without a container, PATH and TMPDIR have other values. R inherits nothing from the calculator's
 * environment.
 */
export const CONTAINER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  R_LIBS: RUNTIME_LIBRARY,
  // Keeps libraries single-threaded: threads do not survive a fork.
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
};

/** Environment of the programs on the host, such as bwrap, that launch a container or R. */
export const HOST_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};

/** @returns the command that starts R as a zygote, which listens on `socketPath`. */
export function zygoteCommand(socketPath: string, mode: ContainerMode): string[] {
  const call = `tidemark:::zygote_main(${JSON.stringify(socketPath)}, ${JSON.stringify(mode)})`;
  return ['R', '--no-echo', '--no-restore', '--vanilla', '-e', call];
}

/**
 * Kills the process of a container and its descendants, and returns at once: the processes end shortly afterwards.
 * Killing only bwrap while it starts could leave a child of bwrap behind. A container of podman or docker may live
 * until `remove`.
 */
export function killContainer({ process: child }: Container): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) void killTree(child.pid);
}

/** Longest wait until the processes of a container have stopped. A process normally stops within a millisecond. */
const STOP_LIMIT_MS = 2000;

/** Kills a process and its descendants. Suspends the process first, so the process cannot start another child. */
async function killTree(pid: number, deadlineMs = performance.now() + STOP_LIMIT_MS): Promise<void> {
  signal(pid, 'SIGSTOP');
  // A fork in progress ends before the process stops. Reading the children earlier would miss the new child.
  while (isRunning(pid) && performance.now() < deadlineMs) await pause(1);
  for (const child of readChildren(pid)) await killTree(child, deadlineMs);
  signal(pid, 'SIGKILL');
}

/** @returns false when the process is stopped, has ended, or /proc does not show it. */
function isRunning(pid: number): boolean {
  try {
    // The name of the command, in parentheses, comes before the state and may contain any character.
    return /^[^TtZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, ''));
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}

/**
 * @returns the pids of the children that the main thread of process `pid` started. None when the process has ended or
 * /proc does not list its children.
 */
function readChildren(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** @returns true when this process runs as root, which changes how the sandbox is entered. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
