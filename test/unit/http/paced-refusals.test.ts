import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paceRefusals } from '../../../src/http/paced-refusals.ts';
import { planRequest } from '../../../src/http/rate-rules.ts';

const PER_MINUTE = 60;

/** Opens a paced limiter around an in-memory limiter. The in-memory limiter adds the key of each call to `calls`. */
function openLimiter() {
  const fullAtMs = new Map<string, number>();
  const calls: string[] = [];
  const limiter = paceRefusals({
    count: async (key, perMinute, cost = 1) => {
      calls.push(key);
      const plan = planRequest(fullAtMs.get(key), Date.now(), perMinute, cost);
      fullAtMs.set(key, plan.fullAtMs);
      return plan.waitMs;
    },
    countInMemory: () => true,
    isHalfFree: () => true,
    close: () => {},
  });
  const useUp = async (key: string) => {
    for (let count = 0; count < PER_MINUTE; count += 1) await limiter.count(key, PER_MINUTE);
    calls.length = 0;
  };
  return { limiter, calls, useUp };
}

describe('http: paced refusals', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('after a refusal, a later request that fits the budget passes and is counted (R-B15)', async () => {
    const { limiter, calls, useUp } = openLimiter();
    await useUp('a');
    expect(await limiter.count('a', PER_MINUTE)).toBe(1000);
    vi.setSystemTime(Date.now() + 400);
    expect(await limiter.count('a', PER_MINUTE)).toBe(600);
    expect(calls).toEqual(['a']);
    expect(await limiter.count('a', PER_MINUTE, 0.1)).toBe(0);
    vi.setSystemTime(Date.now() + 700);
    expect(await limiter.count('a', PER_MINUTE)).toBe(0);
    expect(calls).toEqual(['a', 'a', 'a']);
  });

  it('refusals for the same client are sent 10 ms apart; a refusal for another client is sent immediately (R-A14)', async () => {
    const { limiter, useUp } = openLimiter();
    await useUp('a');
    await useUp('b');
    let answered = 0;
    const floods = Array.from({ length: 50 }, async () => {
      await limiter.count('a', PER_MINUTE);
      answered += 1;
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(answered).toBeGreaterThanOrEqual(10);
    expect(answered).toBeLessThanOrEqual(12);
    const startMs = Date.now();
    expect(await limiter.count('b', PER_MINUTE)).toBeGreaterThan(0);
    expect(Date.now()).toBe(startMs);
    expect(limiter.isFlooded('a')).toBe(false);
    await vi.runAllTimersAsync();
    await Promise.all(floods);
    expect(answered).toBe(50);
  });

  it('a limiter delays at most 200 refusals per key at a time (R-A14)', async () => {
    const { limiter, useUp } = openLimiter();
    await useUp('a');
    let answered = 0;
    const refuse = async () => {
      await limiter.count('a', PER_MINUTE);
      answered += 1;
    };
    const floods = Array.from({ length: 201 }, refuse);
    await vi.advanceTimersByTimeAsync(0);
    expect([answered, limiter.isFlooded('a')]).toEqual([1, false]);
    floods.push(...Array.from({ length: 300 }, refuse));
    await vi.advanceTimersByTimeAsync(0);
    expect([answered, limiter.isFlooded('a'), limiter.isFlooded('b')]).toEqual([301, true, false]);
    await vi.advanceTimersByTimeAsync(2000);
    await Promise.all(floods);
    expect(limiter.isFlooded('a')).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(limiter.isFlooded('a')).toBe(false);
  });

  it('a limiter delays at most 2,000 refusals at the same time, for all keys together (R-A14)', async () => {
    const { limiter, useUp } = openLimiter();
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    for (const key of keys) await useUp(key);
    let answered = 0;
    const refuse = async (key: string) => {
      await limiter.count(key, PER_MINUTE);
      answered += 1;
    };
    const floods = keys.flatMap((key) => Array.from({ length: 150 }, () => refuse(key)));
    await vi.advanceTimersByTimeAsync(0);
    expect(floods.length - answered).toBe(2000);
    await vi.advanceTimersByTimeAsync(2000);
    await Promise.all(floods);
  });
});
