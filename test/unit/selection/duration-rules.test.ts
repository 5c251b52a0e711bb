import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration, parseRelative } from '../../../src/selection/duration-rules.ts';

const HOUR = 3_600_000_000;

describe('parseDuration: a duration (R-G2)', () => {
  test.each([
    ['PT24H', { months: 0, days: 0, micros: 24 * HOUR }],
    ['P1D', { months: 0, days: 1, micros: 0 }],
    ['P1M', { months: 1, days: 0, micros: 0 }],
    ['PT1M', { months: 0, days: 0, micros: 60_000_000 }],
    ['P1Y2M3W4DT5H6M7S', { months: 14, days: 25, micros: 5 * HOUR + 367_000_000 }],
    ['PT1.5H', { months: 0, days: 0, micros: 1.5 * HOUR }],
    ['PT0,000001S', { months: 0, days: 0, micros: 1 }],
    ['PT0S', { months: 0, days: 0, micros: 0 }],
    ['p7d', { months: 0, days: 7, micros: 0 }],
    ['P100Y', { months: 1200, days: 0, micros: 0 }],
    ['P36600D', { months: 0, days: 36_600, micros: 0 }],
    ['P50Y18300D', { months: 600, days: 18_300, micros: 0 }],
    ['PT878400H', { months: 0, days: 0, micros: 878_400 * HOUR }],
    [' P1D ', { months: 0, days: 1, micros: 0 }],
  ])('%s splits into months, days and microseconds', (text, duration) => {
    expect(parseDuration(text)).toEqual(duration);
  });

  test.each([
    ...['', 'P', 'PT', 'P1DT', '-P1D', 'P-1D', '1D', 'PT1D', 'P1H', 'P1.5D', 'PT1.5H30M', 'P1M1Y', 'P1'],
    ...['P101Y', 'P36601D', 'PT878401H', 'PT878400H0.000001S', 'P100Y1D', 'P99Y12M1D', 'P50Y18301D', 'P36600DT1S'],
  ])('%j is refused', (text) => expect(parseDuration(text)).toBeUndefined());

  test('a duration without a sign or fraction is the sum of its parts', () => {
    const part = fc.integer({ min: 0, max: 36 });
    fc.assert(
      fc.property(fc.tuple(part, part, part, part, part, part, part), ([y, mo, w, d, h, mi, s]) => {
        expect(parseDuration(`P${y}Y${mo}M${w}W${d}DT${h}H${mi}M${s}S`)).toEqual({
          months: y * 12 + mo,
          days: w * 7 + d,
          micros: ((h * 60 + mi) * 60 + s) * 1_000_000,
        });
      }),
    );
  });
});

describe('parseRelative: a relative version (§9.3, R-G2)', () => {
  test.each([
    ['last 3 days', { months: 0, days: 3, micros: 0 }],
    ['3 days', { months: 0, days: 3, micros: 0 }],
    ['Last3Days', { months: 0, days: 3, micros: 0 }],
    ['LAST_3_DAYS', { months: 0, days: 3, micros: 0 }],
    ['P3D', { months: 0, days: 3, micros: 0 }],
    ['last day', { months: 0, days: 1, micros: 0 }],
    ['12 hours', { months: 0, days: 0, micros: 12 * HOUR }],
    ['last 6 hours', { months: 0, days: 0, micros: 6 * HOUR }],
    ['2 weeks', { months: 0, days: 14, micros: 0 }],
    ['1 month', { months: 1, days: 0, micros: 0 }],
    ['last 2 years', { months: 24, days: 0, micros: 0 }],
    ['current', 'current'],
    [' Current ', 'current'],
  ])('%j is accepted', (text, duration) => {
    expect(parseRelative(text)).toEqual(duration);
  });

  test.each([
    '',
    'days',
    'last',
    '3',
    'three days',
    'last 3 fortnights',
    '-3 days',
    '3 days ago',
    '1.5 days',
    '101 years',
    'latest',
  ])('%j is refused', (text) => expect(parseRelative(text)).toBeUndefined());
});
