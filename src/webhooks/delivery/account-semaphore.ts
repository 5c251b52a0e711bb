/**
 * Semaphore for each account: limits how many keys (webhooks or trial sends) of one account a process works on at the
 * same time, so that an account with many hanging receivers leaves capacity for other accounts. `leave` returns the key
 * that was refused first and reserves a permit for this key: otherwise other keys might take every permit, and the
 * refused key would wait forever.
 */
export interface AccountSemaphore {
  /**
   * @returns false when the account has no permit that is free or reserved for `key`; a later `leave` returns this
   * key.
   */
  tryEnter(accountId: number, key: string): boolean;
  /**
   * Frees a permit.
   * @returns the key that was refused first; undefined when no refused key waits. The permit is reserved for this key
   *   for one second, so the caller must wake the work on it in that time.
   */
  leave(accountId: number): string | undefined;
}

interface Account {
  used: number;
  readonly refused: Set<string>;
  /** The keys that `leave` returned and that have not entered since. The value is the end of the reservation. */
  readonly reserved: Map<string, number>;
}

/** A reservation ends after this time, because the message that wakes the key may be lost or reach another process. */
const RESERVED_MS = 1000;

/**
 * Opens one semaphore per account.
 * @param permitsPerAccount maximum number of keys of one account that are worked on at the same time in this process.
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
