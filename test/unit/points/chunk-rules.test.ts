import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import { CHUNK_MICROS, chunkOf, lengthOf, spanOf, spanOfAll } from '../../../src/points/write/chunk-rules.ts';

describe('chunk rules: chunks', () => {
  it('are adjacent and hold each date once', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS }), (dateMicros) => {
        const number = chunkOf(dateMicros);
        const { fromMicros, toMicros } = spanOf(number);
        expect(fromMicros).toBeLessThanOrEqual(dateMicros);
        expect(toMicros).toBeGreaterThan(dateMicros);
        expect([chunkOf(fromMicros), chunkOf(toMicros - 1)]).toEqual([number, number]);
        expect(spanOf(chunkOf(toMicros)).fromMicros).toBe(toMicros);
      }),
    );
  });

  it('are 263 for all valid dates; those from 1989 to 2049 are short', () => {
    const numbers: number[] = [];
    for (let date = MIN_DATE_MICROS; date < MAX_DATE_MICROS; date = spanOf(chunkOf(date)).toMicros) {
      numbers.push(chunkOf(date));
    }
    expect(numbers).toHaveLength(263);
    for (const year of [1990, 2026, 2049]) expect(lengthOf(chunkOf(Date.UTC(year, 0, 1) * 1000))).toBe(CHUNK_MICROS);
    for (const year of [1700, 1969, 1989, 2050, 2199]) {
      expect(lengthOf(chunkOf(Date.UTC(year, 0, 1) * 1000))).toBe(80 * CHUNK_MICROS);
    }
  });

  it('spanOfAll covers the first to the last chunk', () => {
    expect(spanOfAll([3, 100, 0])).toEqual({ fromMicros: 0, toMicros: 101 * CHUNK_MICROS });
  });
});
