/**
 * How many webhooks of one account a process works on at the same time: an account with hundreds of receivers that hang
 * must leave the others their places. Whoever finds none is called again when one gets free.
 */
export interface AccountSemaphore {
  /** @returns false when the account has all of its places taken; the webhook is remembered. */
  enter(accountId: number, webhookId: string): boolean;
  /** Gives a place back. @returns a webhook that was turned away, to be looked at again. */
  leave(accountId: number): string | undefined;
}

interface Account {
  taken: number;
  readonly turnedAway: Set<string>;
}

export function openAccountSemaphore(placesPerAccount: number): AccountSemaphore {
  const accounts = new Map<number, Account>();
  return {
    enter: (accountId, webhookId) => {
      const account = accounts.get(accountId) ?? { taken: 0, turnedAway: new Set() };
      accounts.set(accountId, account);
      if (account.taken >= placesPerAccount) {
        account.turnedAway.add(webhookId);
        return false;
      }
      account.taken += 1;
      return true;
    },
    leave: (accountId) => {
      const account = accounts.get(accountId);
      if (!account) return undefined;
      account.taken -= 1;
      const [next] = account.turnedAway;
      if (next !== undefined) account.turnedAway.delete(next);
      if (account.taken === 0 && account.turnedAway.size === 0) accounts.delete(accountId);
      return next;
    },
  };
}
