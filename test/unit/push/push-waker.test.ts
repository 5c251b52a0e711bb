/** How often the ingester is woken: at once for the first push, seldom for many (R-D10). */
import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { openWaker } from '../../../src/push/accept/waker.ts';

const LOG = createLog('silent', 'test');

test('the first push wakes the ingester at once, a thousand after it once more, together', async () => {
  const calls: (readonly number[])[] = [];
  const waker = openWaker(async (accountIds) => void calls.push(accountIds), LOG);
  waker.wake(1);
  expect(calls).toEqual([[1]]);
  for (let push = 0; push < 1000; push += 1) waker.wake(1 + (push % 2));
  await waker.close();
  expect(calls).toEqual([[1], [1, 2]]);
});

test('the more was pushed, the longer the pause before the next wake-up, up to a tenth of a second', async () => {
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

test('what fails is left to the sweeper; the next is woken again', async () => {
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
