/** Processes as /proc shows them. A process may end between two reads, so a process that has ended reads as empty. */
import { readFileSync } from 'node:fs';

/**
 * @returns the content of `/proc/PID/file`; an empty string when the process has ended, is a zombie without this file,
 * or belongs to another program and may not be read.
 */
export function readProcess(pid: number | string, file: string): string {
  return ifRunning(() => readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? '';
}

/** @returns the ids of the children that the main thread of a process has started; none when the process has ended. */
export function childrenOf(pid: number): readonly number[] {
  return readProcess(pid, `task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number);
}

/** @returns the ids of the running descendants of a process, each parent before its children. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** @returns the number of signalled processes that still ran. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): number =>
  pids.filter((pid) => ifRunning(() => process.kill(pid, signal))).length;

/** Codes for a process that has ended (ESRCH, ENOENT), the `mountinfo` of a zombie, and an unreadable `environ`. */
const UNREADABLE = ['ESRCH', 'ENOENT', 'EINVAL', 'EACCES'];

/** @returns the result of `ask`; undefined when `ask` fails with a code in UNREADABLE. @throws its other errors. */
function ifRunning<Result>(ask: () => Result): Result | undefined {
  try {
    return ask();
  } catch (error) {
    if (UNREADABLE.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
