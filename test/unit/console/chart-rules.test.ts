import { describe, expect, test } from 'vitest';
import { chartStepOf, planResolution, spacingOf } from '../../../src/console/variable/chart-rules.ts';

const DAY_SEC = 86_400;
const planOf = (granularity: number | null, timeBase: string | null, spacingSec: number | undefined, days: number) => {
  const range = { from: 0, to: days * DAY_SEC };
  return planResolution(range, chartStepOf(granularity, timeBase, { ...range, spacingSec }));
};

describe('console chart: points are drawn raw while they are few, else as buckets', () => {
  test.each([
    ['a year of quarters of an hour', 15, 'Minute', 900, 366, 'Raw'],
    ['ten years of quarters of an hour', 15, 'Minute', 900, 3660, 'Day'],
    ['a million minutes', 1, 'Minute', 60, 695, 'Day'],
    ['ten days of seconds without a granularity', null, null, 1, 10, 'Hour'],
    ['ten days of seconds that are declared as quarters of an hour', 15, 'Minute', 1, 10, 'Hour'],
    ['a year of hours without a granularity', null, null, 3600, 366, 'Raw'],
    ['one point without a granularity', null, null, undefined, 366, 'Raw'],
    ['several points of one date', null, null, 0, 366, 'Raw'],
  ] as const)('%s', (_what, granularity, timeBase, spacingSec, days, expected) => {
    expect(planOf(granularity, timeBase, spacingSec, days)).toBe(expected);
  });

  test('the interval of points is the median interval, which gaps do not change', () => {
    expect(spacingOf([30, 10, 20, 5000])).toBe(10);
    expect(spacingOf([1])).toBeUndefined();
  });
});
