/**
 * Divides one resource of this process, such as the memory of request bodies, among accounts and users (R-A14).
 * - After an addition, an account may hold no more than the amount that is still free. A user may hold no more than
 *   three quarters of this amount. Any other addition is refused. If nothing else is in use, one holding may take the
 *   whole total, so that the largest request fits.
 * - While holdings end and begin, n accounts that always take as much as they can converge to 1 / (n + 1) of the total
 *   each. The remaining 1 / (n + 1) stays free. If accounts fill up one after another and release nothing, each account
 *   takes half of what the earlier accounts left free.
 */

export interface SharedBudget {
  /**
   * Opens a holding for the owner. A holding records an amount that is in use, at first 0. Call the holding's `release`
   * when the amount is no longer in use.
   */
  open(owner: BudgetOwner): Holding;
}

export interface BudgetOwner {
  readonly accountId: number;
  readonly userId: string;
}

export interface Holding {
  /**
   * Adds `amount` to the holding, unless the sum would exceed a limit. @returns the limit that prevented the addition,
   * or undefined when the amount was added.
   */
  take(amount: number): BudgetBound | undefined;
  /** Frees the whole amount of this holding. */
  release(): void;
}

export interface BudgetBound {
  readonly of: 'total' | 'account' | 'user';
  /** Amount in use now: in total (`of` is 'total'), by the account ('account') or by the user ('user'). */
  readonly held: number;
}

const USER_SHARE = 0.75;

/** Opens a budget. @param total the amount that all holdings together may not exceed. */
export function openSharedBudget(total: number): SharedBudget {
  let held = 0;
  const byAccount = new Map<number, number>();
  const byUser = new Map<string, number>();

  const findBound = ({ accountId, userId }: BudgetOwner, amount: number, own: number): BudgetBound | undefined => {
    const free = total - held - amount;
    if (free < 0) return { of: 'total', held };
    if (held === own) return undefined;
    const ofAccount = byAccount.get(accountId) ?? 0;
    if (ofAccount + amount > free) return { of: 'account', held: ofAccount };
    const ofUser = byUser.get(userId) ?? 0;
    return ofUser + amount > USER_SHARE * free ? { of: 'user', held: ofUser } : undefined;
  };
  const add = ({ accountId, userId }: BudgetOwner, amount: number): void => {
    held += amount;
    addTo(byAccount, accountId, amount);
    addTo(byUser, userId, amount);
  };

  return {
    open: (owner) => {
      let own = 0;
      return {
        take: (amount) => {
          const bound = findBound(owner, amount, own);
          if (bound) return bound;
          own += amount;
          add(owner, amount);
          return undefined;
        },
        release: () => {
          add(owner, -own);
          own = 0;
        },
      };
    },
  };
}

/** Adds `amount` to the amount stored under a key. Removes the key when the sum is 0. */
function addTo<Key>(amounts: Map<Key, number>, key: Key, amount: number): void {
  const sum = (amounts.get(key) ?? 0) + amount;
  if (sum > 0) amounts.set(key, sum);
  else amounts.delete(key);
}
