/**
 * Paths of the local stack. Each checkout keeps its own data, logs and secrets under `.local/`; all checkouts of a user
 * share the root file systems in the user's cache.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Directory of this checkout, without a trailing slash. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Directory of the files that the local stacks of this checkout write; Git ignores this directory. */
export const LOCAL_DIRECTORY = join(CHECKOUT, '.local');

/** Directory with the data, lock and ports of the stack that `npm start` runs. */
export const STACK_DIRECTORY = join(LOCAL_DIRECTORY, 'stack');

export const LOG_DIRECTORY = join(LOCAL_DIRECTORY, 'log');

/** File with the addresses and credentials of the running stack, for scripts and people. */
export const STACK_FILE = join(LOCAL_DIRECTORY, 'stack.json');

/** Path of the Node.js executable that package-lock.json pins. This version runs TypeScript. */
export const PINNED_NODE = join(CHECKOUT, 'node_modules/.bin/node');

/** Directory of the cached root file systems: `${XDG_CACHE_HOME:-~/.cache}/tidemark`. */
export function cacheDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tidemark');
}
