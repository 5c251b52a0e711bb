import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDate } from '../../../src/points/date-rules.ts';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/points/instant-rules.ts';

const at = (iso: string, micros = 0) => Date.parse(iso) * 1000 + micros;

describe('dates of readings (R-D4)', () => {
  test.each([
    ['2026-03-01T00:15:00Z', at('2026-03-01T00:15:00Z'), false],
    ['2026-03-01T00:15:00.250Z', at('2026-03-01T00:15:00.250Z'), false],
    ['2026-03-01T00:15:00.000001Z', at('2026-03-01T00:15:00Z', 1), false],
    ['2026-03-01T00:15:00.1234560Z', at('2026-03-01T00:15:00.123Z', 456), false],
    ['2026-03-01T02:15:00+02:00', at('2026-03-01T00:15:00Z'), false],
    ['2026-03-01T02:15:00+0200', at('2026-03-01T00:15:00Z'), false],
    ['2026-02-28T18:45:00-05:30', at('2026-03-01T00:15:00Z'), false],
    ['2026-03-01t00:15:00z', at('2026-03-01T00:15:00Z'), false],
    ['2026-03-01 00:15', at('2026-03-01T00:15:00Z'), true],
    ['2026-03-01T00:15:00', at('2026-03-01T00:15:00Z'), true],
    ['2026-03-01T00:15:00.5', at('2026-03-01T00:15:00.500Z'), true],
    ['2024-02-29T00:00:00Z', at('2024-02-29T00:00:00Z'), false],
    ['1700-01-01T00:00:00Z', MIN_DATE_MICROS, false],
  ])('%s', (text, micros, isLocal) => {
    expect(parseDate(text)).toEqual({ micros, isLocal });
  });

  test.each([
    ...[
      '',
      'yesterday',
      '2026-03-01',
      '01/03/2026 00:15',
      '20260301T001500Z',
      '2026-3-1T00:15:00Z',
      '2026-03-01T00:15:00ZZ',
    ],
    ...[
      '2026-02-29T00:00:00Z',
      '2026-02-30T00:00:00',
      '2100-02-29T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-10T00:00:00Z',
    ],
    ...[
      '2026-03-00T00:00:00Z',
      '2026-03-01T24:00:00Z',
      '2026-03-01T00:60:00Z',
      '2026-03-01T00:00:60Z',
      '2026-03-01T0a:00:00Z',
    ],
    ...[
      '2026-03-01T00:15:00.0000001Z',
      '2026-03-01T00:15:00.00aZ',
      '2026-03-01T00:15:00+19:00',
      '2026-03-01T00:15:00+02:60',
    ],
    ...[
      '0001-01-01T00:00:00Z',
      '0099-12-31T23:59:59+00:00',
      '1699-12-31T23:59:59Z',
      '2200-01-01T00:00:00Z',
      '+002026-03-01T00:15:00Z',
      '２026-03-01T00:15:00Z',
    ],
  ])('%s is no date', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });

  test('every instant is read as it is written, to the microsecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS - 1 }), (micros) => {
        expect(parseDate(formatInstant(micros))).toEqual({ micros, isLocal: false });
      }),
    );
  });

  test('both ways of reading agree: a date means the same with its seconds spelled plainly or with an offset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: MIN_DATE_MICROS / 1e6 + 86_400, max: MAX_DATE_MICROS / 1e6 - 86_400 }),
        (second) => {
          const plain = formatInstant(second * 1e6);
          expect(parseDate(plain)).toEqual(parseDate(plain.replace('Z', '+00:00')));
          expect(parseDate(plain.replace('Z', '.007Z'))).toEqual(parseDate(plain.replace('Z', '.0070Z')));
        },
      ),
    );
  });
});
