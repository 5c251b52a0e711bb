import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../../../src/platform/log.ts';
import { openStatusWatch } from '../../../../src/platform/streaming/status-watch.ts';

const INTERVAL_MS = 500;

describe('status watch', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const open = (maxFollowers = 100) => {
    const asked: (readonly string[])[] = [];
    const find = async (ids: readonly string[]) => {
      asked.push(ids);
      return new Map(ids.filter((id) => id !== 'deleted').map((id) => [id, { id, state: 'Processing' }]));
    };
    const words = { subjects: 'files', instead: 'GET /storage/{id}', isStopping: () => false };
    const limits = { maxPerUser: 20, maxFollowers, intervalMs: INTERVAL_MS };
    return { asked, watch: openStatusWatch({ find, ...words, ...limits, log: createLog('silent', 'test') }) };
  };
  const userOf = (number: number, accountId = number) => ({ userId: `user-${number}`, accountId });

  test('reads the states of all followed files with one statement per interval, however many users follow them (R-A14)', async () => {
    const { asked, watch } = open();
    const seen: unknown[] = [];
    const leaves = Array.from({ length: 50 }, (_, number) =>
      watch.follow(userOf(number), `file-${number % 10}`, (status) => seen.push(status?.id)),
    );
    await vi.advanceTimersByTimeAsync(INTERVAL_MS * 3);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toHaveLength(10);
    expect(seen).toHaveLength(150);
    for (const leave of leaves) leave();
    await vi.advanceTimersByTimeAsync(INTERVAL_MS * 10);
    expect(asked.length).toBeLessThanOrEqual(4);
    watch.follow(userOf(0), 'file-0', () => {});
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(asked.at(-1)).toEqual(['file-0']);
  });

  test('a file that no longer exists is reported as undefined', async () => {
    const { watch } = open();
    const seen: unknown[] = [];
    watch.follow(userOf(0), 'deleted', (status) => seen.push(status));
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(seen).toEqual([undefined]);
  });

  test('limits the number of event streams for each user, for each account and in total (R-A14)', () => {
    const { watch } = open(50);
    const follow = (number: number, accountId: number) => watch.follow(userOf(number, accountId), 'file', () => {});
    const leaves = Array.from({ length: 20 }, () => follow(1, 1));
    expect(() => follow(1, 1)).toThrow(/a user may have at most 20 event streams of files/);
    for (let count = 0; count < 5; count += 1) follow(2, 1);
    expect(() => follow(3, 1)).toThrow(/an account may have at most 25 event streams of files/);
    for (let count = 0; count < 20; count += 1) follow(4, 2);
    for (let count = 0; count < 5; count += 1) follow(5, 3);
    expect(() => follow(6, 4)).toThrow(/its maximum of 50 event streams of files/);
    leaves[0]?.();
    leaves[0]?.();
    follow(1, 1);
    expect(() => follow(6, 4)).toThrow(/its maximum of 50 event streams of files/);
  });
});
