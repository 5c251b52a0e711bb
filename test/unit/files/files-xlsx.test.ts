import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDateFormat, serialToMicros } from '../../../src/files/xlsx/serial-date-rules.ts';
import { makeWorkbook, makeZip, type WorkbookParts, workbookEntries } from '../../fixtures/files/make-workbook.ts';
import { type ReadOptions, readRows } from '../../fixtures/files/read-rows.ts';
import { measureThread } from '../../support/measure-turns.ts';

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/files/${name}`, import.meta.url));
const read = (bytes: Uint8Array, options?: ReadOptions) => readRows('xlsx', bytes, options);
const readParts = (parts: WorkbookParts, options?: ReadOptions) => read(makeWorkbook(parts), options);

const DATE = '2026-03-01T00:15:00';
const cell = (ref: string, text: string) => `<c r="${ref}" t="inlineStr"><is><t>${text}</t></is></c>`;
const HEADER = `<row r="1">${cell('A1', 'variable_id')}${cell('B1', 'date')}${cell('C1', 'value')}</row>`;
const sheetOf = (rows: string) => `<worksheet><sheetData>${HEADER}${rows}</sheetData></worksheet>`;
const minute = (index: number) => new Date(Date.parse(`${DATE}Z`) + index * 60_000).toISOString().slice(0, 19);
const good = (row: number, value = 1) =>
  `<row r="${row}"><c r="A${row}"><v>7</v></c>${cell(`B${row}`, DATE)}<c r="C${row}"><v>${value}</v></c></row>`;

describe('files: the workbook reader', () => {
  it.each([
    'exceljs.xlsx',
    'exceljs-stream.xlsx',
    'exceljs-stream-shared.xlsx',
    'openpyxl.xlsx',
    'openpyxl-write-only.xlsx',
    'openpyxl-1904.xlsx',
    'openpyxl-iso-dates.xlsx',
    'xlsxwriter.xlsx',
    'xlsxwriter-constant-memory.xlsx',
    'xlsxwriter-1904.xlsx',
    'pandas-openpyxl.xlsx',
    'pandas-xlsxwriter.xlsx',
    'libreoffice.xlsx',
    'gnumeric.xlsx',
    'r-openxlsx.xlsx',
  ])('reads the rows of %s (R-E2)', async (name) => {
    const { points, errors, ignored } = await read(fixture(name), { timeZoneId: 'Europe/Brussels' });
    const target = { variableId: 7 };
    expect(ignored).toEqual(['note']);
    expect(points).toEqual([
      {
        ...{ target, date: '2026-02-28T23:15:00.000Z', value: 1.5 },
        labels: { version: 'V1', tags: '{"quality":"estimated","version":"V1"}' },
      },
      { target, date: '2026-02-28T23:30:00.000Z', value: -0.0025, labels: { version: undefined, tags: null } },
      { target, date: '2026-03-01T00:45:00.000Z', value: 3, labels: { version: 'V1', tags: '{"version":"V1"}' } },
    ]);
    expect(errors).toEqual([
      { row: 6, code: 'invalid_value', message: expect.stringContaining('got "TRUE"') },
      { row: 7, code: 'invalid_value', message: expect.stringContaining('got nothing') },
    ]);
  });

  it('reads a sheet as Excel writes it: shared strings, date styles, results of formulas, errors (R-E2)', async () => {
    const sheet = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"><dimension ref="A1:D4"/><sheetData>
      <row r="1" spans="1:4" x14ac:dyDescent="0.25"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>4</v></c></row>
      <row r="2" spans="1:4" x14ac:dyDescent="0.25"><c r="A2"><v>7</v></c><c r="B2" s="1"><v>46082.010416666664</v></c><c r="C2"><v>1.0000000000000001E-3</v></c><c r="D2" t="s"><v>3</v></c></row>
      <row r="3" spans="1:4" x14ac:dyDescent="0.25"><c r="A3"><v>7</v></c><c r="B3" s="1"><v>46082.020833333336</v></c><c r="C3" t="str"><f>TEXT(2,"0")</f><v>2</v></c></row>
      <row r="4" spans="1:4" x14ac:dyDescent="0.25"><c r="A4"><v>7</v></c><c r="B4" s="2"><v>46082</v></c><c r="C4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>
      <row r="5" spans="1:4" x14ac:dyDescent="0.25"><c r="A5"><v>7</v></c><c r="B5"><v>46082</v></c><c r="C5"><v>5</v></c></row>
      <row r="6" spans="1:4"><c r="A6"><v>7</v></c><c r="B6"><v>1.7724258E12</v></c><c r="C6"><v>6</v></c></row></sheetData></worksheet>`;
    const sharedStrings = `<sst count="5" uniqueCount="5"><si><t>variable_id</t></si><si><t xml:space="preserve"> date </t></si><si><r><t>val</t></r><r><rPr><b/></rPr><t>ue</t></r><rPh sb="0" eb="1"><t>ignored</t></rPh></si><si><t>a &amp; b_x000D_\u00e9 &#x20AC;</t></si><si><t>version</t></si></sst>`;
    const styles = `<styleSheet><numFmts count="1"><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\ yyyy;@"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/><xf numFmtId="164"/></cellXfs></styleSheet>`;
    const { points, errors } = await readParts({ sheet, sharedStrings, styles });
    expect(points.map(({ date, value, labels }) => [date, value, labels.version])).toEqual([
      ['2026-03-01T00:15:00.000Z', 0.001, 'a & b\ré €'],
      ['2026-03-01T00:30:00.000Z', 2, undefined],
      ['2026-03-02T04:30:00.000Z', 6, undefined],
    ]);
    expect(errors).toMatchObject([
      { row: 4, code: 'invalid_value', message: expect.stringContaining('#DIV/0!') },
      { row: 5, code: 'invalid_date', message: expect.stringContaining('the number 46082') },
    ]);
  });

  it('reads a sheet with prefixed elements, comments, CDATA, attributes in single quotes and cells without references (R-E2)', async () => {
    const sheet = `<x:worksheet xmlns:x="main"><!-- > <x:row> --><x:sheetData><x:row><x:c t='inlineStr'><x:is><x:t><![CDATA[variable_id]]></x:t></x:is></x:c><x:c t = "inlineStr" ><x:is><x:t>date</x:t></x:is></x:c><x:c a=">" t="inlineStr"><x:is><x:t>value</x:t></x:is></x:c></x:row>
      <x:row><x:c><x:v>7</x:v></x:c><x:c t="str"><x:v>${DATE}</x:v></x:c><x:c/><x:c><x:v>9</x:v></x:c></x:row><x:row><x:c><x:v>7</x:v></x:c><x:c t="d"><x:v>${DATE}</x:v></x:c><x:c><x:v>4</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
    const { points, errors } = await readParts({ sheet });
    expect(points.map(({ value }) => value)).toEqual([4]);
    expect(errors).toMatchObject([{ row: 2, code: 'invalid_value' }]);
  });

  it('reads a row that has no row number and whose cells are out of order (R-E2)', async () => {
    const sheet = sheetOf(
      `<row><c r="C2"><v>3</v></c><c r="B2" t="str"><v>${DATE}</v></c><c r="A2"><v>7</v></c><c r="XFD2"><v>1</v></c></row>`,
    );
    expect((await readParts({ sheet })).points).toMatchObject([{ target: { variableId: 7 }, value: 3 }]);
  });

  it('reads the same rows whether the workbook arrives whole or in small parts, and can resume after a chunk of rows (R-E2, R-E5)', async () => {
    const rows = Array.from({ length: 60_000 }, (_, index) => good(index + 2).replace(DATE, minute(index))).join('');
    const bytes = makeWorkbook({ sheet: sheetOf(rows) });
    const whole = await read(bytes);
    expect(whole.positions.length).toBeGreaterThan(1);
    expect(whole.positions.at(-1)).toMatchObject({ rows: 60_000, rowNumber: 60_001, bytes: bytes.length });
    const cut = await read(bytes, { partBytes: 777 });
    expect(cut.points).toEqual(whole.points);
    const rest = await read(bytes, { from: whole.positions[0] });
    expect(rest.points).toEqual(whole.points.slice(whole.positions[0]?.rows));
    expect(rest.points).not.toHaveLength(60_000);
    expect(rest.positions.at(-1)).toEqual(whole.positions.at(-1));
  });

  it('reads two million ">" characters in attributes within 5 s of processor time', async () => {
    const attributes = `a="${'>'.repeat(50_000)}"`;
    const sheet = sheetOf(`${`<row ${attributes}></row>`.repeat(40)}${good(2)}`);
    const { result, threadMs } = await measureThread(() => readParts({ sheet }, { limits: { maxRatio: 1e6 } }));
    expect(result.points).toHaveLength(1);
    expect(threadMs).toBeLessThan(5000);
  });
});

describe('files: the reading of an invalid workbook (R-E4)', () => {
  const entries = workbookEntries({ sheet: sheetOf(good(2)) });
  const big = sheetOf(good(2)).padEnd(4 << 20, ' ');
  it.each([
    ['encrypted', 'a workbook with a password', fixture('encrypted.xlsx'), /password/],
    ['encrypted', 'an .xls workbook', fixture('libreoffice.xls'), /\.xls/],
    ['wrong_format', 'an .ods workbook', fixture('libreoffice.ods'), /a zip archive of another kind/],
    ['wrong_format', 'CSV', Buffer.from('variable_id,date,value\n'), /zip archive/],
    ['damaged_file', 'only the start of a zip archive', Buffer.from('PK\x03\x04 and nothing more'), /cannot be read/],
    ['damaged_file', 'a workbook that is cut off', fixture('openpyxl.xlsx').subarray(0, 3000), /cannot be read/],
    [
      'wrong_format',
      'a zip archive that is not a workbook',
      makeZip([{ name: 'a.txt', content: 'a' }]),
      /a zip archive of another kind/,
    ],
    [
      'encrypted',
      'encrypted entries',
      makeZip(entries.map((entry) => ({ ...entry, claims: { flags: 1 } }))),
      /password/,
    ],
    [
      'zip_bomb',
      'an entry with a high ratio',
      makeZip([...entries, { name: 'xl/bomb.xml', content: '0'.repeat(10 << 20) }]),
      /times its compressed size/,
    ],
    [
      'zip_bomb',
      'an entry that is 100.1 times as large as its compressed bytes',
      makeZip([{ name: 'a', content: 'a', claims: { compressedBytes: 10, inflatedBytes: 1001 } }]),
      /at most 100 times its compressed size, got 101 times/,
    ],
    [
      'zip_bomb',
      'entries that overlap',
      makeZip([...entries, { name: 'a', content: 'a', claims: { compressedBytes: 1 << 30 } }]),
      /overlap/,
    ],
    [
      'zip_bomb',
      'an entry that claims to inflate to 2 GiB',
      makeZip([...entries, { name: 'a', content: 'a', claims: { inflatedBytes: 2 ** 31 } }]),
      /must inflate to/,
    ],
    [
      'damaged_file',
      'two entries of one name',
      makeZip([...entries, { name: 'xl/workbook.xml', content: 'a' }]),
      /the same name/,
    ],
  ])('fails with code %s for %s', async (code, _, bytes, message) => {
    await expect(read(bytes)).rejects.toMatchObject({
      name: 'FileRefusal',
      code,
      message: expect.stringMatching(message),
    });
  });

  it('fails when a part of the archive inflates to more bytes than the archive states', async () => {
    const lying = workbookEntries({ sheet: big }).map((entry) =>
      entry.name.includes('sheet1') ? { ...entry, claims: { inflatedBytes: 1000 } } : entry,
    );
    await expect(read(makeZip(lying))).rejects.toMatchObject({ code: 'damaged_file', message: /larger than/ });
  });

  it.each([
    [
      'a document type declaration',
      `<!DOCTYPE x [<!ENTITY a "aaaa">]>${sheetOf('')}`,
      /the first sheet must not have a document type declaration/,
    ],
    ['an encoding other than UTF-8', `<?xml version="1.0" encoding="ISO-8859-1"?>${sheetOf('')}`, /iso-8859-1/],
    [
      'a tag of 100,000 characters that does not end',
      `<worksheet><sheetData><row ${'a'.repeat(100_000)}`,
      /tag, comment or CDATA section of the first sheet is longer than/,
    ],
    ['its end inside a tag', '<worksheet><sheetData><row', /the first sheet ends inside a tag/],
    ['no rows', '<worksheet><sheetData/></worksheet>', /empty/],
    ['text that is not UTF-8', '', /the text of row 1 is not UTF-8/],
  ])('fails for XML with %s', async (_, sheet, message) => {
    const bytes = sheet === '' ? Buffer.from(sheetOf(good(2)).replace('date', 'd\xe9'), 'latin1') : Buffer.from(sheet);
    const archive = makeZip(
      workbookEntries({ sheet: '' }).map((entry) =>
        entry.name.includes('sheet1') ? { ...entry, content: bytes } : entry,
      ),
    );
    const refusal = { name: 'FileRefusal', message: expect.stringMatching(message) };
    await expect(read(archive, { limits: { maxRatio: 1e6 } })).rejects.toMatchObject(refusal);
  });

  it.each([
    [
      'too many cells with the same reference (tag-by-tag reader)',
      '<c r="A2"><v>1</v></c>'.repeat(20_000),
      /row 2 has more than 16384 cells/,
    ],
    ['too many empty cells (fast reader)', '<c/>'.repeat(20_000), /row 2 has more than 16384 cells/],
    [
      'too much text',
      `<c r="A2" t="str"><v>${'1'.repeat(70_000)}</v></c>`.repeat(100),
      /row 2 has more than 4194304 bytes/,
    ],
  ])('fails for a row with %s', async (_, cells, message) => {
    const sheet = sheetOf(`<row r="2">${cells}</row>`);
    const refusal = { code: 'damaged_file', message: expect.stringMatching(message) };
    await expect(readParts({ sheet }, { limits: { maxRatio: 1e6 } })).rejects.toMatchObject(refusal);
  });

  it.each<[string, Partial<WorkbookParts>, string, RegExp]>([
    [
      'shared strings that end inside a tag',
      { sharedStrings: '<sst><si><t>a</t' },
      'damaged_file',
      /: xl\/sharedStrings\.xml ends inside a tag/,
    ],
    [
      'more styles than the limit',
      { styles: `<styleSheet><cellXfs>${'<xf/>'.repeat(100_001)}</cellXfs></styleSheet>` },
      'wrong_format',
      /at most 100000 styles; send the data as CSV/,
    ],
    [
      'styles that are larger than the limit',
      { styles: '<styleSheet>'.padEnd((32 << 20) + 1, ' ') },
      'wrong_format',
      /xl\/styles\.xml of the workbook must be at most 32 MiB; send the data as CSV/,
    ],
  ])('fails for %s; the error names the damaged part or the exceeded limit', async (_, parts, code, message) => {
    const refusal = { code, message: expect.stringMatching(message) };
    const bytes = { sheet: sheetOf(good(2)), ...parts };
    await expect(readParts(bytes, { limits: { maxRatio: 1e6 } })).rejects.toMatchObject(refusal);
  });

  it('rejects only the row that contains a 2 MiB value, but fails when the header has 10,000 cells of 2 MiB each', async () => {
    const sharedStrings = `<sst><si><t>date</t></si><si><t>${'é'.repeat(1 << 20)}</t></si></sst>`;
    const reference = (column: number) => `<c t="s"><v>${column}</v></c>`;
    const limits = { maxRatio: 1e6 };
    const hostile = `<worksheet><sheetData><row>${reference(1).repeat(10_000)}</row></sheetData></worksheet>`;
    const refusal = { code: 'damaged_file', message: expect.stringContaining('the header in row 1 has more than') };
    await expect(readParts({ sheet: hostile, sharedStrings }, { limits })).rejects.toMatchObject(refusal);
    const long = sheetOf(`<row r="2"><c><v>7</v></c>${cell('B2', DATE)}${reference(1)}</row>`);
    const { errors } = await readParts({ sheet: long, sharedStrings }, { limits });
    expect(errors).toMatchObject([{ row: 2, code: 'invalid_value' }]);
  });

  it('fails with code too_many_rows when the sheet has more rows than the limit', async () => {
    const sheet = sheetOf(good(2) + good(3));
    await expect(readParts({ sheet }, { limits: { maxRows: 1 } })).rejects.toMatchObject({ code: 'too_many_rows' });
  });

  it('fails when the header has neither a `value` column nor an identifier column; the error names both missing columns (R-E2)', async () => {
    const sheet = `<worksheet><sheetData><row r="3">${cell('A3', 'date')}</row></sheetData></worksheet>`;
    await expect(readParts({ sheet })).rejects.toMatchObject({
      code: 'missing_column',
      message: expect.stringMatching(/^the header in row 3 must have value and an identifier/),
    });
  });
});

describe('files: serial numbers of date cells', () => {
  it.each([
    [1, 1900, '1900-01-01T00:00:00.000Z'],
    [59, 1900, '1900-02-28T00:00:00.000Z'],
    [60, 1900, 'no date'],
    [61, 1900, '1900-03-01T00:00:00.000Z'],
    [46082.010416666664, 1900, '2026-03-01T00:15:00.000Z'],
    [44620.010416666664, 1904, '2026-03-01T00:15:00.000Z'],
    [0, 1904, '1904-01-01T00:00:00.000Z'],
    [-1, 1900, 'no date'],
    [Number.NaN, 1900, 'no date'],
    [200_000, 1900, 'no date'],
  ] as const)('serial %s in the %s date system is %s (R-E2)', (serial, system, date) => {
    const micros = serialToMicros(serial, system);
    expect(micros === undefined ? 'no date' : new Date(micros / 1000).toISOString()).toBe(date);
  });

  it('the serial number of any whole second from March 1900 to 2199 is read exactly (R-E2)', () => {
    const [first, last] = [Date.UTC(1900, 2, 1) / 1000, Date.UTC(2199, 11, 31) / 1000];
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (seconds) => {
        const serial = (seconds * 1000 - Date.UTC(1899, 11, 30)) / 86_400_000;
        expect(serialToMicros(serial, 1900)).toBe(seconds * 1e6);
      }),
    );
  });

  it.each([
    [14, true],
    [22, true],
    [0, false],
    [2, false],
  ])('for the built-in number format %s, `isDateFormat` returns %s (R-E2)', (id, isDate) => {
    expect(isDateFormat(id, undefined)).toBe(isDate);
  });

  it.each([
    [164, 'yyyy-mm-dd hh:mm', true],
    [164, '[h]:mm', true],
    [164, '[$-409]m/d/yy h:mm AM/PM;@', true],
    [164, '#,##0.00 "days"', false],
    [164, '0.00E+00', false],
    [164, '[Red]#,##0', false],
    [164, 'General', false],
    [164, '0\\ \\d', false],
  ])('for the number format %s with the code %s, `isDateFormat` returns %s (R-E2)', (id, code, isDate) => {
    expect(isDateFormat(id, code)).toBe(isDate);
  });
});
