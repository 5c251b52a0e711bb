import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainSerial } from '../../../src/files/cells/plain-cell-scanner.ts';
import { cellText } from '../../../src/files/cells/row-cells.ts';
import { serialToMicros } from '../../../src/files/xlsx/serial-date-rules.ts';
import type { SheetCells } from '../../../src/files/xlsx/sheet-cells.ts';
import { SheetScanner } from '../../../src/files/xlsx/sheet-scanner.ts';

const DATE_STYLES = [false, true];

describe('files: the fast readers of a sheet (R-E2)', () => {
  const letters = fc.constantFrom('A', 'B', 'C', 'D', 'AA', 'zz', '');
  const text = fc.string({ unit: fc.constantFrom('a', '1', '.', ' ', '&amp;', 'é', ']]>'), maxLength: 6 });
  const style = fc.constantFrom('', ' s="1"', ' s="0"');
  const type = fc.constantFrom('', ' t="s"', ' t="n"', ' t="str"', ' t="b"', ' t="e"', ' t="x"');
  const content = fc.oneof(
    text.map((value) => `<v>${value}</v>`),
    text.map((value) => `<f>A1*2</f><v>${value}</v>`),
    text.map((value) => `<f t="shared" si="0"/><v>${value}</v>`),
    text.map((value) => `<is><t>${value}</t></is>`),
    text.map((value) => `<is><t xml:space="preserve">${value}</t></is>`),
    text.map((value) => `<is><r><t>${value}</t></r><rPh><t>no</t></rPh></is>`),
    fc.constantFrom('', '<v/>', '<!-- <v>1</v> --><v>2</v>', '<v><![CDATA[</row>]]></v>'),
  );
  const cell = fc.tuple(letters, style, type, content).map(([column, one, two, inner]) => {
    const start = `<c${column === '' ? '' : ` r="${column}7"`}${one}${two}`;
    return inner === '' ? `${start}/>` : `${start}>${inner}</c>`;
  });
  const number = fc.constantFrom('', ' r="3"', ' r="9" spans="1:3"', ' spans="1:3" x14ac:dyDescent="0.25"', ' r="x"');
  const row = fc
    .tuple(number, fc.array(cell, { maxLength: 5 }))
    .map(([attributes, cells]) =>
      cells.length === 0 ? `<row${attributes}/>` : `<row${attributes}>${cells.join('')}</row>`,
    );
  const sheets = fc.array(row, { maxLength: 12 });

  it('return the same rows as the tag-by-tag reader, even when the sheet arrives in small pieces', () => {
    fc.assert(
      fc.property(sheets, fc.integer({ min: 1, max: 300 }), (rows, pieceBytes) => {
        const plainly = `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`;
        // `PlainRows` does not read a row whose end tag contains a space; the tag-by-tag reader reads such a row.
        const spaced = rows.map((text) => text.replace(/<\/row>$/, ' </row >'));
        const byTags = `<worksheet><sheetData>${spaced.join('')}</sheetData></worksheet>`;
        expect(scan(plainly, pieceBytes)).toEqual(scan(byTags, 1 << 20));
      }),
      { numRuns: 1000 },
    );
  });

  it('read the serial number of a date accurately to the millisecond, and return NaN for a number with an exponent', () => {
    const instants = fc.integer({ min: 0, max: 86_400_000 * 73_000 });
    fc.assert(
      fc.property(instants, fc.constantFrom(17, 15, 10, 'exponent' as const), (millis, digits) => {
        const serial = millis / 86_400_000;
        const text =
          digits === 'exponent' ? serial.toExponential(17) : digits === 17 ? String(serial) : serial.toFixed(digits);
        const bytes = Buffer.from(`<v>${text}</v>`);
        const read = plainSerial(bytes, 3, 3 + text.length);
        if (text.includes('e')) {
          expect(read).toBeNaN();
          return;
        }
        for (const system of [1900, 1904] as const) {
          expect(serialToMicros(read, system)).toBe(serialToMicros(Number(text), system));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('return NaN for a negative serial number with a fraction, so that the slower number parser reads this number', () => {
    expect(plainSerial(Buffer.from('-0.5'), 0, 4)).toBeNaN();
    expect(plainSerial(Buffer.from('0.5'), 0, 3)).toBe(0.5);
  });
});

function scan(text: string, pieceBytes: number): readonly (readonly [number, readonly string[]])[] {
  const found: [number, readonly string[]][] = [];
  const visitor = {
    row: (row: number, cells: SheetCells) => {
      found.push([row, cells.kinds.map((kind, column) => `${kind}:${cellText(cells, column)}`)]);
    },
  };
  const scanner = new SheetScanner(visitor, DATE_STYLES);
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length; offset += pieceBytes)
    scanner.feed(bytes.subarray(offset, offset + pieceBytes));
  scanner.end();
  return found.map(([row, cells]) => [row, cells.slice(0, cells.findLastIndex((cell) => cell !== '0:') + 1)]);
}
