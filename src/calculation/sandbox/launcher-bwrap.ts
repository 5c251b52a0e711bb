/**
 * Starts a zygote in a bubblewrap container: user, mount, pid, network, IPC and UTS namespaces of its own, a read-only
 * root, no network and no variables of the calculator's environment. The container ends when the calculator ends.
 * A calculator that runs as root starts the container as an unprivileged user: the kernel does not let root create
 * nested namespaces with a private /proc (found by trial), and R must never run as root on the host.
 */
import { spawn } from 'node:child_process';
import { chown, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivilegedCommand } from '../../platform/unprivileged-command.ts';
import { makeControlGroup, type SharedLimits } from './control-group.ts';
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
import { findLeftovers, makeOwnedName } from './leftovers.ts';

const BOUND_ROOT = '/mnt/root';
const BOUND_DIRECTORY = '/mnt/socket';

/**
 * Creates the launcher that confines R with bubblewrap (R-H7). If the host lets Tidemark create a control group, the
 * group enforces `limits` for all runs together.
 * @param rRoot root directory of the R file system (mode 755).
 */
export function createBwrapLauncher(rRoot: string, limits?: SharedLimits): Launcher {
  return { mode: 'namespaces', launch: () => launch(rRoot, limits) };
}

async function launch(rRoot: string, limits: SharedLimits | undefined): Promise<Container> {
  const directory = await makeSocketDirectory();
  const group = limits && (await makeControlGroup(limits));
  const zygote = zygoteCommand(`${SOCKET_DIRECTORY}/${SOCKET_NAME}`, 'namespaces');
  const command = containerCommand(rRoot, directory, zygote);
  const [file = '', ...rest] = group ? group.join(command) : command;
  return {
    process: spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...HOST_ENVIRONMENT } }),
    socketPath: join(directory, SOCKET_NAME),
    remove: async () => {
      await rm(directory, { recursive: true, force: true });
      await group?.remove();
    },
  };
}

/**
 * Creates the directory of the socket. Only its owner and root may enter it. The owner is the user SANDBOX_UID if this
 * process runs as root, otherwise the user of this process. Also removes the directories of killed calculators.
 */
export async function makeSocketDirectory(): Promise<string> {
  for (const left of await findLeftovers(tmpdir())) await rm(left, { recursive: true, force: true }).catch(() => {});
  const directory = join(tmpdir(), makeOwnedName());
  await mkdir(directory, { mode: 0o700 });
  if (isRoot()) await chown(directory, SANDBOX_UID, SANDBOX_UID);
  return directory;
}

/** @returns the command line that runs `command` in a container and mounts `directory` there at `SOCKET_DIRECTORY`. */
export function containerCommand(rRoot: string, directory: string, command: readonly string[]): readonly string[] {
  if (!isRoot()) return bwrapCommand(rRoot, directory, command);
  return unprivilegedCommand({
    id: SANDBOX_UID,
    directories: { [rRoot]: BOUND_ROOT, [directory]: BOUND_DIRECTORY },
    command: bwrapCommand(BOUND_ROOT, BOUND_DIRECTORY, command),
  });
}

function bwrapCommand(rRoot: string, directory: string, command: readonly string[]): readonly string[] {
  const environment = Object.entries(CONTAINER_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]);
  return [
    ...['bwrap', '--unshare-all', '--die-with-parent', '--new-session', '--hostname', 'tidemark'],
    ...['--clearenv', ...environment],
    ...['--ro-bind', rRoot, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...['--bind', directory, SOCKET_DIRECTORY, '--chdir', '/tmp', '--', ...command],
  ];
}
