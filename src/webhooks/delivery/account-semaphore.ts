/**
 * Semaphore for each account: limits the webhooks (keys) of one account that a process works on at the same time, so
 * that an account with hundreds of hanging receivers leaves capacity to others. `leave` returns a key that was refused
 * before.
 */
export interface AccountSemaphore {
  /** @returns false when the account has no free permit; `key` is then remembered for `leave`. */
  tryEnter(accountId: number, key: string): boolean;
  /** Frees a permit. @returns the key refused first, if any, which the caller must wake. */
  leave(accountId: number): string | undefined;
}

interface Account {
  used: number;
  readonly refused: Set<string>;
}

/**
 * Opens one semaphore per account.
 * @param permitsPerAccount maximum number of webhooks of one account that are worked on at the same time in this
 *   process.
 */
export function openAccountSemaphore(permitsPerAccount: number): AccountSemaphore {
  const accounts = new Map<number, Account>();
  return {
    tryEnter: (accountId, key) => {
      const account = accounts.get(accountId) ?? { used: 0, refused: new Set() };
      accounts.set(accountId, account);
      if (account.used >= permitsPerAccount) {
        account.refused.add(key);
        return false;
      }
      account.used += 1;
      return true;
    },
    leave: (accountId) => {
      const account = accounts.get(accountId);
      if (!account) return undefined;
      account.used -= 1;
      const [next] = account.refused;
      if (next !== undefined) account.refused.delete(next);
      if (account.used === 0 && account.refused.size === 0) accounts.delete(accountId);
      return next;
    },
  };
}
