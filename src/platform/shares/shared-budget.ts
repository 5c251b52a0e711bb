/**
 * Divides one resource of this process, such as the memory of request bodies, among accounts and users (R-A14). An
 * account or user can take more only if these limits are met afterwards:
 * - An account holds at most as much as the part of the total that is still free.
 * - A user holds at most three quarters of this free part.
 * - Exception: while nothing else is in use, one holding may take the whole total, so that the largest request fits.
 */

export interface SharedBudget {
  /**
   * Opens a holding with the amount 0 for the owner. Call `release` when the amount of the holding is no longer in use.
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
