/**
 * Launcher without a container, for machines whose kernel refuses user namespaces. Runs have no namespaces of their
 * own; rlimits, the supervisors and the system-call filter confine them. The filter blocks the network. R has a user id
 * of its own only if the calculator is root. All runs share /tmp and see each other's processes. Needs
 * SANDBOX_ALLOW_NONE.
 */
import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
import { SandboxUnavailableError } from './sandbox-types.ts';

/**
 * Creates the launcher that runs R without a container.
 * @throws {SandboxUnavailableError} when this process is not root and `rRoot` is not `/`: only root can change the root
 * directory.
 */
export function createNoneLauncher(rRoot: string): Launcher {
  if (!isRoot() && rRoot !== '/') {
    throw new SandboxUnavailableError(
      `with SANDBOX=none, only root can start R in another root directory; run the service as root, or set R_ROOT to "/" and let the user of the service own /tmp and write to ${SOCKET_DIRECTORY}`,
    );
  }
  return { mode: 'rlimits-only', launch: () => launch(rRoot) };
}

async function launch(rRoot: string): Promise<Container> {
  const parent = join(rRoot, SOCKET_DIRECTORY);
  await mkdir(parent, { recursive: true });
  for (const left of await findLeftovers(parent)) await rm(left, { recursive: true, force: true }).catch(() => {});
  const directory = join(parent, makeOwnedName());
  await mkdir(directory, { mode: 0o700 });
  if (isRoot()) await chown(directory, SANDBOX_UID, SANDBOX_UID);
  await chmod(join(rRoot, 'tmp'), 0o1777);
  const inside = `/${directory.slice(rRoot.length).replace(/^\/+/, '')}/${SOCKET_NAME}`;
  const [file = '', ...rest] = [...changeUser(rRoot), ...zygoteCommand(inside, 'rlimits-only')];
  const child = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The directory of the socket is also R's temporary directory, so `remove` deletes R's temporary files too.
    env: { ...CONTAINER_ENVIRONMENT, ...HOST_ENVIRONMENT, TMPDIR: dirname(inside) },
    cwd: '/',
  });
  return {
    process: child,
    socketPath: join(directory, SOCKET_NAME),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

function changeUser(rRoot: string): string[] {
  if (!isRoot()) return ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'];
  const id = String(SANDBOX_UID);
  const drop = [
    'setpriv',
    '--reuid',
    id,
    '--regid',
    id,
    '--clear-groups',
    '--no-new-privs',
    '--pdeathsig',
    'KILL',
    '--',
  ];
  return rRoot === '/' ? drop : ['chroot', rRoot, ...drop];
}
