/** SQL literals: no value can escape its literal. */
import { describe, expect, test } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import {
  instantArrayLiteral,
  instantLiteral,
  integerArrayLiteral,
  integerLiteral,
  intervalLiteral,
  textLiteral,
} from '../../../src/points/read/sql-literal.ts';

describe('points: SQL literals', () => {
  test('safe integers are written exactly; any other number throws', () => {
    expect([integerLiteral(42), integerLiteral(0)]).toEqual(['42', '0']);
    expect(`1-${integerLiteral(-1)}`).toBe('1-(-1)');
    expect(integerArrayLiteral([1, -2])).toBe("'{1,-2}'::int[]");
    for (const wrong of [1.5, Number.NaN, Infinity, 2 ** 53, '1; drop table point' as never as number]) {
      expect(() => integerLiteral(wrong)).toThrow(/must be a safe integer/);
      expect(() => integerArrayLiteral([1, wrong])).toThrow(/must be a safe integer/);
      expect(() => intervalLiteral(wrong)).toThrow(/must be a safe integer/);
    }
  });

  test('a duration is written in microseconds', () => {
    expect(intervalLiteral(-3_600_000_001)).toBe("interval '-3600000001 microseconds'");
  });

  test('quotes and backslashes in a text are escaped, so that the text cannot end its literal', () => {
    expect(textLiteral("Europe/Brussels')--")).toBe("'Europe/Brussels'')--'");
    expect(textLiteral("a\\'b")).toBe(" E'a\\\\''b'");
  });

  test('an instant is exact to the microsecond; an instant out of range becomes infinity or -infinity', () => {
    expect(instantLiteral(Date.UTC(2026, 2, 1) * 1000 + 1)).toBe("timestamptz '2026-03-01T00:00:00.000001Z'");
    expect(instantLiteral(-Number.MAX_VALUE)).toBe("timestamptz '-infinity'");
    expect(instantLiteral(Number.MAX_VALUE)).toBe("timestamptz 'infinity'");
    const ends = [MIN_DATE_MICROS - 1, MIN_DATE_MICROS, MAX_DATE_MICROS, MAX_DATE_MICROS + 1];
    const [first, last] = ['1700-01-01T00:00:00Z', '2200-01-01T00:00:00Z'];
    expect(instantArrayLiteral(ends)).toBe(`'{-infinity,${first},${last},infinity}'::timestamptz[]`);
  });
});
