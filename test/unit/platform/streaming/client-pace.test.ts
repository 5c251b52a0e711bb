import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type PaceLimits, watchPace } from '../../../../src/platform/streaming/client-pace.ts';

const LIMITS: PaceLimits = { stallMs: 1000, minBytesPerSec: 100, maxMs: 60_000 };

describe('platform: client pace', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const watch = (limits: Partial<PaceLimits> = {}) => {
    const reasons: string[] = [];
    return { reasons, pace: watchPace({ ...LIMITS, ...limits }, (reason) => reasons.push(reason)) };
  };

  test('a client that reads nothing for stallMs is reported once as too slow (R-A14)', () => {
    const { pace, reasons } = watch();
    pace.offer(1_000_000);
    vi.advanceTimersByTime(900);
    expect(reasons).toEqual([]);
    vi.advanceTimersByTime(5000);
    expect(reasons).toEqual(['the client read nothing for 1 s']);
  });

  test('a client below the minimum rate is reported as too slow, although it never stalls (R-A14)', () => {
    const { pace, reasons } = watch();
    for (let step = 0; step < 4; step += 1) {
      pace.offer(40);
      vi.advanceTimersByTime(500);
      pace.taken();
    }
    vi.advanceTimersByTime(200);
    expect(reasons).toEqual([
      'the client must read at least 100 bytes per second, but read 80 bytes per second over 2 s',
    ]);
  });

  test('time spent waiting for the database does not count against the client', () => {
    const { pace, reasons } = watch();
    pace.offer(10);
    pace.taken();
    vi.advanceTimersByTime(50_000);
    expect(reasons).toEqual([]);
    pace.end();
  });

  test('an answer that takes longer than maxMs is reported, however fast the client reads (R-A14)', () => {
    const { pace, reasons } = watch({ maxMs: 2000 });
    for (let step = 0; step < 3; step += 1) {
      pace.offer(1_000_000);
      vi.advanceTimersByTime(900);
      pace.taken();
    }
    expect(reasons).toEqual(['the answer took longer than 2 s']);
  });

  test('after `end()`, a client that reads nothing is not reported as too slow', () => {
    const { pace, reasons } = watch();
    pace.offer(10);
    pace.end();
    vi.advanceTimersByTime(100_000);
    expect(reasons).toEqual([]);
  });
});
