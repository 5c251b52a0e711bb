/**
 * Runs a program inside a root file system: with `bwrap` in namespaces of its own or, where the kernel refuses user
 * namespaces and this process is root, with `chroot`. The program runs under an unprivileged user id, has one
 * directory for its data, and is killed by the kernel when this process dies.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { unprivilegedCommand } from '../../platform/unprivileged-command.ts';
import { SetupError } from '../setup-error.ts';

/**
 * User id and group id of the services when this process runs as root. /etc/passwd and /etc/group in the database's
 * root file system contain the ids.
 */
export const SERVICE_ID = 26_001;

const INNER_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LANG: 'C.UTF-8', HOME: '/tmp' };
const NAMESPACES = ['--unshare-all', '--share-net', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'] as const;
const ID = String(SERVICE_ID);
const SERVICE_RIGHTS = ['--reuid', ID, '--regid', ID, '--clear-groups', '--pdeathsig', 'KILL', '--'] as const;
const MOUNTED_ROOT = '/mnt/root';
const MOUNTED_STATE = '/mnt/state';
const DEVICES = ['null', 'zero', 'random', 'urandom'] as const;
const DEVICE_NUMBERS = { null: ['1', '3'], zero: ['1', '5'], random: ['1', '8'], urandom: ['1', '9'] } as const;

type StdioEntry = 'inherit' | 'ignore' | 'pipe' | number;

export type LauncherKind = 'bwrap' | 'chroot';

/**
 * The writable directory of a program: its path on the host and inside the root file system. The directory outlives the
 * program.
 */
export interface State {
  readonly hostPath: string;
  readonly innerPath: string;
}

export interface RootProgram {
  readonly root: string;
  readonly state: State;
  readonly argv: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Destination of the program's output: a descriptor, a pipe, or (`inherit`) the output of this process. With
   * `inherit`, the program also reads the input of this process.
   */
  readonly output: number | 'pipe' | 'inherit';
  /** File descriptor of a lock. The lock stays held while any process of the program runs. */
  readonly lock?: number;
}

export interface RunningProgram {
  /** The launcher's process, which ends when the program ends. */
  readonly child: ChildProcess;
  /** Process id of the program, as seen from the PID namespace of this process. Signals to the program use this id. */
  readonly pid: Promise<number>;
}

/**
 * @returns the launcher this machine allows. `TIDEMARK_NO_USERNS=1` in the environment has the same effect as a kernel
 * that refuses user namespaces.
 * @throws {SetupError} when bwrap cannot use user namespaces and this process is not root. (Only root can use chroot.)
 */
export function chooseLauncher(environment: Readonly<Record<string, string | undefined>>): LauncherKind {
  const refusal = findNamespaceRefusal(environment);
  if (refusal === undefined) return 'bwrap';
  if (isRoot()) return 'chroot';
  throw new SetupError(
    `bwrap cannot use user namespaces here (${refusal}). Run the command as root. ` +
      'To start Tidemark without root, set DATABASE_URL and REDIS_URL, or use `docker compose up`.',
  );
}

/** @returns why bwrap cannot use user namespaces; undefined when it can. */
export function findNamespaceRefusal(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  if (environment.TIDEMARK_NO_USERNS === '1') return 'TIDEMARK_NO_USERNS is set';
  const [program = '', ...rest] = confine('/', '/tmp', () => ['bwrap', '--ro-bind', '/', '/', ...NAMESPACES, 'true']);
  try {
    execFileSync(program, rest, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', cwd: '/' });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return `${program} is not installed`;
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr ?? '').trim() : '';
    return output || String(error);
  }
}

/**
 * @returns the command of `commandFor`. If this process runs as root, the command runs as the user SERVICE_ID. `root`
 *   and `state` are then mounted at paths that this user can reach.
 */
function confine(
  root: string,
  state: string,
  commandFor: (root: string, state: string) => readonly string[],
): readonly string[] {
  if (!isRoot()) return commandFor(root, state);
  return unprivilegedCommand({
    id: SERVICE_ID,
    directories: { [root]: MOUNTED_ROOT, [state]: MOUNTED_STATE },
    command: commandFor(MOUNTED_ROOT, MOUNTED_STATE),
  });
}

/**
 * Creates the writable directory (see `locateState`) if the directory is missing. If this process runs as root, the
 * program runs as SERVICE_ID, so SERVICE_ID becomes the owner.
 */
export function prepareState(kind: LauncherKind, root: string, localPath: string): State {
  const state = locateState(kind, root, localPath);
  mkdirSync(state.hostPath, { recursive: true, mode: 0o700 });
  if (isRoot()) chownSync(state.hostPath, SERVICE_ID, SERVICE_ID);
  return state;
}

/**
 * Finds the paths of the writable directory. Under chroot, a program sees only the files below `root`, so the directory
 * is below `root`.
 */
export function locateState(kind: LauncherKind, root: string, localPath: string): State {
  if (kind === 'bwrap') return { hostPath: localPath, innerPath: '/data' };
  const innerPath = `/data/${createHash('sha256').update(localPath).digest('hex').slice(0, 16)}`;
  return { hostPath: join(root, innerPath), innerPath };
}

/** Starts a program that dies with this process. */
export function launch(kind: LauncherKind, program: RootProgram): RunningProgram {
  const running = kind === 'bwrap' ? launchInNamespaces(program) : launchInChroot(program);
  // Without this handler, a failed start would end this process when the caller does not use `pid`. Such a caller sees
  // the failed start in the events of `child`.
  running.pid.catch(() => undefined);
  return running;
}

/**
 * Runs `program` to its end.
 * @returns its output.
 * @throws {Error} when the program does not end with exit code 0. The message contains the exit code or signal, and the
 * output.
 */
export async function runToEnd(kind: LauncherKind, program: Omit<RootProgram, 'output'>): Promise<string> {
  const { child } = launch(kind, { ...program, output: 'pipe' });
  const exit = new Promise<string>((resolve, reject) => {
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)).on('error', reject);
  });
  const streams = [child.stdout, child.stderr].flatMap((stream) => (stream ? [text(stream)] : []));
  const output = (await Promise.all(streams)).join('');
  const end = await exit;
  if (end !== 'exit code 0') throw new Error(`${program.argv[0]} ended with ${end}:\n${output}`);
  return output;
}

function launchInNamespaces(program: RootProgram): RunningProgram {
  const { root, state } = program;
  const [command = '', ...rest] = confine(root, state.hostPath, (boundRoot, boundState) => [
    ...['bwrap', '--info-fd', '3', '--uid', ID, '--gid', ID, '--as-pid-1', '--chdir', '/'],
    ...['--ro-bind', boundRoot, '/', '--bind', boundState, state.innerPath, '--tmpfs', '/tmp'],
    ...NAMESPACES,
    ...program.argv,
  ]);
  const child = spawn(command, rest, {
    ...spawnOptions(program),
    stdio: [...terminal(program), 'pipe', lockOf(program)],
  });
  return { child, pid: readChildPid(child) };
}

async function readChildPid(child: ChildProcess): Promise<number> {
  // Without a process, nothing closes the pipe, so reading the pipe would never end.
  if (child.pid === undefined) throw new Error(`${child.spawnfile} could not be started`);
  const info = child.stdio[3];
  if (!info || !('readable' in info)) throw new Error('bwrap must have a pipe as descriptor 3');
  const match = /"child-pid": *(\d+)/.exec(await text(info));
  if (!match) throw new Error('bwrap ended before it started its program');
  return Number(match[1]);
}

function launchInChroot(program: RootProgram): RunningProgram {
  makeDevices(program.root);
  const argv = [program.root, 'setpriv', ...SERVICE_RIGHTS, ...program.argv];
  const child = spawn('chroot', argv, {
    ...spawnOptions(program),
    stdio: [...terminal(program), 'ignore', lockOf(program)],
  });
  const pid =
    child.pid === undefined ? Promise.reject(new Error('chroot could not be started')) : Promise.resolve(child.pid);
  return { child, pid };
}

/**
 * @returns the options for `spawn`. A program that does not use the terminal gets its own session, so Ctrl-C does not
 *   reach the program.
 */
function spawnOptions(program: RootProgram) {
  return { env: { ...INNER_ENVIRONMENT, ...program.environment }, cwd: '/', detached: program.output !== 'inherit' };
}

function terminal({ output }: RootProgram): readonly StdioEntry[] {
  return [output === 'inherit' ? 'inherit' : 'ignore', output, output];
}

function lockOf({ lock }: RootProgram): StdioEntry {
  return lock ?? 'ignore';
}

/**
 * Creates the device files that a chroot needs. Unpacking leaves them out, because only the superuser may create device
 * files.
 */
export function makeDevices(root: string): void {
  for (const device of DEVICES) {
    const path = join(root, 'dev', device);
    if (existsSync(path)) continue;
    execFileSync('mknod', ['-m', '666', path, 'c', ...DEVICE_NUMBERS[device]], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

/** @returns true when this process runs as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
