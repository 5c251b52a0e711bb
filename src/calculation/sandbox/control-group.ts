/**
 * A control group around a container of bwrap, where the machine lets us make one: it bounds all runs together, and the
 * kernel keeps it. Best effort on purpose: rlimits and supervisors bound each run anyway, and who may make groups is the
 * host's to say (as root on version 1; on version 2 only below a group that was delegated to us without processes).
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** What all runs of a container may use together. */
export interface SharedLimits {
  readonly memoryBytes: number;
  readonly maxProcesses: number;
}

export interface ControlGroup {
  readonly directories: readonly string[];
  /** The command line that joins the group before it becomes `command`. */
  join(command: readonly string[]): readonly string[];
  /** After the last process has gone. */
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

/** @returns undefined where none can be made. */
export async function makeControlGroup(limits: SharedLimits): Promise<ControlGroup | undefined> {
  const name = `tidemark-r-${randomBytes(6).toString('hex')}`;
  const wanted = await findPlaces(limits, name);
  const directories = [...new Set(wanted.map(({ directory }) => directory))];
  try {
    for (const directory of directories) await mkdir(directory);
    // Opened, not made: a file that is not there means that the controller is not ours to use.
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

/** Below our own groups: version 1 has one for each controller, version 2 one for all. */
async function findPlaces({ memoryBytes, maxProcesses }: SharedLimits, name: string): Promise<readonly Wanted[]> {
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

/** The kernel needs a moment after the last process. */
async function removeAll(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
      const error = await rmdir(directory).then(
        () => undefined,
        ({ code }: NodeJS.ErrnoException) => code,
      );
      if (error !== 'EBUSY') break;
      await pause(REMOVE_PAUSE_MS);
    }
  }
}
