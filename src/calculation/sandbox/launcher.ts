/** Interface of the launchers: bwrap, an OCI engine, or none. Isolation is never reduced silently (R-H7). */
import type { ChildProcess } from 'node:child_process';

export type ContainerMode = 'namespaces' | 'rlimits-only';

/** A started container. Its process prints `ready` on standard output when the zygote listens on `socketPath`. */
export interface Container {
  readonly process: ChildProcess;
  readonly socketPath: string;
  /** Removes what the launch created on the host. The caller ends the process first. */
  remove(): Promise<void>;
}

export interface Launcher {
  /** How the R process of a run (the runner) confines itself inside the container; passed to the zygote. */
  readonly mode: ContainerMode;
  launch(): Promise<Container>;
}

/**
 * Id of the unprivileged user that R runs as: always in the container of an OCI engine, and in other sandboxes when
 * this process is root. No other program may run as this user.
 */
export const SANDBOX_UID = 26_002;

/** Directory of the socket inside the container; r-runtime/build.sh creates the mount point. */
export const SOCKET_DIRECTORY = '/opt/tidemark/socket';
export const SOCKET_NAME = 'zygote.sock';
export const RUNTIME_LIBRARY = '/opt/tidemark/r-runtime/library';

/** The environment of R, which does not inherit the calculator's environment. */
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

/** Environment of the host's programs that launch containers or R, such as bwrap. */
export const HOST_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};

/** @returns the command that turns R into a zygote listening on `socketPath`. */
export function zygoteCommand(socketPath: string, mode: ContainerMode): string[] {
  const call = `tidemark:::zygote_main(${JSON.stringify(socketPath)}, ${JSON.stringify(mode)})`;
  return ['R', '--no-echo', '--no-restore', '--vanilla', '-e', call];
}

/** @returns true when this process runs as root, which changes how the sandbox is entered. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
