/** Opens the fast paths of one process. */
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import type { FastPaths } from './fast-paths.ts';
import { toPlainPush, toSharedOperation } from './plain-push.ts';
import { smallPushHandler, throwPushFailure } from './small-push-handler.ts';
import { openDirectWriter } from './write-directly.ts';

export interface FastPathsOptions {
  readonly database: Database;
  /** Maximum number of concurrent direct writes; each takes a database connection. */
  readonly directWrites: number;
  readonly log: Log;
}

/** @returns one interface to the small-push handler, shared operations and the direct writer. */
export function openFastPaths({ database, directWrites, log }: FastPathsOptions): FastPaths {
  return {
    handleSmallPushes: smallPushHandler,
    throwFailure: throwPushFailure,
    toPlainPush,
    toSharedOperation,
    tryWrite: openDirectWriter(database, directWrites, log),
  };
}
