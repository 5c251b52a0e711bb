import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CellKeys } from '../../../src/files/cells/cell-keys.ts';
import { parseFileDate, parseFileNumber } from '../../../src/files/cells/cell-parser.ts';
import { isPlainLocal, PlainDates, plainNumber } from '../../../src/files/cells/plain-cell-scanner.ts';

const RUNS = { numRuns: 2000 };

describe('files: cells read from bytes (R-E2, R-E3)', () => {
  const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength });
  const plain = fc.tuple(fc.constantFrom('', '-'), digits(17), fc.constantFrom('', '.'), digits(17));
  const numbers = fc.oneof(
    plain.map((parts) => parts.join('')),
    fc.double().map(String),
    fc.string({ unit: fc.constantFrom(...'0123456789.-+eE ,\0'), maxLength: 8 }),
  );

  it('give the same numbers as cells read as text, to the last bit', () => {
    let read = 0;
    fc.assert(
      fc.property(numbers, (text) => {
        const bytes = Buffer.from(`x${text}y`, 'latin1');
        const value = plainNumber(bytes, 1, bytes.length - 1);
        if (!Number.isNaN(value)) expect(value).toBe(parseFileNumber(text));
        read += Number.isNaN(value) ? 0 : 1;
      }),
      RUNS,
    );
    expect(read).toBeGreaterThan(RUNS.numRuns / 10);
  });

  it('give NaN for an empty cell, whatever bytes are before or after the cell', () => {
    for (const bytes of ['-', '-1', '', '7'].map((text) => Buffer.from(text))) {
      expect(plainNumber(bytes, 0, 0)).toBeNaN();
      expect(plainNumber(bytes, bytes.length, bytes.length)).toBeNaN();
    }
  });

  const two = fc.integer({ min: 0, max: 61 }).map((part) => String(part).padStart(2, '0'));
  const written = fc
    .tuple(
      fc.integer({ min: 1690, max: 2205 }),
      fc.constantFrom('-', '/'),
      two,
      two,
      two,
      two,
      two,
      fc.constantFrom('T', ' '),
    )
    .map(
      ([year, mark, ...parts]) => `${year}${mark}${parts[0]}-${parts[1]}${parts[5]}${parts[2]}:${parts[3]}:${parts[4]}`,
    );
  const real = fc
    .date({ min: new Date('1700-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 19));
  const neighbours = fc
    .integer({ min: 0, max: 4 * 86_400 })
    .map((seconds) => new Date(Date.UTC(2024, 1, 27) + seconds * 1000).toISOString().slice(0, 19));
  const dates = fc
    .tuple(fc.oneof(written, real, neighbours), fc.constantFrom('', 'Z', ' ', '.5', '+01:00'))
    .map((p) => p.join(''));

  it('give the same dates as cells read as text', () => {
    const reader = new PlainDates();
    let read = 0;
    fc.assert(
      fc.property(dates, (text) => {
        const bytes = Buffer.from(`x${text}y`);
        const micros = reader.read(bytes, 1, bytes.length - 1);
        if (Number.isNaN(micros)) return;
        read += 1;
        expect({ micros, isLocal: isPlainLocal(1, bytes.length - 1) }).toEqual(parseFileDate(text));
      }),
      RUNS,
    );
    expect(read).toBeGreaterThan(RUNS.numRuns / 10);
  });

  it('give NaN for an invalid date: 29 February of a common year, hour 24, minute 60, letters', () => {
    const read = (text: string) => new PlainDates().read(Buffer.from(text), 0, text.length);
    for (const text of ['2023-02-29T00:00:00', '2024-02-28T24:00:00', '2024-02-28T00:60:00', '2024-02-2xT00:00:00']) {
      expect(read(text)).toBeNaN();
    }
    expect(read('2024-02-29T00:00:00Z')).toBe(Date.UTC(2024, 1, 29) * 1000);
  });
});

describe('files: the cache that gives each distinct combination of cells a number (§2)', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'b', '1', 'é'), maxLength: 3 });

  it('gives equal combinations the same number and different combinations different numbers, even after the cache is cleared', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 60 }), fc.nat(60), (rows, forgetAt) => {
        const known = new Map<string, number>();
        const keys = new CellKeys([0, 1], ({ bytes, starts, ends }) => {
          const key = [0, 1].map((column) => bytes.toString('utf8', starts[column], ends[column])).join('|');
          return known.get(key) ?? known.set(key, known.size).size - 1;
        });
        for (const [index, row] of rows.entries()) {
          if (index === forgetAt) keys.clear();
          const id = keys.idOf(cellsOf(row));
          expect(id).toBe(known.get(row.join('|')));
        }
      }),
    );
  });

  it('clears itself when full, and does not hold long combinations', () => {
    let asked = 0;
    const keys = new CellKeys([0], () => asked++);
    for (let index = 0; index < 250_000; index += 1) keys.idOf(cellsOf([`v${index}`]));
    expect(asked).toBe(250_000);
    keys.idOf(cellsOf(['v0']));
    expect(asked, 'the first key was forgotten').toBe(250_001);
    const long = cellsOf(['x'.repeat(2000)]);
    expect(keys.idOf(long)).not.toBe(keys.idOf(long));
    const short = cellsOf(['x'.repeat(1000)]);
    expect(keys.idOf(short)).toBe(keys.idOf(short));
  });
});

function cellsOf(texts: readonly string[]) {
  const bytes = Buffer.from(texts.join(''));
  let offset = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  for (const text of texts) {
    starts.push(offset);
    offset += Buffer.byteLength(text);
    ends.push(offset);
  }
  return { bytes, starts, ends };
}
