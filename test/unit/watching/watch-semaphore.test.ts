/** The semaphore that limits the database connections of watches (R-J2, R-A14). */
import { describe, expect, it } from 'vitest';
import { openFairSemaphore } from '../../../src/platform/shares/fair-semaphore.ts';
import { coalesceRuns } from '../../../src/watching/semaphore.ts';

/** Creates named jobs for the semaphore. A job runs until the test calls `end` with the name of the job. */
function openWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    named: (name: string) => () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.set(name, () => resolve(name));
      }),
    end: async (name: string) => {
      await expect.poll(() => begun.includes(name)).toBe(true);
      ends.get(name)?.();
    },
  };
}

const forever = new AbortController().signal;

const onePermit = () =>
  coalesceRuns<string>(
    openFairSemaphore({
      ...{ resource: 'connections', permits: 1, permitsPerAccount: 1 },
      ...{ waitersPerAccount: Number.POSITIVE_INFINITY, maxWaitMs: 60_000 },
    }),
  );

describe('watch: coalescing semaphore', () => {
  it('shares a run among the callers with the same key that arrive before the run begins (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const semaphore = onePermit();
    const run = (key: string | undefined, name: string, signal = forever) =>
      semaphore.run({ key, accountId: 1 }, named(name), signal);
    const leaving = new AbortController();
    const first = run('a', '1');
    await expect.poll(() => begun).toEqual(['1']);
    const results = [run('a', '2', leaving.signal), run('a', '3'), run('b', '4'), run(undefined, '5')];
    leaving.abort(new Error('left'));
    await expect(results[0]).rejects.toThrow('left');
    await end('1');
    expect(await first).toBe('1');
    await expect.poll(() => begun.includes('2')).toBe(true);
    const late = run('a', '6');
    for (const name of ['2', '4', '5', '6']) await end(name);
    expect(await Promise.all([...results.slice(1), late])).toEqual(['2', '4', '5', '6']);
    expect(begun).toEqual(['1', '2', '4', '5', '6']);
  });

  it('rejects every caller of a failed run and starts a new run for the next caller (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const semaphore = onePermit();
    const run = (work: () => Promise<string>) => semaphore.run({ key: 'a', accountId: 1 }, work, forever);
    const first = run(named('1'));
    await expect.poll(() => begun).toEqual(['1']);
    const refusals = Promise.allSettled([run(() => Promise.reject(new Error('unavailable'))), run(named('2'))]);
    await end('1');
    await first;
    expect((await refusals).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await run(async () => '3')).toBe('3');
  });

  it('while one account has 50 queued reads, a read of another account waits for at most two of them (R-A14)', async () => {
    const { begun, named, end } = openWork();
    const semaphore = onePermit();
    const run = (accountId: number, name: string) => semaphore.run({ key: undefined, accountId }, named(name), forever);
    const busy = Array.from({ length: 50 }, (_, index) => run(1, `busy ${index}`));
    const quiet = run(2, 'quiet');
    await end('busy 0');
    await end('busy 1');
    await end('quiet');
    expect(await quiet).toBe('quiet');
    expect(begun.indexOf('quiet')).toBeLessThanOrEqual(2);
    for (let index = 2; index < busy.length; index += 1) await end(`busy ${index}`);
    await Promise.all(busy);
  });
});
