/** The parsers of dates: `parseDate` of points, `parseMoment` of requests, `parseInstant` of accounts (R-D4, R-A8). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDate, parseInstant, parseMoment } from '../../../src/platform/dates/date-rules.ts';
import { formatInstant, MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../../src/platform/dates/instant-rules.ts';

const at = (iso: string, micros = 0) => Date.parse(iso) * 1000 + micros;

describe('parseDate: dates of points (R-D4, R-A11)', () => {
  test.each([
    ['2026-03-29 00:00:00', at('2026-03-29T00:00:00Z'), true],
    ['2026-03-29 00:00:00+02:00', at('2026-03-28T22:00:00Z'), false],
    ['2026-03-29 00:00:00.123456', at('2026-03-29T00:00:00.123Z', 456), true],
    ['1774742400000', at('2026-03-29T00:00:00Z'), false],
    ['631152000001', at('1990-01-01T00:00:00.001Z'), false],
    ['-631152000000', at('1949-12-31T16:00:00Z') + 8 * 3_600_000_000, false],
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
    ['2026-03-31T00:15:00+18:00', at('2026-03-30T06:15:00Z'), false],
    ['2026-03-01T00:15:00-02:59', at('2026-03-01T03:14:00Z'), false],
    ['2026-03-01T02:15:00+02', at('2026-03-01T00:15:00Z'), false],
    ['2000-02-29T00:00:00Z', at('2000-02-29T00:00:00Z'), false],
    ['1700-01-01T00:00:00+00:00', MIN_DATE_MICROS, false],
    ['2024-02-29T00:00:00Z', at('2024-02-29T00:00:00Z'), false],
    ['1700-01-01T00:00:00Z', MIN_DATE_MICROS, false],
  ])('%s is accepted', (text, micros, isLocal) => {
    expect(parseDate(text)).toEqual({ micros, isLocal });
  });

  test('a date without a time of day is read as midnight, and `isDay` is true', () => {
    expect(parseDate('2026-03-29')).toEqual({ micros: at('2026-03-29T00:00:00Z'), isLocal: true, isDay: true });
  });

  test.each([
    ...[
      '',
      'yesterday',
      '1774742400',
      '20260329',
      '202603010015',
      '20260301001500',
      '1774742400000.5',
      '9999999999999',
      '2026-3-29',
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
      '2026-03-01T00:15:00+18:01',
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
  ])('%j is refused', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });

  // In ASCII, '/' and ':' are the neighbours of the digits; 'x' is far from all characters of a date.
  test.each(['2026-03-01T00:15:00', '2026-03-01T00:15:00Z', '2026-03-01T00:15:00.250', '2026-03-01T00:15:00.250Z'])(
    '%s is refused when any one of its characters is replaced with "/", ":" or "x"',
    (text) => {
      for (const mark of ['/', ':', 'x']) {
        for (let index = 0; index < text.length; index += 1) {
          const replaced = text.slice(0, index) + mark + text.slice(index + 1);
          if (replaced !== text) expect(parseDate(replaced), replaced).toBeUndefined();
        }
      }
    },
  );

  test.each(['2/2/-1/-1/T1/:1/:1/Z', '1:2:-0:-1:T1::1::1:Z'])(
    '%s is refused, because it has "/" or ":" in place of digits',
    (text) => {
      expect(parseDate(text)).toBeUndefined();
    },
  );

  test('reads every instant that formatInstant writes, to the microsecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_DATE_MICROS, max: MAX_DATE_MICROS - 1 }), (micros) => {
        expect(parseDate(formatInstant(micros))).toEqual({ micros, isLocal: false });
      }),
    );
  });

  test('the character parser and the regular expression give the same instant', () => {
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

describe('parseMoment: dates in requests (R-A8, R-G1)', () => {
  test.each([
    ['2026-03-01', at('2026-03-01T00:00:00Z'), true, true],
    ['2026-03-01T00:15', at('2026-03-01T00:15:00Z'), true, false],
    ['2026-03-01T00:15:00+01:00', at('2026-02-28T23:15:00Z'), false, false],
    ['2026-03-01T00:15:00.1234569999999Z', at('2026-03-01T00:15:00.123Z', 456), false, false],
    ['1699-12-31T23:30:00-01:00', at('1700-01-01T00:30:00Z'), false, false],
    ['2199-12-31T23:59:59.999999Z', MAX_DATE_MICROS - 1, false, false],
    ['1700-01-01T00:00:00.000001', MIN_DATE_MICROS + 1, true, false],
  ])('%s is read as %i microseconds, isLocal %s and isDay %s', (text, micros, isLocal, isDay) => {
    expect(parseMoment(text)).toEqual({ micros, isLocal, isDay });
  });

  test.each([
    ['0001-01-01', 1700, true],
    ['0000-02-29T00:00:00Z', 1700, false],
    ['1699-12-31T23:59:59.999999', 1700, false],
    ['2200-01-01', 2200, true],
    ['9999-12-31T23:59:59Z', 2200, false],
  ])('%s is outside the years 1700 to 2199 and becomes the nearest limit, the start of %i', (text, year, isDay) => {
    expect(parseMoment(text)).toEqual({ micros: at(`${year}-01-01T00:00:00Z`), isLocal: false, isDay });
  });

  test.each(['', '2026', '2026-02-29', '1900-02-29', '9999-13-01', '2026-03-01Z', '2026-03-01T25:00'])(
    '%j is refused',
    (text) => {
      expect(parseMoment(text)).toBeUndefined();
    },
  );
});

describe('parseInstant: instants, such as the time until which a user is locked (R-B11, R-A11)', () => {
  test.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000000Z'],
    ['2026-03-01T12:00+01:00', '2026-03-01T11:00:00.000000Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000000Z'],
    ['2026-03-01 12:00:00', '2026-03-01T12:00:00.000000Z'],
    ['1772366400123', '2026-03-01T12:00:00.123000Z'],
    ['2026-03-01T12:00:00.1234567-0530', '2026-03-01T17:30:00.123456Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['0099-12-31T23:59:59.000001Z', '0099-12-31T23:59:59.000001Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('%s is read as %s', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
  });

  test.each([
    ...['', '20260301', '202603011200', '2026-02-30T12:00:00', '2026-02-30T12:00:00Z', '2026-03-01T24:00:00Z'],
    ...[
      '0000-12-31T23:59:59Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
      '9999-12-31T23:59:00-00:01',
      '2026-03-01T12:00:00+19:00',
    ],
  ])('%j is refused', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});
