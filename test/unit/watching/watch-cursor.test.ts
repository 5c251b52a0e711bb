import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';
import type { ChangePosition } from '../../../src/points/read/read-changes.ts';
import { AT_BEGINNING, decodeCursor, encodeCursor } from '../../../src/watching/cursor.ts';

const NOW = Date.UTC(2026, 10, 21) * 1000;

const date = fc.oneof(
  fc.constant(Number.POSITIVE_INFINITY),
  fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS }),
);
const position: fc.Arbitrary<ChangePosition> = fc.oneof(
  fc.constant(AT_BEGINNING),
  fc.record({ versionTimestamp: fc.integer({ min: 1, max: 2 * NOW }), dateMicros: date }),
);
const positions = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 2 ** 31 - 1 }), position), { maxLength: 50 })
  .map((entries) => new Map(entries));

describe('watch: cursor', () => {
  test('decodes to the positions from which it was encoded (R-J1)', () => {
    fc.assert(
      fc.property(positions, (given) => {
        const sorted = new Map([...given].sort(([a], [b]) => a - b));
        expect(decodeCursor(encodeCursor(given))).toEqual(sorted);
      }),
    );
  });

  test('is refused without its last byte, or with any byte changed (R-J1, R-J3)', () => {
    fc.assert(
      fc.property(positions, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, change) => {
        const cursor = encodeCursor(given);
        const changed = Buffer.from(cursor);
        changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ change;
        expect(decodeCursor(changed)).toBeUndefined();
        expect(decodeCursor(cursor.subarray(0, -1))).toBeUndefined();
      }),
    );
  });

  test('needs a few bytes for each variable: 500 recently written variables fit into 4 KiB', () => {
    const given = new Map(
      Array.from({ length: 500 }, (_, index): [number, ChangePosition] => {
        return [40_000 + index, { versionTimestamp: NOW - index * 1_000_000, dateMicros: Number.POSITIVE_INFINITY }];
      }),
    );
    expect(encodeCursor(given).length).toBeLessThan(4096);
  });
});
