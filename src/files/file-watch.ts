/**
 * Follows files for `GET /storage/{id}/events` (R-E1): one statement per interval and process reads the state of every file
 * that is followed, however many clients follow it. The number of followers is bounded per user, per account and in total
 * (R-A14).
 */
import type { Caller } from '../identity/caller/caller.ts';
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { type FileStatus, findStatuses } from './find-file.ts';

export interface FileWatchOptions {
  readonly database: Queryable;
  readonly maxPerUser: number;
  /** Maximum followers of all accounts together; one account may have half of them. */
  readonly maxFollowers: number;
  readonly intervalMs: number;
  readonly log: Log;
}

/** Receives the state of the file at every poll; undefined: the file no longer exists. */
export type FileListener = (status: FileStatus | undefined) => void;

export interface FileWatch {
  /**
   * Calls `listener` until the returned function is called. The caller must be allowed to read the file.
   * @throws {DomainError} rate_limited when the user or the account follows too many files; dependency_unavailable when
   *   all users together do.
   */
  follow(caller: Pick<Caller, 'userId' | 'accountId'>, fileId: string, listener: FileListener): () => void;
}

/** Polls while a file is followed. */
export function openFileWatch(options: FileWatchOptions): FileWatch {
  const { database, maxPerUser, maxFollowers, intervalMs, log } = options;
  const maxPerAccount = Math.ceil(maxFollowers / 2);
  const listeners = new Map<string, Set<FileListener>>();
  const counts = new Map<string, number>();
  let followers = 0;
  let isPolling = false;
  const poll = async (): Promise<void> => {
    try {
      const found = await findStatuses(database, [...listeners.keys()]);
      for (const [fileId, some] of listeners) for (const listener of some) listener(found.get(fileId));
    } catch (error) {
      // The database closes because the process stops.
      if ('ending' in database && database.ending) return;
      log.warn({ err: error }, 'the state of followed files could not be read; the next poll tries again');
    }
    if (listeners.size > 0) setTimeout(poll, intervalMs).unref();
    else isPolling = false;
  };
  const count = (key: string, change: 1 | -1): void => {
    const total = (counts.get(key) ?? 0) + change;
    if (total === 0) counts.delete(key);
    else counts.set(key, total);
  };
  return {
    follow: ({ userId, accountId }, fileId, listener) => {
      const [ofUser, ofAccount] = [`user ${userId}`, `account ${accountId}`];
      assertFewer(counts.get(ofUser) ?? 0, maxPerUser, 'a user');
      assertFewer(counts.get(ofAccount) ?? 0, maxPerAccount, 'an account');
      if (followers >= maxFollowers)
        throw new DomainError(
          'dependency_unavailable',
          `a process may have at most ${maxFollowers} event streams of files; retry later`,
        );
      followers += 1;
      count(ofUser, 1);
      count(ofAccount, 1);
      const some = listeners.get(fileId) ?? new Set();
      // A new function for each call: the same listener may be passed twice.
      const own: FileListener = (status) => listener(status);
      listeners.set(fileId, some.add(own));
      if (!isPolling) setTimeout(poll, intervalMs).unref();
      isPolling = true;
      return () => {
        if (!some.delete(own)) return;
        followers -= 1;
        count(ofUser, -1);
        count(ofAccount, -1);
        if (some.size === 0) listeners.delete(fileId);
      };
    },
  };
}

function assertFewer(following: number, max: number, who: string): void {
  if (following < max) return;
  throw new DomainError(
    'rate_limited',
    `${who} may follow at most ${max} files at a time; close another event stream or read GET /storage/{id}`,
  );
}
