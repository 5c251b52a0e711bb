/** Gap filling between buckets (R-G1). In these tests, the start of a bucket is a small integer, not an instant. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFiller,
  type FilledBucket,
  type FillOptions,
  type FoundBucket,
} from '../../../src/points/buckets/fill-rules.ts';

const steps = { next: (start: number) => start + 1, previous: (start: number) => start - 1 };

function fill(found: readonly FoundBucket[], options: Omit<FillOptions, 'steps'>): readonly FilledBucket[] {
  const filler = createFiller({ ...options, steps });
  return [...found.flatMap((bucket) => [...filler.push(bucket)]), ...filler.finish()];
}

const pairs = (buckets: readonly FoundBucket[]) => buckets.map(({ start, value }) => [start, value]);
const found = [
  { start: 2, value: 20 },
  { start: 5, value: 50 },
  { start: 6, value: 40 },
];
const none = Number.NaN;

describe('points: gap filling', () => {
  test.each([
    ['previous', 20, 20],
    ['linear', 30, 40],
    ['null', none, none],
  ] as const)(
    'fill=%s adds the missing buckets between the first and the last found bucket (R-G1)',
    (kind, third, fourth) => {
      expect(pairs(fill(found, { fill: kind, order: 'ASC' }))).toEqual([
        [2, 20],
        [3, third],
        [4, fourth],
        [5, 50],
        [6, 40],
      ]);
    },
  );

  test.each([
    ['previous', none, 40],
    ['linear', none, none],
    ['null', none, none],
  ] as const)(
    'fill=%s fills the whole period: %s before the first bucket with a value, %s after the last such bucket (R-G1)',
    (kind, before, after) => {
      const filled = fill(found, { fill: kind, order: 'ASC', first: 1, last: 8 });
      expect(filled.map(({ start }) => start)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect([filled[0]?.value, filled[6]?.value, filled[7]?.value]).toEqual([before, after, after]);
    },
  );

  test('when no bucket is found, only a non-empty period with a start and an end is filled (R-G1)', () => {
    expect(pairs(fill([], { fill: 'previous', order: 'ASC', first: 1, last: 2 }))).toEqual([
      [1, none],
      [2, none],
    ]);
    expect(fill([], { fill: 'previous', order: 'ASC', first: 1 })).toEqual([]);
    expect(fill([], { fill: 'previous', order: 'ASC', first: 2, last: 1 })).toEqual([]);
  });

  test.each(['previous', 'linear'] as const)(
    'fill=%s also fills a bucket that has no aggregate value and lies between two buckets with values (R-G1)',
    (kind) => {
      const withHole = [found[0], { start: 3, value: none }, { start: 4, value: 40 }, { start: 5, value: none }];
      const filled = fill(withHole as FoundBucket[], { fill: kind, order: 'ASC' });
      expect(filled.map(({ value }) => value)).toEqual(kind === 'linear' ? [20, 30, 40, none] : [20, 20, 40, 40]);
    },
  );

  test('fill=null keeps buckets whose aggregate has no value, such as the variance of one point, and does not count them as gaps (R-G1)', () => {
    const filled = fill(
      [
        { start: 2, value: none },
        { start: 4, value: 40 },
      ],
      { fill: 'null', order: 'ASC' },
    );
    expect(filled).toEqual([
      { start: 2, value: none, isGap: false },
      { start: 3, value: none, isGap: true },
      { start: 4, value: 40, isGap: false },
    ]);
  });

  test('gives the same buckets in the orders ASC and DESC, and changes no bucket that has a value (R-G1)', () => {
    const buckets = fc
      .uniqueArray(
        fc.record({ start: fc.integer({ min: 0, max: 30 }), value: fc.double({ noDefaultInfinity: true }) }),
        {
          selector: ({ start }) => start,
        },
      )
      .map((list) => list.sort((a, b) => a.start - b.start));
    const bound = fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined });
    const kinds = fc.constantFrom('previous', 'linear', 'null');
    fc.assert(
      fc.property(buckets, bound, bound, kinds, (list, before, after, kind) => {
        const first = before === undefined ? undefined : (list[0]?.start ?? 5) - before;
        const last = after === undefined ? undefined : (list.at(-1)?.start ?? 5) + after;
        const options = { fill: kind, first, last };
        const ascending = fill(list, { ...options, order: 'ASC' });
        const descending = fill(list.toReversed(), { ...options, order: 'DESC' });
        expect(descending.toReversed()).toEqual(ascending);
        expect(ascending.map(({ start }) => start)).toEqual(
          ascending.map((_, index) => (ascending[0]?.start ?? 0) + index),
        );
        const kept = ascending.filter(({ isGap }) => !isGap);
        expect(pairs(kept)).toEqual(pairs(kind === 'null' ? list : list.filter(({ value }) => !Number.isNaN(value))));
      }),
    );
  });
});
