/**
 * Semaphore shared by accounts (R-A14). It limits the permits in total and per account, and grants free permits to the
 * accounts with waiters by round robin. An account that has a waiter and is below its maximum gets one permit before
 * any other account gets two.
 */
import { DomainError } from '../errors.ts';

export interface FairSemaphoreOptions {
  /** Name of the limited resource, such as `database connections`. Error messages contain this name. */
  readonly resource: string;
  /** Name of a permit holder, such as `client network`. Error messages contain this name. Default: `account`. */
  readonly holder?: string;
  readonly permits: number;
  readonly permitsPerAccount: number;
  /** Maximum number of waiters per account. Each further waiter is refused immediately. */
  readonly waitersPerAccount: number;
  readonly maxWaitMs: number;
}

/**
 * `Key` is the type of the id of a holder: a number for an account; a number or a string for another kind of holder,
 * such as a network.
 */
export interface FairSemaphore<Key extends number | string = number> {
  /**
   * Waits for a permit.
   * @returns a function that frees the permit; further calls do nothing.
   * @throws {DomainError} when no permit is granted within `maxWaitMs`, and immediately when the account already has
   * `waitersPerAccount` waiters. The code is rate_limited when the account uses all its permits, otherwise
   * dependency_unavailable.
   * @throws the reason of the signal when it is aborted before a permit is free.
   */
  enter(accountId: Key, signal?: AbortSignal): Promise<() => void>;
  /** Returns true when another account waits and holds fewer than `permitsPerAccount` permits. */
  isWantedByOthers(accountId: Key): boolean;
  /** @returns the number of waiters of all accounts together. */
  waiting(): number;
}

interface Waiter {
  readonly grant: () => void;
}

/** Opens a semaphore whose permits are all free. */
export function openFairSemaphore<Key extends number | string = number>(
  options: FairSemaphoreOptions,
): FairSemaphore<Key> {
  const { permits, permitsPerAccount, waitersPerAccount, holder = 'account' } = options;
  const used = new Map<Key, number>();
  /** Accounts with waiters, in the order in which they get the next permits. */
  const queues = new Map<Key, Set<Waiter>>();
  let free = permits;
  const usedBy = (accountId: Key) => used.get(accountId) ?? 0;
  const take = (accountId: Key): void => {
    free -= 1;
    used.set(accountId, usedBy(accountId) + 1);
  };
  const grantNext = (): void => {
    for (const [accountId, queue] of queues) {
      if (free === 0) return;
      const [next] = queue;
      if (!next || usedBy(accountId) >= permitsPerAccount) continue;
      queue.delete(next);
      // Moves the account to the end of the rotation if it still has waiters; otherwise removes the account.
      queues.delete(accountId);
      if (queue.size > 0) queues.set(accountId, queue);
      take(accountId);
      next.grant();
    }
  };
  const leave = (accountId: Key): void => {
    free += 1;
    if (usedBy(accountId) === 1) used.delete(accountId);
    else used.set(accountId, usedBy(accountId) - 1);
    grantNext();
  };
  const remove = (accountId: Key, waiter: Waiter): void => {
    const queue = queues.get(accountId);
    queue?.delete(waiter);
    if (queue?.size === 0) queues.delete(accountId);
  };
  const refuse = (accountId: Key): DomainError =>
    usedBy(accountId) >= permitsPerAccount
      ? new DomainError(
          'rate_limited',
          `the ${holder} has reached its limit of ${options.resource} (${permitsPerAccount}); retry later`,
        )
      : new DomainError(
          'dependency_unavailable',
          `this server has reached its limit of ${options.resource} (${permits}); retry later`,
        );
  const wait = (accountId: Key, signal: AbortSignal | undefined): Promise<void> => {
    const queue = queues.get(accountId) ?? new Set();
    if (queue.size >= waitersPerAccount) throw refuse(accountId);
    queues.set(accountId, queue);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        remove(accountId, waiter);
        settle();
      };
      const waiter = { grant: end(resolve) };
      const cancel = end(() => reject(signal?.reason));
      const timer = setTimeout(
        end(() => reject(refuse(accountId))),
        options.maxWaitMs,
      );
      queue.add(waiter);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  };
  return {
    enter: async (accountId, signal) => {
      signal?.throwIfAborted();
      if (free > 0 && usedBy(accountId) < permitsPerAccount) take(accountId);
      else await wait(accountId, signal);
      let isHeld = true;
      return () => {
        if (isHeld) leave(accountId);
        isHeld = false;
      };
    },
    isWantedByOthers: (accountId) =>
      [...queues.keys()].some((other) => other !== accountId && usedBy(other) < permitsPerAccount),
    waiting: () => [...queues.values()].reduce((sum, { size }) => sum + size, 0),
  };
}
