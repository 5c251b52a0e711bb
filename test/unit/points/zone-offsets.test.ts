/** Tests the spans of time during which the UTC offset of a zone does not change (R-G1, R-A8). */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import { mergeSpans, offsetSpans } from '../../../src/points/buckets/zone-offsets.ts';

const ZONES = ['Europe/Brussels', 'Africa/Casablanca', 'Australia/Lord_Howe', 'Africa/Monrovia', 'Pacific/Apia', 'UTC'];
const HOUR = 3_600_000_000;

test('zone offsets: the spans of any period have the UTC offsets that Temporal computes (R-G1)', () => {
  const micros = fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS - 1 });
  const bound = fc.option(micros, { nil: undefined });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), micros, bound, bound, (zone, at, before, after) => {
      const from = before === undefined ? undefined : Math.min(before, at);
      const to = after === undefined ? undefined : Math.max(after, at);
      const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000));
      const expected = instant.toZonedDateTimeISO(zone).offsetNanoseconds / 1000;
      const spans = offsetSpans(zone, from, to);
      const found = spans.findLast((span, index) => index === 0 || span.from <= at);
      expect(found?.offset).toBe(expected);
      expect(spans.map((span) => span.from)).toEqual(spans.map((span) => span.from).sort((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});

test('zone offsets: a period without a clock change is one span; mergeSpans joins adjacent spans for which its callback returns the same value (R-G1)', () => {
  const [june, july] = [Date.UTC(2026, 5, 1) * 1000, Date.UTC(2026, 6, 1) * 1000];
  expect(offsetSpans('Europe/Brussels', june, july).map(({ offset }) => offset)).toEqual([2 * HOUR]);
  const year = offsetSpans('Europe/Brussels', Date.UTC(2026, 0, 1) * 1000, Date.UTC(2027, 0, 1) * 1000);
  expect(year.map(({ offset }) => offset / HOUR)).toEqual([1, 2, 1]);
  expect(year[0]?.from).toBe(Date.UTC(2026, 0, 1) * 1000);
  expect(mergeSpans(year, (offset) => offset % HOUR)).toHaveLength(1);
});

test('zone offsets: offsetSpans returns exactly the spans that overlap the period, even when the period is open or ends at a clock change (R-G1)', () => {
  const [spring, autumn] = [Date.UTC(2026, 2, 29, 1) * 1000, Date.UTC(2026, 9, 25, 1) * 1000];
  const startsOf = (from?: number, to?: number) => offsetSpans('Europe/Brussels', from, to).map((span) => span.from);
  const all = startsOf();
  expect(all).toEqual(expect.arrayContaining([spring, autumn]));
  expect(startsOf(undefined, spring)).toEqual(all.filter((start) => start <= spring));
  expect(startsOf(undefined, spring - 1)).toEqual(all.filter((start) => start < spring));
  expect(startsOf(autumn)).toEqual(all.filter((start) => start >= autumn));
  expect(startsOf(autumn - 1)).toEqual(all.filter((start) => start >= spring));
  expect(startsOf(spring + 1, autumn)).toHaveLength(2);
  expect(startsOf(spring + 1, autumn - 1)).toHaveLength(1);
});
