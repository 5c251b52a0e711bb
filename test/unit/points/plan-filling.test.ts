/** The longest period that a read with filled gaps may cover (R-G1). */
import { expect, test } from 'vitest';
import type { Buckets } from '../../../src/points/buckets/bucket.ts';
import { MAX_FILLED } from '../../../src/points/buckets/fill-buckets.ts';
import { planFilling } from '../../../src/points/buckets/plan-filling.ts';
import type { PointSelection } from '../../../src/points/point.ts';

const MINUTE = 60_000_000;
const START = Date.UTC(2000, 0, 1) * 1000;

test('points: filling gaps in a period of more than 5,000,000 buckets (MAX_FILLED) is refused, unless the read has a limit (R-G1)', () => {
  const buckets: Buckets = {
    ...{ bucket: 'minute', timeZoneId: 'UTC', fill: 'null' },
    functionOf: () => 'sum',
    startOfDay: (micros) => micros,
  };
  const plan = (minutes: number, page: Pick<PointSelection, 'limit'> = {}) =>
    planFilling(
      {
        ...{ variableIds: [7], version: {}, order: 'ASC', ...page },
        ...{ fromMicros: START, toMicros: START + minutes * MINUTE },
      },
      buckets,
    );
  expect(MAX_FILLED).toBe(5_000_000);
  expect(plan(MAX_FILLED)?.options).toMatchObject({ first: START, last: START + (MAX_FILLED - 1) * MINUTE });
  expect(() => plan(MAX_FILLED + 1)).toThrow(
    `when gaps are filled, the period must have at most ${MAX_FILLED} buckets; request a shorter period`,
  );
  expect(plan(MAX_FILLED + 1, { limit: 10 })?.pageOf('sum')).toEqual({ limit: 11 });
});
