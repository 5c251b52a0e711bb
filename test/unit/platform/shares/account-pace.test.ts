import { describe, expect, test } from 'vitest';
import { openAccountPace } from '../../../../src/platform/shares/account-pace.ts';

const [A, B] = [1, 2];

/** Creates an `AccountPace` with a simulated clock. The test advances the clock, and starts and ends units of work. */
function openBench(share: number) {
  let nowMs = 0;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const pause = (ms: number) =>
    new Promise<void>((wake) => {
      sleepers.push({ atMs: nowMs + ms, wake });
    });
  const pace = openAccountPace({ share, nowMs: () => nowMs, pause });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    /** Runs the pending promise callbacks; the clock does not move. */
    settle: () => new Promise(setImmediate),
    start: (accountId: number, name: string) => {
      const unit = Promise.withResolvers<void>();
      ends.set(name, unit.resolve);
      return pace.run(accountId, () => {
        begun.push(name);
        return unit.promise;
      });
    },
    end: (name: string) => ends.get(name)?.(),
    move: (ms: number) => {
      nowMs += ms;
      for (const { atMs, wake } of sleepers) if (atMs <= nowMs) wake();
    },
  };
}

describe('account pace', () => {
  test('while no other account works, an account runs several units of work at the same time (R-A14)', async () => {
    const bench = openBench(0.5);
    for (const name of ['a1', 'a2', 'a3']) void bench.start(A, name);
    await bench.settle();
    expect(bench.begun).toEqual(['a1', 'a2', 'a3']);
  });

  test('while another account works, an account runs one unit of work at a time (R-A14)', async () => {
    const bench = openBench(0.5);
    void bench.start(B, 'b1');
    for (const name of ['a1', 'a2', 'a3']) void bench.start(A, name);
    await bench.settle();
    expect(bench.begun).toEqual(['b1', 'a1']);
    bench.end('a1');
    await bench.settle();
    expect(bench.begun).toEqual(['b1', 'a1', 'a2']);
  });

  test('an account pauses after it has worked more than its share; meanwhile, light work of another account begins immediately (R-A14)', async () => {
    const bench = openBench(0.5);
    const heavy = bench.start(A, 'a1');
    await bench.settle();
    bench.move(300);
    bench.end('a1');
    await heavy;
    void bench.start(B, 'b1');
    void bench.start(A, 'a2');
    await bench.settle();
    // 200 ms of work beyond CREDIT_MS are followed by a pause of 200 / 0.5 = 400 ms.
    expect(bench.begun).toEqual(['a1', 'b1']);
    bench.move(399);
    await bench.settle();
    expect(bench.begun).toEqual(['a1', 'b1']);
    bench.move(1);
    await bench.settle();
    expect(bench.begun).toEqual(['a1', 'b1', 'a2']);
  });

  test.each([
    [999, 'one', ['b1', 'a1']],
    [1000, 'two', ['b1', 'a1', 'a2']],
  ])(
    'an account requests two units of work after all others have been idle for %i ms: %s begin immediately (R-A14)',
    async (idleMs, _what, begun) => {
      const bench = openBench(0.5);
      const other = bench.start(B, 'b1');
      await bench.settle();
      bench.end('b1');
      await other;
      bench.move(idleMs);
      for (const name of ['a1', 'a2']) void bench.start(A, name);
      await bench.settle();
      expect(bench.begun).toEqual(begun);
    },
  );

  test('when a unit of work fails, its call rejects and the next unit begins (R-A14)', async () => {
    const pace = openAccountPace({ share: 0.5 });
    const other = pace.run(B, async () => 'other');
    await expect(pace.run(A, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await pace.run(A, async () => 'next')).toBe('next');
    expect(await other).toBe('other');
  });
});
