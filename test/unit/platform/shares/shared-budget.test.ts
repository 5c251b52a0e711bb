/** Shares of one resource among accounts and users (R-A14). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BudgetOwner,
  type Holding,
  openSharedBudget,
  type SharedBudget,
} from '../../../../src/platform/shares/shared-budget.ts';

const TOTAL = 1200;
const USERS = ['one', 'two', 'three', 'four'];
const owner = (accountId: number, user = 'one') => ({ accountId, userId: `${accountId}-${user}` });

/** Opens holdings of one unit each until the budget refuses a holding. */
function holdAll(budget: SharedBudget, of: BudgetOwner): Holding[] {
  const holdings: Holding[] = [];
  for (let next = budget.open(of); next.take(1) === undefined; next = budget.open(of)) holdings.push(next);
  return holdings;
}

/** @returns how many units `holdAll` takes. */
const takeAll = (budget: SharedBudget, of: BudgetOwner): number => holdAll(budget, of).length;

describe('shared budget: each account and each user has a share (R-A14)', () => {
  test('one request may take the whole budget while nothing else uses the budget', () => {
    const holding = openSharedBudget(TOTAL).open(owner(1));
    expect(holding.take(TOTAL)).toBeUndefined();
    expect(holding.take(1)).toEqual({ of: 'total', held: TOTAL });
  });

  test('many small requests of one account together get at most half of the total', () => {
    expect(takeAll(openSharedBudget(TOTAL), owner(1))).toBe(Math.floor((TOTAL * 3) / 7));
    const budget = openSharedBudget(TOTAL);
    const users = ['one', 'two', 'three'].map((user) => takeAll(budget, owner(1, user)));
    expect(users.reduce((sum, taken) => sum + taken, 0)).toBe(TOTAL / 2);
    expect(budget.open(owner(1, 'four')).take(1)).toEqual({ of: 'account', held: TOTAL / 2 });
  });

  test('a new account gets a share immediately, even when as many as four greedy accounts release nothing', () => {
    const budget = openSharedBudget(TOTAL);
    for (let accountId = 1; accountId <= 4; accountId += 1) {
      for (const user of USERS) takeAll(budget, owner(accountId, user));
      const newcomer = budget.open(owner(100));
      expect(newcomer.take(TOTAL / 40)).toBeUndefined();
      newcomer.release();
    }
  });

  test('nine greedy accounts that repeat their requests leave at least 3 % of the total to one user of a new account', () => {
    const budget = openSharedBudget(TOTAL);
    const held = new Map<number, Holding[]>();
    for (let turn = 0; turn < 9 * 30; turn += 1) {
      const accountId = turn % 9;
      for (const holding of held.get(accountId) ?? []) holding.release();
      held.set(
        accountId,
        USERS.flatMap((user) => holdAll(budget, owner(accountId, user))),
      );
    }
    for (const holdings of held.values()) expect(holdings.length).toBeGreaterThan(TOTAL / 10 - 10);
    // A tenth of the total is free. One user of a new account may take three sevenths of this tenth.
    expect(takeAll(budget, owner(100))).toBeGreaterThan((TOTAL / 10) * (3 / 7) - 10);
  });

  test('a released amount is free again, and all holdings together never exceed the total', () => {
    const step = fc.record({
      accountId: fc.integer({ min: 1, max: 3 }),
      user: fc.constantFrom('one', 'two'),
      amount: fc.integer({ min: 1, max: TOTAL }),
      isReleased: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const budget = openSharedBudget(TOTAL);
        const open: { readonly amount: number; release(): void }[] = [];
        for (const { accountId, user, amount, isReleased } of steps) {
          const holding = budget.open(owner(accountId, user));
          if (holding.take(amount) === undefined) open.push({ amount, release: holding.release });
          expect(open.reduce((sum, held) => sum + held.amount, 0)).toBeLessThanOrEqual(TOTAL);
          if (isReleased) open.shift()?.release();
        }
        for (const { release } of open) release();
        expect(budget.open(owner(1)).take(TOTAL)).toBeUndefined();
      }),
    );
  });
});
