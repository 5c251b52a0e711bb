/**
 * Limits how many keys (webhooks or trial sends) of one account a process works on at the same time, so that an account
 * with many hanging receivers leaves capacity for other accounts. `leave` returns the key that was refused first and
 * reserves a permit for this key. Without this reservation, other keys might take every permit, and the refused key
 * would wait forever.
 */
export interface AccountSemaphore {
  /**
   * Takes a permit that is free or reserved for `key`.
   * @returns false when the account has no such permit. The key is then refused, and a later `leave` returns this key.
   */
  tryEnter(accountId: number, key: string): boolean;
  /**
   * Frees a permit.
   * @returns the key that was refused first; undefined when no refused key waits. `leave` reserves the permit for
   *   this key for one second, so the caller must wake the webhook or trial send of the key within this second.
   */
  leave(accountId: number): string | undefined;
}

interface Account {
  used: number;
  readonly refused: Set<string>;
  /** For each key that `leave` returned and that has not entered since: the time at which its reservation ends. */
  readonly reserved: Map<string, number>;
}

/**
 * A reservation ends after this time even if its key has not entered, because the message that wakes the key may be
 * lost or reach another process.
 */
const RESERVED_MS = 1000;

/**
 * Opens a semaphore that limits each account separately.
 * @param permitsPerAccount maximum number of keys of one account that this process works on at the same time.
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
