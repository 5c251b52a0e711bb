/**
 * Follows the states of files or imports for streams of server-sent events (R-E1). One statement per interval reads all
 * followed states of the process. The number of followers is limited (R-A14).
 */

import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import { runForAll } from '../shares/connection-shares.ts';
import type { BudgetOwner } from '../shares/shared-budget.ts';

/** Pause between two reads of the states. */
export const STATUS_INTERVAL_MS = 500;

export interface StatusWatchOptions<Status> {
  /** Reads the state for each id. The map omits an id whose work no longer exists. */
  readonly find: (ids: readonly string[]) => Promise<ReadonlyMap<string, Status>>;
  /** Returns true while the process is stopping; failed reads are then not logged. */
  readonly isStopping: () => boolean;
  /** Plural noun for what the clients follow, such as `imports`. Messages contain this noun. */
  readonly subjects: string;
  /**
   * Route that a client can poll for the state instead of opening an event stream. The error `rate_limited` names this
   * route.
   */
  readonly instead: string;
  readonly maxPerUser: number;
  /** Maximum number of followers of all accounts together; one account may have at most half as many, rounded up. */
  readonly maxFollowers: number;
  readonly intervalMs: number;
  readonly log: Log;
}

/** Receives the state of the followed work at every successful poll; undefined when the work no longer exists. */
export type StatusListener<Status> = (status: Status | undefined) => void;

export interface StatusWatch<Status> {
  /**
   * Calls `listener` after every successful poll, until the returned function is called. Does not check that `caller`
   * may read the state.
   * @throws {DomainError} rate_limited when the user or the account has too many listeners; dependency_unavailable when
   *   this process has too many.
   */
  follow(caller: BudgetOwner, id: string, listener: StatusListener<Status>): () => void;
}

/** Opens a watch, which polls while it has a follower. */
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
      log.warn(
        { err: error },
        `the state of ${subjects} could not be read for event streams; the next poll will retry`,
      );
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
          `this server already has its maximum of ${maxFollowers} event streams of ${subjects}; retry later`,
        );
      followers += 1;
      count(ofUser, 1);
      count(ofAccount, 1);
      const some = listeners.get(id) ?? new Set();
      // The set holds each function only once, so a listener that is passed in two calls needs a wrapper for each call.
      const own: StatusListener<Status> = (status) => listener(status);
      listeners.set(id, some.add(own));
      // The poll takes no permit from the account of the request that starts it: it serves followers of all accounts.
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
    `${who} may have at most ${max} event streams of ${subjects} on this server; close one of them, or poll ${instead}`,
  );
}
