/**
 * A control group for a bwrap container. With the control group, the kernel limits all runs of the container together.
 * The control group is optional, because rlimits and supervisors limit each run anyway. Only these processes can create
 * the control group:
 * - on cgroup version 1: processes of the user root
 * - on cgroup version 2: processes of the user root in the root control group of the machine
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findLeftovers, makeOwnedName } from './leftovers.ts';

/** Limits on what all processes of a container use together. */
export interface SharedLimits {
  readonly memoryBytes: number;
  readonly maxProcesses: number;
}

export interface ControlGroup {
  readonly directories: readonly string[];
  /** @returns a command line that joins the group and then executes `command`. */
  join(command: readonly string[]): readonly string[];
  /** Removes the control group; call it after the group's last process has ended. */
  remove(): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';
const JOIN = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';
const REMOVE_TRIES = 50;
const REMOVE_PAUSE_MS = 20;

interface Wanted {
  readonly directory: string;
  readonly file: string;
  readonly limit: number;
}

/** Creates a control group that enforces `limits`. @returns undefined when this process cannot create the group. */
export async function makeControlGroup(limits: SharedLimits): Promise<ControlGroup | undefined> {
  const wanted = await findDirectories(limits, makeOwnedName());
  const directories = [...new Set(wanted.map(({ directory }) => directory))];
  // Removes the control groups of killed calculators, except control groups that still have a process.
  for (const directory of directories) await removeAll(await findLeftovers(dirname(directory)), 1);
  try {
    for (const directory of directories) await mkdir(directory);
    // With the flag `r+`, the write fails if the control group lacks the controller of the file.
    for (const { directory, file, limit } of wanted)
      await writeFile(join(directory, file), String(limit), { flag: 'r+' });
  } catch {
    await removeAll(directories);
    return undefined;
  }
  if (directories.length === 0) return undefined;
  return {
    directories,
    join: (command) => ['sh', '-c', JOIN, 'sh', ...directories, '--', ...command],
    remove: () => removeAll(directories),
  };
}

/**
 * @returns the files to write the limits to. Each file is in a directory of the new control group, which is a child of
 * this process's group; the directory need not exist yet. On cgroup version 1, each controller has its own directory.
 * On version 2, all files are in one directory. The list is empty when the machine has no control groups.
 */
async function findDirectories({ memoryBytes, maxProcesses }: SharedLimits, name: string): Promise<readonly Wanted[]> {
  const lines = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const pathOf = (controller: string) =>
    new RegExp(`^\\d+:(?:[\\w,]*,)?${controller}(?:,[\\w,]*)?:(.*)$`, 'm').exec(lines)?.[1];
  const [memory, pids, unified] = [pathOf('memory'), pathOf('pids'), /^0::(.*)$/m.exec(lines)?.[1]];
  if (memory !== undefined && pids !== undefined) {
    return [
      { directory: join(ROOT, 'memory', memory, name), file: 'memory.limit_in_bytes', limit: memoryBytes },
      { directory: join(ROOT, 'pids', pids, name), file: 'pids.max', limit: maxProcesses },
    ];
  }
  if (unified === undefined) return [];
  const directory = join(ROOT, unified, name);
  return [
    { directory, file: 'memory.max', limit: memoryBytes },
    { directory, file: 'pids.max', limit: maxProcesses },
  ];
}

/**
 * Removes control groups. Tries several times, because a group stays busy for a moment after its last process has
 * ended.
 */
async function removeAll(directories: readonly string[], maxTries = REMOVE_TRIES): Promise<void> {
  for (const directory of directories) {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const error = await rmdir(directory).then(
        () => undefined,
        ({ code }: NodeJS.ErrnoException) => code,
      );
      if (error !== 'EBUSY') break;
      await pause(REMOVE_PAUSE_MS);
    }
  }
}
