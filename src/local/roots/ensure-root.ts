/**
 * Builds root file systems with mmdebstrap and keeps them in the user's cache, one directory per recipe hash. A root
 * file system is moved to its final path only when it is complete. Older root file systems stay: other checkouts may
 * use them, and they contain the data of services that were started with `chroot`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { cacheDirectory } from '../paths.ts';
import type { Progress, Step } from '../progress.ts';
import { isRoot } from '../services/launcher.ts';
import { tryLock } from '../services/lock.ts';
import { SetupError } from '../setup-error.ts';
import { makeBuildDirectory, removeBuildDirectory, sweepBuildDirectories } from './build-directory.ts';
import type { RootRecipe } from './recipes.ts';

const BUILD_WAIT_SEC = 900;
const KEPT_ERROR_LINES = 15;
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LEFT_OUT = ['doc', 'man', 'info', 'locale', 'lintian'].map((name) => `/usr/share/${name}/*`);

/**
 * Builds the root file system of `recipe` if it is missing. @returns the path of the root file system.
 * @throws {SetupError} when the build fails.
 */
export async function ensureRoot(recipe: RootRecipe, progress: Progress): Promise<string> {
  const root = rootDirectory(recipe);
  if (existsSync(root)) return root;
  const cache = cacheDirectory(process.env);
  mkdirSync(cache, { recursive: true });
  await progress.phase(`Building the ${recipe.label} (cached for later runs)`, async (step) => {
    using lock = tryLock(join(cache, `${recipe.name}.lock`), BUILD_WAIT_SEC);
    if (!lock)
      throw new SetupError(
        `Another build of the ${recipe.label} has not ended after ${BUILD_WAIT_SEC} s; try again when that build has ended.`,
      );
    if (!existsSync(root)) await build(recipe, cache, root, step);
  });
  return root;
}

/** @returns the path of the root file system of `recipe`; the root file system need not be built yet. */
export function rootDirectory(recipe: RootRecipe): string {
  return join(cacheDirectory(process.env), `${recipe.name}-${recipe.hash}`);
}

async function build(recipe: RootRecipe, cache: string, root: string, step: Step): Promise<void> {
  const prefix = `.building-${recipe.name}-`;
  // Removes the directories of interrupted builds. No build uses them, because this process holds the recipe's lock.
  for (const name of readdirSync(cache).filter((entry) => entry.startsWith(prefix))) removeTree(join(cache, name));
  sweepBuildDirectories();
  const unfinished = mkdtempSync(join(cache, prefix));
  const work = makeBuildDirectory();
  const stage = join(work, 'stage');
  try {
    mkdirSync(stage, { mode: 0o755 });
    for (const [name, path] of Object.entries(recipe.stagedFiles)) cpSync(path, join(stage, name));
    await unpack(recipe, unfinished, { stage, temporary: work }, step);
    await chmod(unfinished, 0o755);
    renameSync(unfinished, root);
  } finally {
    removeTree(unfinished);
    removeBuildDirectory(work);
  }
}

/**
 * Makes mmdebstrap write a tar archive, which `tar` unpacks. If mmdebstrap wrote the directory itself and had no root
 * rights, the files would belong to subordinate ids.
 */
async function unpack(
  recipe: RootRecipe,
  target: string,
  { stage, temporary }: { readonly stage: string; readonly temporary: string },
  step: Step,
): Promise<void> {
  const debootstrap = spawnTied([...privateNamespaces(), 'mmdebstrap', ...mmdebstrapArguments(recipe)], {
    ...process.env,
    TIDEMARK_STAGE: stage,
    TMPDIR: temporary,
  });
  const ownership = isRoot() ? ['--numeric-owner', '--same-owner', '--same-permissions'] : ['--no-same-owner'];
  const tar = spawnTied(['tar', '--extract', '--directory', target, '--exclude', './dev/*', ...ownership], process.env);
  if (!debootstrap.stdout || !tar.stdin) throw new Error('the standard streams of mmdebstrap and tar must be pipes');
  const [messages, errors] = [followMessages(debootstrap, step), followMessages(tar, step)];
  const copied = pipeline(debootstrap.stdout, tar.stdin).catch(() => 'mmdebstrap or tar failed; see the exit codes');
  // A signal ends mmdebstrap and tar, but not this process: `build` must still remove the remaining files.
  const interrupt = (): void => {
    for (const { pid } of [debootstrap, tar]) if (pid !== undefined) endGroup(pid);
  };
  for (const signal of INTERRUPTS) process.on(signal, interrupt);
  const [built, unpacked] = await Promise.all([once(debootstrap, 'exit'), once(tar, 'exit'), copied]);
  for (const signal of INTERRUPTS) process.off(signal, interrupt);
  if (built[0] !== 0 || unpacked[0] !== 0) {
    const tail = [...messages, ...errors].slice(-KEPT_ERROR_LINES).join('\n');
    const ends = `mmdebstrap ended with ${describeEnd(built)}, tar with ${describeEnd(unpacked)}`;
    throw new SetupError(`The ${recipe.label} could not be built; ${ends}:\n${tail}`);
  }
}

/** @param end the exit code and the signal that a listener of the event `exit` gets. */
function describeEnd([code, signal]: readonly unknown[]): string {
  return code === null ? String(signal) : `exit code ${code}`;
}

/**
 * @returns the first words of a command line that runs mmdebstrap in new namespaces, so that the mounts and processes
 *   of mmdebstrap cannot outlive this process. The list is empty if this machine refuses namespaces. The list is also
 *   empty without root rights, because mmdebstrap then creates namespaces itself.
 */
function privateNamespaces(): readonly string[] {
  const options = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
  return isRoot() && spawnSync('unshare', [...options, 'true']).status === 0 ? ['unshare', ...options] : [];
}

function mmdebstrapArguments(recipe: RootRecipe): readonly string[] {
  return [
    '--variant=minbase',
    '--format=tar',
    `--include=${recipe.packages.join(',')}`,
    ...LEFT_OUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    ...recipe.hooks.map((hook) => `--customize-hook=${hook}`),
    recipe.suite,
    '-',
  ];
}

/**
 * Stops a process group. The whole group gets the signal, because mmdebstrap leaves the handling of signals to its
 * children.
 */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // The whole process group has ended.
  }
}

/**
 * Starts a program. The kernel signals the program when this process ends. `unshare` blocks SIGTERM, so the signal for
 * `unshare` is SIGKILL, which also ends the processes of its namespace.
 */
function spawnTied(argv: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  const deathSignal = argv[0] === 'unshare' ? 'KILL' : 'TERM';
  return spawn('setpriv', ['--pdeathsig', deathSignal, '--', ...argv], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment,
    detached: true,
  });
}

/** Follows the stderr of `child` and shows the steps of mmdebstrap. @returns a list that gets every line of stderr. */
function followMessages(child: ChildProcess, step: Step): readonly string[] {
  const lines: string[] = [];
  if (!child.stderr) return lines;
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    const message = /^I: ((?:downloading|extracting|installing|creating) .*?)(?:\.\.\.)?$/.exec(line)?.[1];
    if (message) step(message);
  });
  return lines;
}

function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
