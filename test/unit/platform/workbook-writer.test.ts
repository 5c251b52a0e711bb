/** Tests that the writer writes workbooks row by row, and that exceljs can read them back (R-G4). */
import Excel from 'exceljs';
import { describe, expect, test } from 'vitest';
import { type WorkbookRow, type WorkbookSheet, writeWorkbook } from '../../../src/platform/http/workbook-writer.ts';

const HEADER = ['name', 'value'];

async function* batchesOf(...batches: readonly (readonly WorkbookRow[])[]) {
  yield* batches;
}

async function written(sheet: Omit<WorkbookSheet, 'name' | 'header'>): Promise<Excel.Workbook> {
  const pieces: Uint8Array[] = [];
  for await (const piece of writeWorkbook({ name: 'points', header: HEADER, ...sheet })) pieces.push(piece);
  const workbook = new Excel.Workbook();
  await workbook.xlsx.load(Buffer.concat(pieces) as never);
  return workbook;
}

/** @returns the cells of every row of a sheet, without the empty first element that exceljs adds. */
function rowsOf(sheet: Excel.Worksheet | undefined): readonly (readonly unknown[])[] {
  const rows: unknown[][] = [];
  sheet?.eachRow((row) => rows.push((row.values as unknown[]).slice(1)));
  return rows;
}

/** @returns the number of bytes written before `rows` throws an error, and the message of this error. */
async function bytesBeforeError(rows: WorkbookSheet['rows']): Promise<{ bytes: number; message: string }> {
  let bytes = 0;
  try {
    for await (const piece of writeWorkbook({ name: 'points', header: HEADER, rows })) bytes += piece.length;
  } catch (error) {
    return { bytes, message: (error as Error).message };
  }
  throw new Error('the rows must fail');
}

describe('platform: workbook writer', () => {
  test('writes a header and typed cells; null and non-finite numbers leave cells empty', async () => {
    const rows = batchesOf(
      [['a', 1.5]],
      [
        [null, -2],
        ['b', null],
        ['c', Number.NaN],
        ['d', true],
      ],
    );
    const workbook = await written({ rows });
    expect(workbook.worksheets.map(({ name }) => name)).toEqual(['points']);
    const expected = [HEADER, ['a', 1.5], [undefined, -2], ['b'], ['c'], ['d', true]];
    expect(rowsOf(workbook.worksheets[0])).toEqual(expected);
  });

  test('writes the header alone when there are no rows', async () => {
    expect(rowsOf((await written({ rows: batchesOf() })).worksheets[0])).toEqual([HEADER]);
  });

  test('writes formulas, markup, escapes, control characters and noncharacters as text', async () => {
    const texts = ['=1+1', '<a&b>"\'', ' a\nb\t', '_x0041_', 'a\rb\u0000\u007f', '\ufffe\uffff', '5', 'é😀'];
    const workbook = await written({ rows: batchesOf(texts.map((text) => [text, 0])) });
    const unescaped = (text: unknown) =>
      String(text).replace(/_x([\dA-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const [, ...rows] = rowsOf(workbook.worksheets[0]);
    expect(rows.map(([text]) => unescaped(text))).toEqual(texts);
  });

  test('shortens a text to the 32,767 characters that a cell can hold', async () => {
    const texts = ['x'.repeat(32_767), 'x'.repeat(32_768)];
    const workbook = await written({ rows: batchesOf(texts.map((text) => [text, 0])) });
    const [, ...rows] = rowsOf(workbook.worksheets[0]);
    expect(rows.map(([text]) => text)).toEqual([texts[0], `${'x'.repeat(32_766)}…`]);
  });

  test('continues on further sheets under the same header when a sheet is full', async () => {
    const rows = Array.from({ length: 7 }, (_, index): WorkbookRow => ['a', index]);
    const workbook = await written({ rows: batchesOf(rows.slice(0, 5), rows.slice(5)), maxSheetRows: 4 });
    expect(workbook.worksheets.map((sheet) => [sheet.name, rowsOf(sheet)])).toEqual([
      ['points', [HEADER, ...rows.slice(0, 3)]],
      ['points 2', [HEADER, ...rows.slice(3, 6)]],
      ['points 3', [HEADER, ...rows.slice(6)]],
    ]);
  });

  test('fails before the first byte when the first rows fail, and after some bytes when later rows fail', async () => {
    const failAtOnce = batchesOf();
    failAtOnce.next = () => Promise.reject(new Error('no rows'));
    const failLater = async function* () {
      yield [['a', 1]] as const;
      throw new Error('broken off');
    };
    expect(await bytesBeforeError(failAtOnce)).toEqual({ bytes: 0, message: 'no rows' });
    const { bytes, message } = await bytesBeforeError(failLater());
    expect(message).toBe('broken off');
    expect(bytes).toBeGreaterThan(0);
  });

  test('stops reading rows while the client is slow, and ends the iteration of the rows when the client leaves', async () => {
    let read = 0;
    let isEnded = false;
    const endless = async function* () {
      try {
        for (;;) {
          read += 1000;
          yield Array.from({ length: 1000 }, (): WorkbookRow => [String(Math.random()), Math.random()]);
        }
      } finally {
        isEnded = true;
      }
    };
    const pieces = writeWorkbook({ name: 'points', header: HEADER, rows: endless() });
    await pieces.next();
    let before = 0;
    while (before !== read) {
      before = read;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(read).toBeLessThan(100_000);
    await pieces.return(undefined);
    expect(isEnded).toBe(true);
  });
});
