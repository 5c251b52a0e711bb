/**
 * Starts a zygote in a container of an OCI engine, podman or docker. The container has no network, no capabilities and
 * no new privileges, a read-only root, an unprivileged user, and limits by control group. Each run creates namespaces
 * inside the container, so the seccomp filter of the engine must allow this (../../container/calculator-seccomp.json),
 * and /proc must not be masked.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SharedLimits } from './control-group.ts';
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
import { makeSocketDirectory } from './launcher-bwrap.ts';
import { runOci } from './oci-image.ts';

const SECCOMP_PROFILE = fileURLToPath(new URL('../../container/calculator-seccomp.json', import.meta.url));
const ID_BYTES = 6;

/**
 * Runs the zygote in the container, and kills the zygote when the standard input closes. The standard input closes when
 * the calculator ends. Without this script, the container would outlive the calculator.
 */
const END_WITH_STDIN = 'exec 3<&0; "$@" 3<&- & zygote=$!; (cat <&3 > /dev/null; kill -KILL $zygote) & wait $zygote';

export interface OciSettings extends SharedLimits {
  /** The engine and its options, such as `podman --runtime runc`. */
  readonly command: readonly string[];
  readonly image: string;
}

/** Creates the launcher that runs the zygote in a container of podman or docker (R-H7). */
export function createOciLauncher(settings: OciSettings): Launcher {
  return { mode: 'namespaces', launch: () => launch(settings) };
}

async function launch(settings: OciSettings): Promise<Container> {
  const directory = await makeSocketDirectory();
  const name = `tidemark-r-${randomBytes(ID_BYTES).toString('hex')}`;
  const [file = '', ...rest] = [...settings.command, ...runArguments(settings, name, directory)];
  return {
    process: spawn(file, rest, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...HOST_ENVIRONMENT } }),
    socketPath: join(directory, SOCKET_NAME),
    remove: async () => {
      // The container may outlive the client of podman or docker. Without --time, `podman rm` waits 10 s; `docker rm`
      // has no --time.
      const force = isDocker(settings.command) ? ['--force'] : ['--force', '--time', '0', '--ignore'];
      await runOci(settings.command, ['rm', ...force, name]).catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function runArguments(settings: OciSettings, name: string, directory: string): readonly string[] {
  const environment = Object.entries(CONTAINER_ENVIRONMENT).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const command = zygoteCommand(`${SOCKET_DIRECTORY}/${SOCKET_NAME}`, 'namespaces');
  const id = `${SANDBOX_UID}:${SANDBOX_UID}`;
  return [
    ...['run', '--rm', '--interactive', '--name', name, '--pull=never', '--network', 'none', '--hostname', 'tidemark'],
    ...['--read-only', '--tmpfs', '/tmp:rw,nosuid,nodev,noexec,size=64m', '--workdir', '/tmp', '--user', id],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${SECCOMP_PROFILE}`],
    ...['--security-opt', isDocker(settings.command) ? 'systempaths=unconfined' : 'unmask=ALL'],
    ...['--memory', String(settings.memoryBytes), '--pids-limit', String(settings.maxProcesses)],
    // Without these options, the default limits of podman and docker apply. If the default limits exceed hard limits
    // that this user cannot raise, the container does not start.
    ...['--ulimit', 'nofile=1024:4096', '--ulimit', 'nproc=1000:1000'],
    ...userNamespace(settings.command),
    ...['--volume', `${directory}:${SOCKET_DIRECTORY}`, ...environment],
    ...[settings.image, 'sh', '-c', END_WITH_STDIN, 'sh', ...command],
  ];
}

/**
 * @returns options with which rootless podman maps the user of the container to the user of this process. This process
 * may then connect to the socket that the container creates. Returns no options when this process is root or when the
 * engine is Docker.
 */
function userNamespace(command: readonly string[]): readonly string[] {
  return isRoot() || isDocker(command) ? [] : ['--userns', `keep-id:uid=${SANDBOX_UID},gid=${SANDBOX_UID}`];
}

function isDocker([engine = '']: readonly string[]): boolean {
  return basename(engine).startsWith('docker');
}
