/**
 * The container of a zygote by bubblewrap: own user, mount, pid, network, IPC and UTS namespaces, read-only root, no
 * network, empty environment, ends with us. As root it first becomes an unprivileged user: nested namespaces with a
 * private /proc are refused to root (tried), and R must never run as root on the host.
 */
import { spawn } from 'node:child_process';
import { chown, type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CONTAINER_ENVIRONMENT,
  type Container,
  HOST_ENVIRONMENT,
  isRoot,
  type Launcher,
  SANDBOX_UID,
  SOCKET_DIRECTORY,
  SOCKET_NAME,
  zygoteCommand,
} from './launcher.ts';

/** @param rRoot root directory of the R file system (mode 755). */
export function createBwrapLauncher(rRoot: string): Launcher {
  return { mode: 'namespaces', launch: () => launch(rRoot) };
}

async function launch(rRoot: string): Promise<Container> {
  const directory = await makeSocketDirectory();
  // By descriptor, because the user that opens them inside may be unable to walk the paths (a cache under /root).
  const handles = await Promise.all([open(rRoot), open(directory)]);
  try {
    const child = spawnBwrap(handles);
    return {
      process: child,
      socketPath: join(directory, SOCKET_NAME),
      remove: () => rm(directory, { recursive: true, force: true }),
    };
  } finally {
    await Promise.all(handles.map((handle) => handle.close()));
  }
}

/** Only the sandbox's user, and root, may reach the socket. */
async function makeSocketDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-r-'));
  if (isRoot()) await chown(directory, SANDBOX_UID, SANDBOX_UID);
  return directory;
}

function spawnBwrap(handles: readonly FileHandle[]) {
  const command = [...unprivileged(), 'bwrap', ...bwrapArguments(), ...insideCommand()];
  const [file = '', ...rest] = command;
  return spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe', ...handles.map((handle) => handle.fd)],
    env: { ...HOST_ENVIRONMENT },
  });
}

function unprivileged(): string[] {
  const id = String(SANDBOX_UID);
  return isRoot() ? ['setpriv', '--reuid', id, '--regid', id, '--clear-groups', '--'] : [];
}

function bwrapArguments(): string[] {
  const environment = Object.entries(CONTAINER_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]);
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--hostname', 'tidemark', '--clearenv', ...environment],
    ...['--ro-bind', '/proc/self/fd/3', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--bind', '/proc/self/fd/4', SOCKET_DIRECTORY, '--chdir', '/tmp', '--'],
  ];
}

/** The directories of the host are closed before R starts: an open one would be a way out of the container. */
function insideCommand(): string[] {
  const command = zygoteCommand(`${SOCKET_DIRECTORY}/${SOCKET_NAME}`, 'namespaces');
  return ['/bin/sh', '-c', 'exec 3<&- 4<&-; exec "$@"', 'sh', ...command];
}
