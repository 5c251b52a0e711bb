import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellText, type RowCells } from '../../../src/files/cells/row-cells.ts';
import { RecordScanner } from '../../../src/files/csv/record-scanner.ts';
import { type ReadOptions, readRows } from '../../fixtures/files/read-rows.ts';

const HEADER = 'variable_id,date,value';
const DATE = '2026-03-01T00:15:00';
const read = (text: string | Uint8Array, options?: ReadOptions) => readRows('csv', text, options);
const values = async (text: string | Uint8Array, options?: ReadOptions) =>
  (await read(text, options)).points.map(({ value }) => value);

describe('files: the CSV reader', () => {
  it.each([
    ['commas', `${HEADER}\n7,${DATE},1.5\n`],
    ['semicolons', `variable_id;date;value\n7;${DATE};1.5\n`],
    ['tabs', `variable_id\tdate\tvalue\n7\t${DATE}\t1.5\n`],
    ['Windows line ends', `${HEADER}\r\n7,${DATE},1.5\r\n`],
    ['old Macintosh line ends', `${HEADER}\r7,${DATE},1.5\r`],
    ['no line end after the last row', `${HEADER}\n7,${DATE},1.5`],
    ['a byte order mark', `\ufeff${HEADER}\n7,${DATE},1.5\n`],
    ['quotes', `"variable_id","date","value"\n"7","${DATE}","1.5"\n`],
    ['quotes and Windows line ends', `"variable_id","date","value"\r\n"7","${DATE}","1.5"\r\n`],
    ['quotes, Windows line ends and separators at the ends of rows', `${HEADER}\r\n"7",${DATE},1.5,\r\n`],
    ['blank lines', `\n${HEADER}\n\n7,${DATE},1.5\n\n\n`],
    [
      'column names in any letter case and order, and unknown columns',
      `note,VALUE,Date,Variable_Id\nx,1.5,${DATE},7\n`,
    ],
    ['spaces around cells', `variable_id , date , value\n 7 , ${DATE} , 1.5 \n`],
    ['separators at the ends of lines', `${HEADER},\n7,${DATE},1.5,\n`],
  ])('reads a file with %s (R-E2)', async (_, text) => {
    const { points, errors } = await read(text);
    expect(errors).toEqual([]);
    expect(points).toEqual([
      {
        target: { variableId: 7 },
        date: '2026-03-01T00:15:00.000Z',
        value: 1.5,
        labels: { version: undefined, tags: null },
      },
    ]);
  });

  it('reads every identifier column of §2 and lists unknown columns (R-E2)', async () => {
    const header =
      'date,value,variable_id,source_id,source_serialnumber,source_ean,source_name,source_meternumber,mapping_config,variable_type_id,extra';
    const { points, ignored } = await read(`${header}\n${DATE},1,1,2,S3,E4,"Näme, 5",M6,C7,8,x\n`);
    expect(ignored).toEqual(['extra']);
    expect(points[0]?.target).toEqual({
      ...{ variableId: 1, sourceId: 2, sourceSerialNumber: 'S3', sourceEan: 'E4', sourceName: 'Näme, 5' },
      ...{ meterNumber: 'M6', mappingConfig: 'C7', variableTypeId: 8 },
    });
    const again = await read(`date,value,source_serial_number,mapping_config\n${DATE},1,S3,\n`);
    expect(again.points[0]?.target).toEqual({ sourceSerialNumber: 'S3' });
  });

  it('reads labels separated by | as tags; a quoted version may contain the delimiter of the file (§2)', async () => {
    const text = `${HEADER},version,tags\n1,${DATE},1,"V,1",quality:estimated|period:a:b\n1,${DATE},2,,\n`;
    expect((await read(text)).points.map(({ labels }) => labels)).toEqual([
      { version: 'V,1', tags: '{"period":"a:b","quality":"estimated","version":"V,1"}' },
      { version: undefined, tags: null },
    ]);
  });

  it('reads quoted cells that contain line breaks, delimiters and quotes (R-E2)', async () => {
    const text = `source_name,${HEADER}\n"a\n""b"",\r\nc",7,${DATE},1\n"d",8,${DATE},2\n`;
    const { points } = await read(text);
    expect(points.map(({ target, value }) => [target?.sourceName, value])).toEqual([
      ['a\n"b",\r\nc', 1],
      ['d', 2],
    ]);
  });

  it.each([
    ['\r', 2],
    ['\n', 2],
    ['\r\n', 2],
    ['\r\r\n', 2],
  ])('with line ends %j, a line end within a quoted cell does not end the row (R-E2)', async (end, count) => {
    const lines = [`note,${HEADER}`, `"a\nb",7,${DATE},1`, `"c\rd\r\ne",8,${DATE},2`, ''];
    expect(await values(lines.join(end))).toHaveLength(count);
  });

  it.each([
    ['the first row', `${DATE},7`],
    ['the first row, quoted', `"${DATE}",7`],
    ['a later row', `${DATE},7,1\n${DATE},7`],
    ['a row that starts with a dash', `-,${DATE},7`, 'note,date,variable_id,value'],
  ])(
    'rejects a row that ends before its value: %s (R-E3)',
    async (_, rows, header = 'date,variable_id,value,version') => {
      const { points, errors } = await read(`${header}\n${rows}\n`);
      expect(points.map(({ value }) => value)).toEqual(rows.includes(',1') ? [1] : []);
      expect(errors).toMatchObject([{ code: 'invalid_value' }]);
    },
  );

  it.each([
    ['1e3', 1000],
    ['-2.5E-3', -0.0025],
    ['.5', 0.5],
    ['+7', 7],
    ['0', 0],
    ['179769313486231570000e288', 1.7976931348623157e308],
  ])('reads the number %s (R-E2)', async (text, value) => {
    expect(await values(`${HEADER}\n1,${DATE},${text}\n`)).toEqual([value]);
  });

  it.each([
    [`${DATE}Z`, '2026-03-01T00:15:00.000Z'],
    [`${DATE}+02:00`, '2026-02-28T22:15:00.000Z'],
    [DATE, '2026-02-28T23:15:00.000Z'],
  ])('reads the date %s of a source in Europe/Brussels as the instant %s (R-E3)', async (date, instant) => {
    const { points } = await read(`${HEADER}\n1,${date},1\n`, { timeZoneId: 'Europe/Brussels' });
    expect(points[0]?.date).toBe(instant);
  });

  it('divides values by the divider of the variable; a row whose result is not finite is rejected (R-C6, R-E3)', async () => {
    const text = `${HEADER}\n1,${DATE},5\n1,${DATE.replace('15', '30')},1e308\n`;
    expect((await read(text, { divider: 2 })).points.map(({ value }) => value)).toEqual([2.5, 5e307]);
    const { points, errors } = await read(text, { divider: 0.5 });
    expect(points.map(({ value }) => value)).toEqual([10]);
    const message = expect.stringContaining('must be finite after division by 0.5, the divider');
    expect(errors).toEqual([{ row: 3, code: 'invalid_value', message }]);
  });

  it('ingests local dates that occur twice or never (DST changes), with a warning (R-D4, R-E3)', async () => {
    const text = `${HEADER}\n1,2026-10-25T02:30:00,1\n1,2026-03-29T02:30:00,2\n`;
    const { warnings, points } = await read(text, { timeZoneId: 'Europe/Brussels' });
    const gap = 'the local date plus the length of the gap is used: 2026-03-29T01:30:00Z';
    const message = `2026-03-29T02:30:00 in Europe/Brussels does not exist because of a clock change; ${gap}`;
    expect(warnings).toMatchObject([
      { row: 2, code: 'ambiguous_local_date' },
      { row: 3, code: 'skipped_local_date', message },
    ]);
    expect(points.map(({ date }) => date)).toEqual(['2026-03-29T01:30:00.000Z', '2026-10-25T01:30:00.000Z']);
  });
});

describe('files: dates in the formats that data frame libraries write (R-A11)', () => {
  it('a date alone is the first instant of its day, even where midnight occurs twice or never (R-A11, R-D4)', async () => {
    const text = `${HEADER}\n1,2026-03-08,1\n1,2026-11-01,2\n1,2026-11-01T00:00:00,3\n`;
    const { warnings, points } = await read(text, { timeZoneId: 'America/Havana' });
    const dates = ['2026-03-08T05:00:00.000Z', '2026-11-01T04:00:00.000Z', '2026-11-01T05:00:00.000Z'];
    expect(points.map(({ date }) => date)).toEqual(dates);
    expect(warnings).toMatchObject([{ row: 4, code: 'ambiguous_local_date' }]);
  });

  it.each([
    ['2026-03-29 00:00:00', '2026-03-28T23:00:00.000Z'],
    ['2026-03-29', '2026-03-28T23:00:00.000Z'],
    ['2026-03-29 00:00:00+02:00', '2026-03-28T22:00:00.000Z'],
    ['2026-03-29 00:00:00.250', '2026-03-28T23:00:00.250Z'],
    ['2026-03-29T00:00', '2026-03-28T23:00:00.000Z'],
    ['1774742400000', '2026-03-29T00:00:00.000Z'],
  ])('%s of a source in Europe/Brussels is read as the instant %s', async (date, instant) => {
    const { points, errors } = await read(`${HEADER}\n1,${date},1\n`, { timeZoneId: 'Europe/Brussels' });
    expect(errors).toEqual([]);
    expect(points.map((point) => point.date)).toEqual([instant]);
  });
});

describe('files: the reading of invalid CSV rows (R-E3)', () => {
  const good = `5,${DATE},42`;
  it.each([
    ['01/03/2026', '1', 'invalid_date', /"01\/03\/2026"/],
    ['01/03/2026 00:15:00', '1', 'invalid_date', /yyyy-MM-dd/],
    ['1772324100', '1', 'invalid_date', /got/],
    ['2026-02-30T00:00:00', '1', 'invalid_date', /got/],
    ['', '1', 'invalid_date', /got nothing/],
    ['x', 'y', 'invalid_date', /date.*; value/],
    [DATE, '1e999', 'invalid_value', /finite number, got "1e999"/],
    [DATE, '', 'invalid_value', /got nothing/],
    [DATE, 'NaN', 'invalid_value', /NaN/],
    [DATE, '0x1F', 'invalid_value', /0x1F/],
    [DATE, ' 0x1F', 'invalid_value', / 0x1F/],
    [DATE, '1\0', 'invalid_value', /\uFFFD/],
  ])('reports date %j with value %j as %s', async (date, value, code, message) => {
    const { points, errors } = await read(`${HEADER}\n${good}\n5,${date},${value}\n${good}\n`);
    expect(errors).toEqual([{ row: 3, code, message: expect.stringMatching(message) }]);
    expect(points).toHaveLength(1);
    expect(points[0]?.value).toBe(42);
  });

  it.each([
    ['variable_id', 'abc', 'invalid_identifier'],
    ['variable_id', '', 'target_not_found'],
    ['variable_id', '3000000000', 'invalid_identifier'],
    ['source_name', 'a\0b', 'invalid_identifier'],
    ['source_name', '\uD800', 'target_not_found'],
  ])('in the column %s, a cell with the text %j is reported as %s', async (column, cell, code) => {
    const text = `${column},date,value\n${cell},${DATE},1\n`;
    const { errors } = await read(text, { unknown: () => true });
    expect(errors).toMatchObject([{ row: 2, code }]);
  });

  it('rejects an identifier that is not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('source_name,date,value\nH'),
      Buffer.from([0xe9]),
      Buffer.from(`,${DATE},1\n`),
    ]);
    expect((await read(bytes)).errors).toMatchObject([
      { row: 2, code: 'invalid_identifier', message: expect.stringContaining('UTF-8') },
    ]);
  });

  it('rejects tags that are not `key:value` pairs, and a VersionTag that is too long', async () => {
    const text = `${HEADER},version,tags\n1,${DATE},1,,oops\n1,${DATE},1,${'v'.repeat(201)},\n`;
    expect((await read(text)).errors).toMatchObject([
      { row: 2, code: 'invalid_tags' },
      { row: 3, code: 'invalid_version' },
    ]);
  });

  it('rejects every row that names an unknown variable, and reads the other rows', async () => {
    const text = `${HEADER}\n1,${DATE},1\n2,${DATE},1\n1,${DATE}Z,1\n`;
    const { errors, points } = await read(text, { unknown: ({ variableId }) => variableId === 1 });
    expect(errors.map(({ row, code }) => [row, code])).toEqual([
      [2, 'target_not_found'],
      [4, 'target_not_found'],
    ]);
    expect(points).toHaveLength(1);
  });

  it('rejects a decimal comma in a file delimited by commas', async () => {
    const { errors, points } = await read(`${HEADER}\n1,${DATE},1,5\n`);
    expect(points).toEqual([]);
    expect(errors).toMatchObject([{ row: 2, code: 'malformed_row' }]);
  });

  it.each([
    ['a quote that is not closed', `9,${DATE},"1\n`, 3],
    ['text after a closing quote', `9,${DATE},"1"x\n`, 3],
    ['a quote that matches one in a later row', `"9,${DATE},1\n`, 3],
  ])('rejects only the row with %s', async (_, line, row) => {
    const { errors, points } = await read(`${HEADER}\n1,${DATE},1\n${line}2,${DATE},2\n3,"${DATE}",3\n`);
    expect(errors).toMatchObject([{ row, code: 'malformed_row' }]);
    expect(points.map(({ value }) => value)).toEqual([1, 2, 3]);
  });

  it('reports the row as too long when a quoted cell of 2 MiB has a line break', async () => {
    const text = `note,${HEADER}\n"a\n${'x'.repeat(2 << 20)}",1,${DATE},1\n`;
    const { errors } = await read(text);
    const message = expect.stringContaining('the row must be at most 1048576 bytes');
    expect(errors[0]).toEqual({ row: 2, code: 'malformed_row', message });
  });

  it('rejects a row of 3 MiB, and reads the rows after it', async () => {
    const text = `${HEADER}\n1,${DATE},${'9'.repeat(3 << 20)}\n2,${DATE},2\n"${'x'.repeat(3 << 20)}\n3,${DATE},3\n`;
    const { errors, points } = await read(text);
    expect(errors.map(({ row, code }) => [row, code])).toEqual([
      [2, 'malformed_row'],
      [4, 'malformed_row'],
    ]);
    expect(points.map(({ value }) => value)).toEqual([2, 3]);
  });
});

describe('files: the reading of an invalid CSV file (R-E2, R-E4)', () => {
  it.each([
    ['empty_file', 'no bytes', '', /empty/],
    ['empty_file', 'only blank lines', '\ufeff\n\n', /only white space/],
    ['empty_file', '4096 blank bytes before the header', `${'\n'.repeat(4096)}${HEADER}\n`, /the first 4096 bytes/],
    ['missing_column', 'no known column', 'a,b\n1,2\n', /must have date and value and an identifier/],
    ['missing_column', 'a header in row 2', '\na,b\n1,2\n', /^the header in row 2 must have .*, got "a", "b"$/],
    ['missing_column', '25 unknown columns', `${'x,'.repeat(24)}x\n`, /, "x" and 5 more$/],
    ['missing_column', 'no date', `variable_id,value\n`, /must have date,/],
    ['missing_column', 'no identifier', `date,value,__proto__\n${DATE},1,x\n`, /identifier/],
    [
      'duplicate_column',
      'two dates',
      `${HEADER},Date\n1,${DATE},1,${DATE}\n`,
      /"date" in column 2 and "Date" in column 4 .*; the header in row 1 must contain only one of them/,
    ],
    [
      'duplicate_column',
      'two names of one identifier',
      'date,value,source_serialnumber,source_serial_number\n',
      /"source_serialnumber" in column 3 and "source_serial_number" in column 4 mean the same column/,
    ],
    ['wrong_format', 'the first bytes of a zip archive', 'PK\x03\x04rest', /zip/],
    ['wrong_format', 'a NUL in the header', 'variable_id,date\0,value\n', /NUL/],
    ['wrong_format', 'UTF-16 text', Buffer.from(`\ufeff${HEADER}\n`, 'utf16le'), /UTF-16/],
    [
      'damaged_file',
      'a quote in the header that is not closed',
      '\n"variable_id,date,value\n',
      /^the header in row 2 cannot be read: a quoted cell that starts in this row has no closing quote/,
    ],
  ])('fails with code %s when the file has %s', async (code, _, text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      name: 'FileRefusal',
      code,
      message: expect.stringMatching(message),
    });
  });

  it('fails with code too_many_rows when the file has one row more than the limit', async () => {
    const text = `${HEADER}\n${`1,${DATE},1\n`.repeat(6)}`;
    const message = expect.stringMatching(/at most 5 rows, .* send the remaining rows in another file$/);
    await expect(read(text, { limits: { maxRows: 5 } })).rejects.toMatchObject({ code: 'too_many_rows', message });
    await expect(read(text, { limits: { maxRows: 6 } })).resolves.toBeDefined();
  });
});

it('files: CSV columns named __proto__ and constructor are ignored (R-E2)', async () => {
  const { points, ignored } = await read(`${HEADER},__proto__,constructor\n1,${DATE},1,x,y\n`);
  expect(ignored).toEqual(['__proto__', 'constructor']);
  expect(points).toHaveLength(1);
});

describe('files: a CSV read part by part', () => {
  const cell = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('a,b', 'q"q', 'two\nlines', 'cr\r\nlf', 'é€', ''));
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  const rows = fc.array(fc.tuple(cell, number), {
    minLength: 1,
    maxLength: 30,
  });
  const quoted = (text: string) => `"${text.toWellFormed().replaceAll('\0', '').replaceAll('"', '""')}"`;
  const toCsv = (table: readonly (readonly [string, number])[]) =>
    `note,${HEADER}\n${table.map(([note, value]) => `${quoted(note)},1,${DATE}Z,${value}`).join('\n')}\n`;

  it('gives the same rows for parts of 40 to 400 bytes as for the whole file in one part (R-E2)', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 40, max: 400 }), async (table, partBytes) => {
        const whole = await scan(toCsv(table), Number.MAX_SAFE_INTEGER);
        expect(whole.slice(1).map((cells) => Number(cells[3]))).toEqual(table.map(([, value]) => value));
        expect(await scan(toCsv(table), partBytes)).toEqual(whole);
      }),
    );
  });

  it('can be resumed after any part; no record is lost or repeated (R-E5)', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(), async (table, cut) => {
        const text = Buffer.from(toCsv(table));
        const ends: { offset: number; row: number }[] = [];
        const all: string[][] = [];
        const scanner = new RecordScanner(
          { delimiter: ',', newline: '\n' },
          Infinity,
          { record: (_row, cells) => all.push(textsOf(cells)), malformed: () => {} },
          { offset: 0, row: 0 },
        );
        for (let offset = 0; offset < text.length; offset += 64) {
          scanner.feed(text.subarray(offset, offset + 64), offset + 64 >= text.length);
          ends.push({ offset: scanner.offset, row: scanner.row });
        }
        const from = ends[cut % ends.length] ?? { offset: 0, row: 0 };
        const rest: string[][] = [];
        new RecordScanner(
          { delimiter: ',', newline: '\n' },
          Infinity,
          { record: (_row, cells) => rest.push(textsOf(cells)), malformed: () => {} },
          from,
        ).feed(text.subarray(from.offset), true);
        expect(rest).toEqual(all.slice(from.row));
      }),
    );
  });

  it('can be resumed after the first chunk of rows, and then ends at the same row and byte as an uninterrupted read (R-E5)', async () => {
    const lines = Array.from({ length: 120_000 }, (_, index) => `1,${DATE}Z,${index}\n`);
    const text = `${HEADER}\n${lines.join('')}`;
    const whole = await read(text);
    expect(whole.positions.length).toBeGreaterThan(1);
    const [first] = whole.positions;
    const rest = await read(text, { from: first });
    // If `rest` had been read from the beginning, its first chunk would end at the same row as the first chunk of
    // `whole`. The first chunk of a resumed read ends at a later row.
    expect(rest.positions[0]?.rows).toBeGreaterThan(first?.rows ?? Infinity);
    expect(rest.positions.at(-1)).toMatchObject({ rows: 120_000, rowNumber: 120_001, bytes: text.length });
  });

  it('can be resumed after a chunk that fills while a row of 3 MiB is skipped, with the same row numbers (R-E5)', async () => {
    const rows = Array.from({ length: 29_999 }, (_, index) => `1,${DATE}Z,${index}\n`);
    const text = `${HEADER}\n${rows.join('')}1,${'x'.repeat(3 << 20)}\n1,${DATE}Z,1\n`;
    const whole = await read(text);
    expect(whole.errors.map(({ row }) => row)).toEqual([30_001]);
    const rest = await read(text, { from: whole.positions[0] });
    expect(rest.errors.filter(({ row }) => row > (whole.positions[0]?.rowNumber ?? 0))).toEqual([]);
    expect(rest.positions.at(-1)).toEqual(whole.positions.at(-1));
  });
});

async function scan(text: string, partBytes: number): Promise<string[][]> {
  const bytes = Buffer.from(text);
  const found: string[][] = [];
  const scanner = new RecordScanner(
    { delimiter: ',', newline: '\n' },
    Infinity,
    { record: (_row, cells) => found.push(textsOf(cells)), malformed: () => {} },
    { offset: 0, row: 0 },
  );
  for (let offset = 0; offset < bytes.length; offset += partBytes) {
    scanner.feed(bytes.subarray(offset, offset + partBytes), offset + partBytes >= bytes.length);
  }
  return found;
}

function textsOf(cells: RowCells): string[] {
  return cells.starts.map((_, column) => cellText(cells, column));
}
