/** The semaphore in front of the database connections of watches (R-J2). */
import { describe, expect, it } from 'vitest';
import { coalesceRuns, openSemaphore } from '../../../src/grpc/watch/semaphore.ts';

/** Makes work that ends when the test calls `end` with its name. */
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
    end: (name: string) => ends.get(name)?.(),
  };
}

const forever = new AbortController().signal;

describe('watch: semaphore', () => {
  it('grants permits in FIFO order and skips a waiter whose signal was aborted (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const semaphore = openSemaphore(1);
    const leaving = new AbortController();
    const first = semaphore.run(named('first'));
    const second = semaphore.run(named('second'), leaving.signal);
    const third = semaphore.run(named('third'));
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    end('first');
    expect(await first).toBe('first');
    await expect.poll(() => begun.includes('third')).toBe(true);
    end('third');
    expect(await third).toBe('third');
    expect(begun).toEqual(['first', 'third']);
    await semaphore.run(async () => {});
  });
});

describe('watch: coalescing semaphore', () => {
  it('shares a run among callers of the same key that arrive before it begins, not after (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const semaphore = coalesceRuns<string>(openSemaphore(1));
    const run = (key: string | undefined, name: string, signal = forever) => semaphore.run(key, named(name), signal);
    const leaving = new AbortController();
    const results = [run('a', '1'), run('a', '2', leaving.signal), run('a', '3'), run('b', '4'), run(undefined, '5')];
    leaving.abort(new Error('left'));
    await expect(results[1]).rejects.toThrow('left');
    end('1');
    expect(await results[0]).toBe('1');
    const late = run('a', '6');
    for (const name of ['2', '4', '5', '6']) {
      await expect.poll(() => begun.includes(name)).toBe(true);
      end(name);
    }
    expect(await Promise.all([...results.slice(2), late])).toEqual(['2', '4', '5', '6']);
    expect(begun).toEqual(['1', '2', '4', '5', '6']);
  });

  it('rejects every caller of a failed run and starts a new run for the next caller (R-J2)', async () => {
    const { named, end } = openWork();
    const semaphore = coalesceRuns<string>(openSemaphore(1));
    const first = semaphore.run('a', named('1'), forever);
    const refuse = () => Promise.reject(new Error('unavailable'));
    const failing = [semaphore.run('a', refuse, forever), semaphore.run('a', named('2'), forever)];
    const refusals = Promise.allSettled(failing);
    end('1');
    await first;
    expect((await refusals).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await semaphore.run('a', async () => '3', forever)).toBe('3');
  });
});
