/** Resident memory of a process and its children, from /proc, in MB. */
import { readFileSync, writeFileSync } from 'node:fs';
import { childrenOf } from '../../support/processes.ts';

/**
 * @returns the growth of resident memory in MB: the peaks of the process and its children during `work`, minus their
 *   memory before `work`.
 */
export async function memoryGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const pids = [pid, ...childrenOf(pid)];
  // Resets the peaks (proc(5)).
  for (const each of pids) writeFileSync(`/proc/${each}/clear_refs`, '5');
  const sum = (name: string) => pids.reduce((total, each) => total + memoryOf(each, name), 0);
  const before = sum('VmRSS');
  await work();
  return sum('VmHWM') - before;
}

/**
 * Reads a value of /proc/PID/status. @param name the name at the start of a line that has a value in kB, such as VmHWM.
 * @returns the value in MB.
 */
export function memoryOf(pid: number, name: string): number {
  const line = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(line?.[1]) * 1024) / 1e6;
}
