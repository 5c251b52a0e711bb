/**
 * Locks that end with their last holder. `flock` locks the open file, not the process: whoever inherits the descriptor
 * holds the lock too. So a database keeps its directory locked until its last process is gone, even if whatever
 * started it was killed, and no process id has to be trusted (they repeat between PID namespaces).
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

const HELD_BY_OTHER = 75;

/** A held lock; pass `descriptor` to a child's stdio to let it hold the lock as well. */
export interface Lock extends Disposable {
  readonly descriptor: number;
}

/** Takes the lock on `path`, waiting at most `waitSec` seconds; undefined while somebody else holds it. */
export function tryLock(path: string, waitSec = 0): Lock | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, 'a', 0o600);
  if (!flock(descriptor, waitSec)) {
    closeSync(descriptor);
    return undefined;
  }
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
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
