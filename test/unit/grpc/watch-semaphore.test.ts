/** Who waits for whom when many watches want to read at once (R-J2). */
import { describe, expect, it } from 'vitest';
import { coalesceRuns, openSemaphore } from '../../../src/grpc/watch/semaphore.ts';

/** Work that ends when it is told to. */
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

describe('turns', () => {
  it('come in the order they were asked for, and are not taken by who has left (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const turns = openSemaphore(1);
    const leaving = new AbortController();
    const first = turns.take(named('first'));
    const second = turns.take(named('second'), leaving.signal);
    const third = turns.take(named('third'));
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    end('first');
    expect(await first).toBe('first');
    await expect.poll(() => begun.includes('third')).toBe(true);
    end('third');
    expect(await third).toBe('third');
    expect(begun).toEqual(['first', 'third']);
    await turns.take(async () => {});
  });
});

describe('shared turns', () => {
  it('let one work for all who came before it began, and for nobody after (R-J2)', async () => {
    const { begun, named, end } = openWork();
    const turns = coalesceRuns<string>(openSemaphore(1));
    const take = (key: string | undefined, name: string, signal = forever) => turns.take(key, named(name), signal);
    const leaving = new AbortController();
    const results = [
      take('a', '1'),
      take('a', '2', leaving.signal),
      take('a', '3'),
      take('b', '4'),
      take(undefined, '5'),
    ];
    leaving.abort(new Error('left'));
    await expect(results[1]).rejects.toThrow('left');
    end('1');
    expect(await results[0]).toBe('1');
    const late = take('a', '6');
    for (const name of ['2', '4', '5', '6']) {
      await expect.poll(() => begun.includes(name)).toBe(true);
      end(name);
    }
    expect(await Promise.all([...results.slice(2), late])).toEqual(['2', '4', '5', '6']);
    expect(begun).toEqual(['1', '2', '4', '5', '6']);
  });

  it('fail for all who wait for them, and leave nothing behind (R-J2)', async () => {
    const { named, end } = openWork();
    const turns = coalesceRuns<string>(openSemaphore(1));
    const first = turns.take('a', named('1'), forever);
    const refuse = () => Promise.reject(new Error('away'));
    const failing = [turns.take('a', refuse, forever), turns.take('a', named('2'), forever)];
    const refusals = Promise.allSettled(failing);
    end('1');
    await first;
    expect((await refusals).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await turns.take('a', async () => '3', forever)).toBe('3');
  });
});
