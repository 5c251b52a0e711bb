/**
 * Follows the states of background work, such as files and imports, for streams of server-sent events (R-E1): one statement
 * per interval and process reads every state that is followed, however many clients follow it. The number of followers is
 * bounded per user, per account and in total (R-A14).
 */

import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import { runForAll } from '../shares/connection-shares.ts';
import type { BudgetOwner } from '../shares/shared-budget.ts';

export interface StatusWatchOptions<Status> {
  /** Reads states by id; a subject that no longer exists has no entry. */
  readonly find: (ids: readonly string[]) => Promise<ReadonlyMap<string, Status>>;
  /** Whether the process is stopping, so that a failed read is not logged. */
  readonly isStopping: () => boolean;
  /** Plural name of the subjects that are followed, for messages. */
  readonly subjects: string;
  /** Where the state can be read instead, for messages. */
  readonly instead: string;
  readonly maxPerUser: number;
  /** Maximum followers of all accounts together; one account may have at most half of them. */
  readonly maxFollowers: number;
  readonly intervalMs: number;
  readonly log: Log;
}

/** Receives the state at every poll; undefined: the subject no longer exists. */
export type StatusListener<Status> = (status: Status | undefined) => void;

export interface StatusWatch<Status> {
  /**
   * Calls `listener` until the returned function is called. The caller must be allowed to read the subject.
   * @throws {DomainError} rate_limited when the user or the account follows too many; dependency_unavailable when all users
   *   together do.
   */
  follow(caller: BudgetOwner, id: string, listener: StatusListener<Status>): () => void;
}

/** Polls while at least one subject is followed. */
export function openStatusWatch<Status>(options: StatusWatchOptions<Status>): StatusWatch<Status> {
  const { find, isStopping, subjects, maxPerUser, maxFollowers, intervalMs, log } = options;
  const maxPerAccount = Math.ceil(maxFollowers / 2);
  const listeners = new Map<string, Set<StatusListener<Status>>>();
  const counts = new Map<string, number>();
  let followers = 0;
  let isPolling = false;
  const poll = async (): Promise<void> => {
    try {
      const found = await find([...listeners.keys()]);
      for (const [id, some] of listeners) for (const listener of some) listener(found.get(id));
    } catch (error) {
      if (isStopping()) return;
      log.warn({ err: error }, `the state of followed ${subjects} could not be read; the next poll tries again`);
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
    follow: ({ userId, accountId }, id, listener) => {
      const [ofUser, ofAccount] = [`user ${userId}`, `account ${accountId}`];
      assertFewer(counts.get(ofUser) ?? 0, maxPerUser, 'a user', options);
      assertFewer(counts.get(ofAccount) ?? 0, maxPerAccount, 'an account', options);
      if (followers >= maxFollowers)
        throw new DomainError(
          'dependency_unavailable',
          `a process may have at most ${maxFollowers} event streams of ${subjects}; retry later`,
        );
      followers += 1;
      count(ofUser, 1);
      count(ofAccount, 1);
      const some = listeners.get(id) ?? new Set();
      // Makes a new function for each call, because the same listener may be passed twice.
      const own: StatusListener<Status> = (status) => listener(status);
      listeners.set(id, some.add(own));
      // The poll is started by one request, but serves the followers of all accounts.
      if (!isPolling) runForAll(() => setTimeout(poll, intervalMs).unref());
      isPolling = true;
      return () => {
        if (!some.delete(own)) return;
        followers -= 1;
        count(ofUser, -1);
        count(ofAccount, -1);
        if (some.size === 0) listeners.delete(id);
      };
    },
  };
}

function assertFewer(
  following: number,
  max: number,
  who: string,
  { subjects, instead }: { readonly subjects: string; readonly instead: string },
): void {
  if (following < max) return;
  throw new DomainError(
    'rate_limited',
    `${who} may follow at most ${max} ${subjects} at a time; close another event stream or read ${instead}`,
  );
}
