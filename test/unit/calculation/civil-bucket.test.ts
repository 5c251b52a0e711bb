/** Start and end of the civil buckets that the inputs of a calculation are widened to (R-H6). */
import { expect, test } from 'vitest';
import { bucketBegin, bucketEnd } from '../../../src/calculation/inputs/civil-bucket.ts';
import { civilBuckets } from '../../../src/points/buckets/civil-buckets.ts';
import { startOfDay } from '../../../src/structure/catalogue/time-zones.ts';

const MINUTE = 60_000_000;
const at = (text: string) => Date.parse(text) * 1000;

/** Expects, for each instant, that the range from `bucketBegin` to `bucketEnd` contains it and splits no bucket. */
function expectWholeBuckets(kind: 'hour' | 'day', zone: string, instants: readonly number[]): void {
  const { startOf } = civilBuckets(kind, zone, startOfDay(zone));
  const placed = instants.map((instant) => ({ instant, start: startOf(instant) }));
  for (const instant of instants) {
    const [begin, end] = [bucketBegin(instant, kind, zone), bucketEnd(instant, kind, zone)];
    expect(begin).toBeLessThanOrEqual(instant);
    expect(end).toBeGreaterThan(instant);
    const isInside = (other: number) => other >= begin && other < end;
    const starts = new Set(placed.filter((one) => isInside(one.instant)).map(({ start }) => start));
    expect(placed.filter((one) => !isInside(one.instant) && starts.has(one.start))).toEqual([]);
  }
}

// Lord Howe changes its clock by half an hour; St John's changed its clock at 0:01.
test.each([
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['America/St_Johns', '2010-03-14T03:31:00Z'],
  ['Europe/Brussels', '2026-10-25T01:00:00Z'],
])('civil buckets: no hourly bucket is split by the clock change in %s at %s (R-H6)', (zone, change) => {
  const around = Array.from({ length: 300 }, (_, index) => at(change) + (index - 150) * MINUTE);
  expectWholeBuckets('hour', zone, around);
});

// In St John's the clock went back from 0:01 to 23:01, in Havana from 1:00 to 0:00, in São Paulo from 0:00 to 23:00.
test.each([
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['America/Havana', '2026-11-01T05:00:00Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
])('civil buckets: no day is split by the clock change in %s at %s (R-H6)', (zone, change) => {
  const around = Array.from({ length: 600 }, (_, index) => at(change) + (index - 300) * 10 * MINUTE);
  expectWholeBuckets('day', zone, around);
});

test.each(['2010-11-06T12:00:00Z', '2010-11-07T02:30:30Z', '2010-11-07T03:00:00Z', '2010-11-07T12:00:00Z'])(
  "civil buckets: the day bucket of %s covers 6 and 7 November in St John's, where the clock went back past midnight (R-H6)",
  (instant) => {
    expect(bucketBegin(at(instant), 'day', 'America/St_Johns')).toBe(at('2010-11-06T02:30:00Z'));
    expect(bucketEnd(at(instant), 'day', 'America/St_Johns')).toBe(at('2010-11-08T03:30:00Z'));
  },
);

test('civil buckets: each day, week, month and year ends where the next begins (R-H6)', () => {
  const bounds = (['day', 'week', 'month', 'year'] as const).map((bucket) => {
    const begin = bucketBegin(at('2026-03-29T12:00:00Z'), bucket, 'Europe/Brussels');
    const end = bucketEnd(at('2026-03-29T12:00:00Z'), bucket, 'Europe/Brussels');
    expect(bucketBegin(end, bucket, 'Europe/Brussels')).toBe(end);
    return [begin, end];
  });
  expect(bounds).toEqual([
    [at('2026-03-28T23:00:00Z'), at('2026-03-29T22:00:00Z')],
    [at('2026-03-22T23:00:00Z'), at('2026-03-29T22:00:00Z')],
    [at('2026-02-28T23:00:00Z'), at('2026-03-31T22:00:00Z')],
    [at('2025-12-31T23:00:00Z'), at('2026-12-31T23:00:00Z')],
  ]);
});
