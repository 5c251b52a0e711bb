/**
 * File locks. A child that inherits the descriptor also holds the lock, even after its parent was killed. A file with a
 * process id could not replace the lock, because processes in two PID namespaces can have the same id.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Exit code of `flock` for a lock that another process holds. */
const HELD_BY_OTHER = 75;

/** A held lock. Pass `descriptor` in a child's stdio to make the child hold the lock. A lock may be disposed twice. */
export interface Lock extends Disposable {
  readonly descriptor: number;
}

/**
 * Takes the lock on `path`, creating the file if it is missing.
 * @returns the lock; undefined when it still has another holder after `waitSec` seconds.
 * @throws {Error} when `flock` cannot run.
 */
export function tryLock(path: string, waitSec = 0): Lock | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, 'a', 0o600);
  if (!flock(descriptor, waitSec)) {
    closeSync(descriptor);
    return undefined;
  }
  let isHeld = true;
  const release = () => {
    if (isHeld) closeSync(descriptor);
    isHeld = false;
  };
  return { descriptor, [Symbol.dispose]: release };
}

function flock(descriptor: number, waitSec: number): boolean {
  const wait = waitSec > 0 ? ['--wait', String(waitSec)] : ['--nonblock'];
  try {
    execFileSync('flock', [...wait, '--conflict-exit-code', String(HELD_BY_OTHER), '3'], {
      stdio: ['ignore', 'ignore', 'inherit', descriptor],
    });
    return true;
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === HELD_BY_OTHER) return false;
    throw error;
  }
}
