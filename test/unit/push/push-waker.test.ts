/** Wake-ups: immediate for the first push, few for many pushes (R-D10). */
import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { openWaker } from '../../../src/push/accept/waker.ts';

const LOG = createLog('silent', 'test');

test('push: the first push wakes the ingester at once; a thousand later pushes wake it together', async () => {
  const calls: (readonly number[])[] = [];
  const waker = openWaker(async (accountIds) => void calls.push(accountIds), LOG);
  waker.wake(1);
  expect(calls).toEqual([[1]]);
  for (let push = 0; push < 1000; push += 1) waker.wake(1 + (push % 2));
  await waker.close();
  expect(calls).toEqual([[1], [1, 2]]);
});

test('push: the pause before the next wake-up grows with the rate of pushes, up to 100 ms', async () => {
  const pauseAfter = async (pushes: number): Promise<number> => {
    const waker = openWaker(async () => {}, LOG);
    const startMs = performance.now();
    for (let push = 0; push < pushes; push += 1) waker.wake(1);
    await waker.close();
    return performance.now() - startMs;
  };
  const [few, many] = [await pauseAfter(1), await pauseAfter(100_000)];
  expect(many - few).toBeGreaterThan(50);
  expect(many).toBeLessThan(2000);
});

test('push: a failed wake-up is left to the sweeper, and the next push wakes again', async () => {
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
