/** Tests the waker of the ingester: the first push wakes it immediately, and many pushes share few wake-ups (R-D10). */
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { openWaker } from '../../../src/push/accept/waker.ts';

const LOG = createLog('silent', 'test');

test('push: the first push wakes the ingester immediately; a thousand later pushes share one wake-up', async () => {
  const calls: (readonly number[])[] = [];
  const waker = openWaker(async (accountIds) => void calls.push(accountIds), LOG);
  waker.wake(1);
  expect(calls).toEqual([[1]]);
  for (let push = 0; push < 1000; push += 1) waker.wake(1 + (push % 2));
  await waker.close();
  expect(calls).toEqual([[1], [1, 2]]);
});

test.each([
  [1, 5],
  [100, 25],
  [100_000, 100],
])(
  'push: when %i pushes arrive together, the ingester is woken immediately, and woken again %i ms later',
  async (pushes, pauseMs) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let calls = 0;
    const waker = openWaker(async () => {
      calls += 1;
    }, LOG);
    for (let push = 0; push < pushes; push += 1) waker.wake(1);
    await vi.advanceTimersByTimeAsync(0);
    waker.wake(1);
    await vi.advanceTimersByTimeAsync(pauseMs - 1);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toBe(2);
  },
);

test('push: when an attempt to wake the ingester fails, the next push tries again', async () => {
  let calls = 0;
  const waker = openWaker(async () => {
    calls += 1;
    throw new Error('Redis is away');
  }, LOG);
  waker.wake(1);
  await waker.close();
  waker.wake(1);
  await waker.close();
  expect(calls).toBe(2);
});
