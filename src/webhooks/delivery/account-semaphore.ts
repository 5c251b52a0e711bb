/**
 * For each account, limits the number of webhooks or trial sends that a process works on at the same time. An account
 * with many hanging receivers therefore leaves capacity for other accounts. A key identifies a webhook or a trial send,
 * and holds one permit during the work on the webhook or trial send. When a key leaves, its permit is reserved for the
 * key that has waited longest. Without this reservation, other keys might take every permit, and the waiting key would
 * wait forever.
 */
export interface AccountSemaphore {
  /**
   * Takes a permit for `key`: either a free permit, or the permit that is reserved for `key`.
   * @returns false when the account has neither permit. `key` then waits, and a later call of `leave` returns `key`.
   */
  tryEnter(accountId: number, key: string): boolean;
  /**
   * Frees a permit. If keys wait, the permit is reserved for the key that has waited longest. The reservation lasts one
   * second, so the caller must wake the webhook or trial send of this key within that second.
   * @returns the key for which the permit is reserved; undefined when no key waits.
   */
  leave(accountId: number): string | undefined;
}

interface Account {
  used: number;
  readonly refused: Set<string>;
  /**
   * For each key with a reserved permit: the time at which the reservation ends. `leave` makes the reservation;
   * `tryEnter` for the same key uses the reserved permit and ends the reservation early.
   */
  readonly reserved: Map<string, number>;
}

/**
 * A reservation ends after this time, even if `tryEnter` has not taken the reserved permit. Otherwise the permit could
 * stay reserved forever, because the message that wakes the webhook or trial send may be lost or reach another process.
 */
const RESERVED_MS = 1000;

/**
 * Opens a semaphore that limits each account separately.
 * @param permitsPerAccount for each account, the maximum number of webhooks or trial sends that this process works on
 * at the same time.
 */
export function openAccountSemaphore(
  permitsPerAccount: number,
  nowMs: () => number = () => performance.now(),
): AccountSemaphore {
  const accounts = new Map<number, Account>();
  return {
    tryEnter: (accountId, key) => {
      const account = accounts.get(accountId) ?? { used: 0, refused: new Set(), reserved: new Map() };
      accounts.set(accountId, account);
      for (const [other, endMs] of account.reserved) if (endMs <= nowMs()) account.reserved.delete(other);
      const isReserved = account.reserved.delete(key);
      if (!isReserved && account.used + account.reserved.size >= permitsPerAccount) {
        account.refused.add(key);
        return false;
      }
      account.refused.delete(key);
      account.used += 1;
      return true;
    },
    leave: (accountId) => {
      const account = accounts.get(accountId);
      if (!account) return undefined;
      account.used -= 1;
      const [next] = account.refused;
      if (next !== undefined) {
        account.refused.delete(next);
        account.reserved.set(next, nowMs() + RESERVED_MS);
      }
      if (account.used === 0 && account.reserved.size === 0 && account.refused.size === 0) accounts.delete(accountId);
      return next;
    },
  };
}
