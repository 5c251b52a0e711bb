import { describe, expect, test } from 'vitest';
import { columnBytes, readAhead } from '../../../../src/platform/database/read-ahead.ts';

const ITEM = { values: new Float64Array(1000) };
const BYTES = columnBytes(ITEM);

interface Producer {
  produced: number;
  hasEnded: boolean;
}

function open(items: number, maxItems: number, roomForItems = Number.POSITIVE_INFINITY) {
  const state: Producer = { produced: 0, hasEnded: false };
  let takenBytes = 0;
  const start = async function* (signal: AbortSignal) {
    try {
      while (state.produced < items) {
        signal.throwIfAborted();
        state.produced += 1;
        yield { ...ITEM, number: state.produced };
      }
    } finally {
      state.hasEnded = true;
    }
  };
  const budget = {
    take: (bytes: number) => {
      if (takenBytes + bytes > roomForItems * BYTES) return false;
      takenBytes += bytes;
      return true;
    },
    give: (bytes: number) => {
      takenBytes -= bytes;
    },
  };
  const read = readAhead(start, { maxBytes: maxItems * BYTES, budget });
  return { state, read, takenBytes: () => takenBytes };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('platform: read ahead', () => {
  test('when all items fit in the memory that one read may use, the producer ends without waiting for its consumer (R-A14)', async () => {
    const { state, read, takenBytes } = open(5, 10);
    await read.next();
    await settle();
    expect({ ...state, taken: takenBytes() }).toEqual({ produced: 5, hasEnded: true, taken: 4 * BYTES });
    const numbers: number[] = [];
    for await (const { number } of read) numbers.push(number);
    expect({ numbers, taken: takenBytes() }).toEqual({ numbers: [2, 3, 4, 5], taken: 0 });
  });

  test.each([
    ['the memory of one read', 3, Number.POSITIVE_INFINITY],
    ['the memory of the account', 100, 3],
  ])('a producer waits for its consumer when %s is used up (R-A14)', async (_, maxItems, room) => {
    const { state, read, takenBytes } = open(50, maxItems, room);
    await read.next();
    await settle();
    expect(state.produced).toBeLessThanOrEqual(5);
    const numbers: number[] = [];
    for await (const { number } of read) numbers.push(number);
    expect({ count: numbers.length, last: numbers.at(-1), taken: takenBytes() }).toEqual({
      count: 49,
      last: 50,
      taken: 0,
    });
  });

  test('when the consumer stops reading, the producer ends and the memory is freed', async () => {
    const { state, read, takenBytes } = open(50, 3);
    await read.next();
    await settle();
    await read.return(undefined);
    expect({ hasEnded: state.hasEnded, taken: takenBytes() }).toEqual({ hasEnded: true, taken: 0 });
    expect(state.produced).toBeLessThan(10);
  });

  test('when the abort signal of a read fires, the read fails with the abort reason, even if the producer ignores the signal', async () => {
    const leaving = new AbortController();
    const read = readAhead(
      async function* () {
        for (;;) yield ITEM;
      },
      { maxBytes: BYTES, budget: { take: () => true, give: () => {} } },
      leaving.signal,
    );
    await read.next();
    leaving.abort(new Error('the client has left'));
    await expect(
      (async () => {
        for await (const item of read) expect(item).toBe(ITEM);
      })(),
    ).rejects.toThrow('the client has left');
  });

  test('a consumer receives the items produced before an error, then the error', async () => {
    const failing = readAhead(
      async function* () {
        yield ITEM;
        throw new Error('the database is away');
      },
      { maxBytes: BYTES, budget: { take: () => true, give: () => {} } },
    );
    expect((await failing.next()).value).toBe(ITEM);
    await expect(failing.next()).rejects.toThrow('the database is away');
  });
});
