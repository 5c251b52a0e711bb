/**
 * Limits the number of webhooks, or of trial sends, of one account that a process works on at the same time. A key
 * identifies a webhook or a trial send. A freed permit is reserved for the key that has waited longest. Otherwise this
 * key might wait for ever.
 */
export interface AccountSemaphore {
  /**
   * Takes a free permit, or the permit that is reserved for `key`.
   * @returns false when there is no such permit. Then `key` is queued; `leave` returns it when a permit is free.
   */
  tryEnter(accountId: number, key: string): boolean;
  /**
   * Frees a permit. When a key waits, reserves the permit for this key. The caller must wake the key within one second;
   * after that, the reservation expires.
   * @returns the key for which the permit is reserved; undefined when no key waits.
   */
  leave(accountId: number): string | undefined;
}

interface Account {
  used: number;
  readonly refused: Set<string>;
  /** For each key with a reserved permit: the time at which the reservation ends. */
  readonly reserved: Map<string, number>;
}

/**
 * Duration of a reservation. Without this limit, the permit could stay reserved for ever if the wake-up of the waiting
 * webhook or trial send were lost.
 */
const RESERVED_MS = 1000;

/**
 * Opens a semaphore that limits each account separately.
 * @param permitsPerAccount maximum number of keys of one account that the process works on at the same time.
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
