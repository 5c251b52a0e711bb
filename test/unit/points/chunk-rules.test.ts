import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import { CHUNK_MICROS, chunkOf, lengthOf, spanOf, spanOfAll } from '../../../src/points/write/chunk-rules.ts';

const DAY = 86_400_000_000;

describe('chunk rules: chunks', () => {
  it('chunks are adjacent, and each date is in exactly one chunk', () => {
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

  it('chunks are 91 days long from 1989-12-07 to 2049-09-22 and 80 times as long before and after this period; 263 chunks contain all valid dates', () => {
    const numbers: number[] = [];
    for (let date = MIN_DATE_MICROS; date < MAX_DATE_MICROS; date = spanOf(chunkOf(date)).toMicros) {
      numbers.push(chunkOf(date));
    }
    expect(numbers).toHaveLength(263);
    const lengthAt = (date: string) => lengthOf(chunkOf(Date.parse(date) * 1000));
    for (const date of ['1989-12-07', '2026-01-01', '2049-09-22']) expect(lengthAt(date)).toBe(91 * DAY);
    for (const date of ['1700-01-01', '1969-01-01', '1989-12-06', '2049-09-23', '2199-01-01']) {
      expect(lengthAt(date)).toBe(80 * 91 * DAY);
    }
  });

  it('`spanOfAll` returns the span from the start of the first chunk to the end of the last', () => {
    expect(spanOfAll([3, 100, 0])).toEqual({ fromMicros: 0, toMicros: 101 * CHUNK_MICROS });
  });
});
