/**
 * Finds the folders and control groups of calculators that were killed. Each name contains the PID namespace and the
 * process id of its calculator, because containers can share the parent folder.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'tidemark-r-';

/** @returns a new name that identifies this process as its owner. */
export function makeOwnedName(): string {
  return `${PREFIX}${pidNamespace()}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

/**
 * @returns the paths of the folders in `parent` whose owner was a process of this PID namespace and has ended. Empty
 *   when `parent` cannot be read.
 */
export async function findLeftovers(parent: string): Promise<readonly string[]> {
  const names = await readdir(parent).catch(() => []);
  const own = new RegExp(`^${PREFIX}${pidNamespace()}-(\\d+)-`);
  const isLeft = (name: string): boolean => {
    const pid = own.exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  };
  return names.filter(isLeft).map((name) => join(parent, name));
}

/**
 * Identifies the PID namespace of this process, because a process id is unique only within its namespace.
 * @returns the inode of the namespace, such as `4026531836`.
 */
function pidNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
}
