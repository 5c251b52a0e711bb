import { describe, expect, test } from 'vitest';
import { type FairSemaphoreOptions, openFairSemaphore } from '../../../../src/platform/shares/fair-semaphore.ts';

const [NORTH, SOUTH, EAST] = [1, 2, 3];

const open = (options: Partial<FairSemaphoreOptions> = {}) =>
  openFairSemaphore({
    ...{ resource: 'places', permits: 3, permitsPerAccount: 2, waitersPerAccount: 10, maxWaitMs: 1000 },
    ...options,
  });

describe('platform: fair semaphore', () => {
  test('an account gets at most permitsPerAccount permits; other accounts get the rest (R-A14)', async () => {
    const semaphore = open({ maxWaitMs: 20 });
    await semaphore.enter(NORTH);
    await semaphore.enter(NORTH);
    await expect(semaphore.enter(NORTH)).rejects.toMatchObject({
      ...{ code: 'rate_limited', message: 'the account has reached its limit of places (2); retry later' },
    });
    const leave = await semaphore.enter(SOUTH);
    await expect(semaphore.enter(EAST)).rejects.toMatchObject({
      ...{ code: 'dependency_unavailable', message: 'this server has reached its limit of places (3); retry later' },
    });
    leave();
    await semaphore.enter(EAST);
    expect(semaphore.waiting()).toBe(0);
  });

  test('waiting accounts take turns, whatever the number of their waiters (R-A14)', async () => {
    const semaphore = open({ permits: 1, permitsPerAccount: 1 });
    const leave = await semaphore.enter(EAST);
    const order: number[] = [];
    const enter = async (accountId: number): Promise<void> => {
      const end = await semaphore.enter(accountId);
      order.push(accountId);
      end();
    };
    const all = [NORTH, NORTH, NORTH, SOUTH, SOUTH].map(enter);
    expect(semaphore.isWantedByOthers(EAST)).toBe(true);
    leave();
    leave();
    await Promise.all(all);
    expect(order).toEqual([NORTH, SOUTH, NORTH, SOUTH, NORTH]);
    await semaphore.enter(EAST);
  });

  test('isWantedByOthers ignores an account that waits but already uses all its permits (R-A14)', async () => {
    const semaphore = open({ maxWaitMs: 20 });
    await semaphore.enter(NORTH);
    await semaphore.enter(NORTH);
    const waiting = semaphore.enter(NORTH).catch(() => {});
    expect(semaphore.isWantedByOthers(SOUTH)).toBe(false);
    expect(semaphore.waiting()).toBe(1);
    await waiting;
  });

  test('refuses a waiter when its account already has `waitersPerAccount` waiters, and removes a waiter when its signal is aborted', async () => {
    const semaphore = open({ permits: 1, waitersPerAccount: 1 });
    const leave = await semaphore.enter(NORTH);
    const leaving = new AbortController();
    const waiting = semaphore.enter(NORTH, leaving.signal);
    await expect(semaphore.enter(NORTH)).rejects.toMatchObject({ code: 'dependency_unavailable' });
    leaving.abort(new Error('has left'));
    await expect(waiting).rejects.toThrow('has left');
    expect(semaphore.waiting()).toBe(0);
    leave();
    await semaphore.enter(NORTH);
  });
});
