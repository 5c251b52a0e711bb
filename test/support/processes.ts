/**
 * Reads what /proc shows of processes. A process may end between two reads. For a process that has ended, the functions
 * therefore return an empty string or list, or skip the process.
 */
import { readFileSync } from 'node:fs';

/**
 * @returns the content of `/proc/PID/file`; an empty string when the process has ended, when it is a zombie without
 * this file, or when this program may not read the file.
 */
export function readProcess(pid: number | string, file: string): string {
  return unless(UNREADABLE, () => readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? '';
}

/** @returns the ids of the children that the main thread of a process has started; none when the process has ended. */
export function childrenOf(pid: number): readonly number[] {
  return readProcess(pid, `task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number);
}

/** @returns the ids of the running descendants of a process, each parent before its children. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** @returns the number of processes that were running when they were signalled. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): number =>
  pids.filter((pid) => unless(ENDED, () => process.kill(pid, signal))).length;

/** Error codes of a system call about a process that has ended. */
const ENDED = ['ESRCH', 'ENOENT'];
/**
 * Error codes of a call that cannot read a file of a process: those of ENDED, EINVAL for the `mountinfo` of a zombie,
 * and EACCES for an `environ` that the program may not read.
 */
const UNREADABLE = [...ENDED, 'EINVAL', 'EACCES'];

/** @returns the result of `ask`; undefined when `ask` fails with one of `codes`. @throws any other error of `ask`. */
function unless<Result>(codes: readonly string[], ask: () => Result): Result | undefined {
  try {
    return ask();
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
