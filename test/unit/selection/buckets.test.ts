import { describe, expect, test } from 'vitest';
import { findBuckets } from '../../../src/selection/buckets.ts';
import type { BucketRequest } from '../../../src/selection/read-request.ts';
import type { ReadVariable } from '../../../src/selection/selection.ts';

const DAYS: BucketRequest = {
  granularity: 'Day',
  aggregate: undefined,
  fill: 'none',
  minCount: undefined,
  timeZoneId: undefined,
};
const VARIABLES: ReadonlyMap<number, ReadVariable> = new Map([
  [1, { unitId: null, aggregate: 'SUM' }],
  [2, { unitId: 8, aggregate: 'STDEV' }],
]);

const micros = (instant: string) => Date.parse(instant) * 1000;

describe('buckets of a read (R-G1)', () => {
  test('a read of raw points has no buckets', () => {
    expect(findBuckets({ ...DAYS, granularity: 'Raw' }, VARIABLES)).toBeUndefined();
  });

  test('a variable uses the aggregate of the request, else its own, else avg (R-C8)', () => {
    const ids = [1, 2, 3];
    const functionsOf = (aggregate: BucketRequest['aggregate']) =>
      ids.map((id) => findBuckets({ ...DAYS, aggregate }, VARIABLES)?.functionOf(id));
    expect(functionsOf(undefined)).toEqual(['sum', 'stdev', 'avg']);
    expect(functionsOf('MAX')).toEqual(['max', 'max', 'max']);
  });

  test('days begin at midnight in the zone of the request, by default UTC', () => {
    const midnight = micros('2026-07-01T00:00:00Z');
    const utc = findBuckets(DAYS, VARIABLES);
    expect(utc).toMatchObject({ bucket: 'day', timeZoneId: 'UTC', fill: 'none' });
    expect(utc?.startOfDay(midnight)).toBe(midnight);
    const brussels = findBuckets({ ...DAYS, timeZoneId: 'Europe/Brussels' }, VARIABLES);
    expect(brussels?.timeZoneId).toBe('Europe/Brussels');
    expect(brussels?.startOfDay(midnight)).toBe(micros('2026-06-30T22:00:00Z'));
  });

  test('the buckets get `minCount` and `fill` from the request', () => {
    const filled = findBuckets({ ...DAYS, granularity: 'Week', fill: 'linear', minCount: 96 }, VARIABLES);
    expect(filled).toMatchObject({ bucket: 'week', fill: 'linear', minCount: 96 });
    expect(findBuckets(DAYS, VARIABLES)).not.toHaveProperty('minCount');
  });
});
