/** Tests the format writers without starting a server (R-G3, R-G4). */
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { parseDate } from '../../../src/platform/dates/date-rules.ts';
import { formatInstant, formatLocalInstant } from '../../../src/platform/dates/instant-rules.ts';
import { writeArrow } from '../../../src/reading/formats/arrow-table.ts';
import { chooseType } from '../../../src/reading/formats/choose-type.ts';
import { writeCsv } from '../../../src/reading/formats/csv-table.ts';
import { INSTANT_BYTES, instantWriter, localInstantWriter } from '../../../src/reading/formats/instant-writer.ts';
import { writeJson } from '../../../src/reading/formats/json-table.ts';
import { NUMBER_BYTES, numberWriter } from '../../../src/reading/formats/number-writer.ts';
import { writeParquet } from '../../../src/reading/formats/parquet-table.ts';
import type { Batch, Column, InstantWriter, Table } from '../../../src/reading/formats/table.ts';
import { zoneOffset } from '../../../src/structure/catalogue/time-zones.ts';

const MICROS = Date.parse('2026-03-01T00:15:00Z') * 1000;
const TEXTS: Readonly<Record<number, string>> = { 1: 'V1', 2: 'say "hi", twice\r\n', 3: '=1+1' };

const COLUMNS: readonly Column[] = [
  { name: 'variableId', kind: 'id' },
  { name: 'date', kind: 'instant' },
  { name: 'rawValue', kind: 'number' },
  { name: 'unitId', kind: 'id' },
  { name: 'version', kind: 'text' },
  { name: 'tags', kind: 'json' },
];

function batch(variableId: number, unitId: number | null, values: readonly number[], ids: readonly number[]): Batch {
  return {
    rowCount: values.length,
    cells: [
      { kind: 'constant', value: variableId },
      { kind: 'instants', values: Float64Array.from(values, (_, row) => MICROS + row) },
      { kind: 'numbers', values: Float64Array.from(values) },
      { kind: 'constant', value: unitId },
      { kind: 'codes', ids: Int32Array.from(ids), textOf: (id) => TEXTS[id] ?? null },
      { kind: 'codes', ids: Int32Array.from(ids), textOf: (id) => (id === 0 ? null : `{"k":"${id}"}`) },
    ],
  };
}

function table(...batches: readonly Batch[]): Table {
  return {
    columns: COLUMNS,
    batches: (async function* () {
      yield* batches;
    })(),
  };
}

async function joined(pieces: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

describe('reading: JSON rows (R-G3)', () => {
  test('omit the members `version` and `tags` of a point that has no VersionTag and no tags', async () => {
    const text = await joined(writeJson(table(batch(7, null, [1.5, Number.NaN], [2, 0]), batch(8, 3, [-1e-7], [1]))));
    expect(JSON.parse(text.toString())).toEqual([
      {
        variableId: 7,
        date: '2026-03-01T00:15:00Z',
        rawValue: 1.5,
        unitId: null,
        version: TEXTS[2],
        tags: { k: '2' },
      },
      { variableId: 7, date: '2026-03-01T00:15:00.000001Z', rawValue: null, unitId: null },
      { variableId: 8, date: '2026-03-01T00:15:00Z', rawValue: -1e-7, unitId: 3, version: 'V1', tags: { k: '1' } },
    ]);
  });

  test('an empty table is written as an empty array', async () => {
    expect((await joined(writeJson(table()))).toString()).toBe('[]');
  });
});

describe('reading: CSV rows (R-G4)', () => {
  test('follow RFC 4180 and have a header row; a text that looks like a formula is unchanged', async () => {
    const text = (await joined(writeCsv(table(batch(7, null, [1.5, Number.NaN, 3], [2, 0, 3]))))).toString();
    expect(text).toBe(
      [
        'variableId,date,rawValue,unitId,version,tags',
        '7,2026-03-01T00:15:00Z,1.5,,"say ""hi"", twice\r\n","{""k"":""2""}"',
        '7,2026-03-01T00:15:00.000001Z,,,,',
        '7,2026-03-01T00:15:00.000002Z,3,,=1+1,"{""k"":""3""}"',
        '',
      ].join('\r\n'),
    );
  });

  test('an empty table is written as the header alone', async () => {
    const text = (await joined(writeCsv(table()))).toString();
    expect(text).toBe('variableId,date,rawValue,unitId,version,tags\r\n');
  });
});

describe('reading: Arrow rows (R-G4)', () => {
  const rowsOf = (bytes: Uint8Array) =>
    tableFromIPC(bytes)
      .toArray()
      .map((row) => row.toJSON() as Record<string, unknown>);

  test('have typed columns and null cells, and keep the microseconds of dates', async () => {
    const bytes = await joined(writeArrow(table(batch(7, null, [1.5, Number.NaN], [2, 0]))));
    const arrow = tableFromIPC(bytes);
    expect(arrow.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'variableId Dictionary<Int16, Int32>',
      'date Timestamp<MICROSECOND, UTC>',
      'rawValue Float64',
      'unitId Dictionary<Int16, Int32>',
      'version Dictionary<Int16, Utf8>',
      'tags Dictionary<Int16, Utf8>',
    ]);
    const dates = arrow.getChild('date')?.data[0]?.values as BigInt64Array;
    expect([...dates]).toEqual([BigInt(MICROS), BigInt(MICROS + 1)]);
    expect(rowsOf(bytes)).toMatchObject([
      { variableId: 7, rawValue: 1.5, unitId: null, version: TEXTS[2], tags: '{"k":"2"}' },
      { variableId: 7, rawValue: null, unitId: null, version: null, tags: null },
    ]);
  });

  // The writer joins batches of the first two sizes into larger Arrow record batches, but not batches of the third
  // size.
  test.each([
    ['1 to 3', 1],
    ['1,000 to 3,000', 1000],
    ['5,000 to 15,000', 5000],
  ])('keep the ids and texts of every batch when each batch has %s rows', async (_rows, times) => {
    const idsOfBatches = [[1, 2], [0, 0], [2], [3, 0, 1], [1]];
    const batches = idsOfBatches.map((ids, index) => {
      const all = Array.from({ length: times }, () => ids).flat();
      return batch(1 + (index >> 1), index === 2 ? null : 8, all, all);
    });
    const rows = rowsOf(await joined(writeArrow(table(...batches))));
    const expected: unknown[] = await joined(writeJson(table(...batches))).then((bytes) =>
      JSON.parse(bytes.toString()),
    );
    const labels = (row: unknown) => {
      const { variableId, rawValue, unitId, version = null } = row as Record<string, unknown>;
      return [variableId, rawValue, unitId, version].join();
    };
    expect(rows.map(labels)).toEqual(expected.map(labels));
  });

  test('when 1,000 variables have one point each, all their rows share one record batch', async () => {
    const batches = Array.from({ length: 1000 }, (_, index) => batch(index + 1, 8, [index], [1]));
    const bytes = await joined(writeArrow(table(...batches)));
    expect(tableFromIPC(bytes).batches).toHaveLength(1);
    expect(bytes.length).toBeLessThan(40_000);
  });

  test('an empty table is written as the schema alone', async () => {
    const arrow = tableFromIPC(await joined(writeArrow(table())));
    expect(arrow.numRows).toBe(0);
    expect(arrow.schema.names).toContain('version');
  });
});

describe('reading: Parquet rows (R-A13)', () => {
  const fileOf = async (...batches: readonly Batch[]) =>
    new Uint8Array(await joined(writeParquet(table(...batches)))).buffer;
  const rowsOf = (file: ArrayBuffer) => parquetReadObjects({ file, parsers: { timestampFromMicroseconds: String } });

  test('have typed columns and null cells, and keep the sign of -0.0 and the microseconds of dates', async () => {
    const file = await fileOf(batch(7, null, [1.5, Number.NaN, -0, 0], [2, 0, 3, 1]), batch(8, 3, [-1e-7], [1]));
    expect(parquetMetadata(file).schema.slice(1)).toMatchObject([
      { name: 'variableId', type: 'INT32' },
      { name: 'date', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
      { name: 'rawValue', type: 'DOUBLE' },
      { name: 'unitId', type: 'INT32' },
      { name: 'version', logical_type: { type: 'STRING' } },
      { name: 'tags', logical_type: { type: 'STRING' } },
    ]);
    const row = (variableId: number, more: number, rawValue: number | null, unitId: number | null, id: number) => {
      const [version, tags] = id === 0 ? [null, null] : [TEXTS[id], `{"k":"${id}"}`];
      return { variableId, date: String(MICROS + more), rawValue, unitId, version, tags };
    };
    const rows = [row(7, 0, 1.5, null, 2), row(7, 1, null, null, 0), row(7, 2, -0, null, 3), row(7, 3, 0, null, 1)];
    expect(await rowsOf(file)).toEqual([...rows, row(8, 0, -1e-7, 3, 1)]);
  });

  test('a column without any value consists of nulls', async () => {
    const rows = await rowsOf(await fileOf(batch(7, null, [Number.NaN], [0])));
    expect(rows).toEqual([
      { variableId: 7, date: String(MICROS), rawValue: null, unitId: null, version: null, tags: null },
    ]);
  });

  test('are written in pieces of one row group each', async () => {
    const values = Array.from({ length: 20_000 }, (_, row) => row + 0.5);
    const ids = values.map((_, row) => row % 4);
    const pieces: Uint8Array[] = [];
    const batches = Array.from({ length: 7 }, (_, index) => batch(index, 8, values, ids));
    for await (const piece of writeParquet(table(...batches))) pieces.push(piece);
    expect(pieces).toHaveLength(3);
    const file = new Uint8Array(Buffer.concat(pieces)).buffer;
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([60_000, 60_000, 20_000]);
    expect((await rowsOf(file)).map(({ rawValue, variableId }) => [variableId, rawValue])).toEqual(
      batches.flatMap((_, index) => values.map((value) => [index, value])),
    );
  });

  test('an empty table is written as a file with the columns and no rows', async () => {
    const file = await fileOf();
    expect(await rowsOf(file)).toEqual([]);
    const columns = parquetMetadata(file).schema.slice(1);
    expect(columns.map(({ name }) => name)).toEqual(COLUMNS.map(({ name }) => name));
  });
});

describe('reading: number writer (R-G3)', () => {
  // All tests share one writer. It remembers how many decimals the previous number had, and this must not change the
  // text of the next number.
  const writeNumber = numberWriter();
  const textOf = (value: number): string => {
    const bytes = Buffer.alloc(NUMBER_BYTES + 1, '?');
    return bytes.toString('latin1', 1, writeNumber(bytes, 1, value));
  };

  test.each([
    ...[0, 1, -1, 9, 10, 99.5, 0.1, -0.000001, 0.0000001, 1e-6, 123456.789, 999_999_999, 1_000_000_000, 4_294_967_296],
    ...[999_999_999_999_999, 1e15, -1e15, 2 ** 53, 1e21, 1e20, 0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308],
    ...[-0.0000010067770038988751, -2.2250738585072014e-308, -123456789012345680000],
    ...[100_000_000.5, 999_999_999.999999, 99_999_999.9999999, 0.999999, 0.9999999, 1.005, 1000000000.000001],
  ])('writes %d like `String(value)`', (value) => {
    expect(textOf(value)).toBe(String(value));
  });

  test('writes -0 as -0.0', () => {
    expect(textOf(-0)).toBe('-0.0');
  });

  test('writes any finite number like `String(value)`, except -0 as -0.0', () => {
    const decimal = fc
      .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 9 }))
      .map(([digits, decimals]) => digits / 10 ** decimals);
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.oneof(decimal, any, fc.maxSafeInteger()), (value) => {
        expect(textOf(value)).toBe(Object.is(value, -0) ? '-0.0' : String(value));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('reading: the writer of instants (R-A8)', () => {
  test('consecutive rows with the same instant get the same text', async () => {
    const micros = [MICROS, MICROS, MICROS, MICROS + 1, MICROS, MICROS];
    const cells = [{ kind: 'instants', values: Float64Array.from(micros) }] as const;
    const batches = (async function* () {
      yield { rowCount: micros.length, cells };
    })();
    const text = await joined(writeCsv({ columns: [{ name: 'date', kind: 'instant' }], batches }));
    expect(text.toString()).toBe(['date', ...micros.map(formatInstant), ''].join('\r\n'));
  });

  test('writes each instant of a series as formatInstant or formatLocalInstant does, in five zones', () => {
    const micros = fc
      .integer({ min: Date.UTC(1700, 0, 1), max: Date.UTC(2199, 11, 31) })
      .map((millis) => millis * 1000);
    const zone = fc.constantFrom(
      'Europe/Brussels',
      'America/St_Johns',
      'Asia/Kathmandu',
      'Africa/Monrovia',
      'Asia/Manila',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(micros, fc.constantFrom(0, 1, 500_000, 999_999))), zone, (parts, timeZoneId) => {
        const offsetAt = zoneOffset(timeZoneId);
        const [write, writeLocal] = [instantWriter(), localInstantWriter(offsetAt)];
        const textOf = (writer: InstantWriter, instant: number): string => {
          const bytes = Buffer.alloc(INSTANT_BYTES + 1);
          return bytes.toString('latin1', 1, writer(bytes, 1, instant));
        };
        for (const instant of parts.map(([start, more]) => start + more)) {
          expect(textOf(write, instant)).toBe(formatInstant(instant));
          const local = textOf(writeLocal, instant);
          expect(local).toBe(formatLocalInstant(instant, offsetAt(instant)));
          expect(parseDate(local), local).toEqual({ micros: instant, isLocal: false });
        }
      }),
    );
  });

  test.each([
    ['Europe/Amsterdam', '1880-01-01T00:00:00Z', '1880-01-01T00:18:00+00:18'],
    ['Africa/Monrovia', '1971-06-01T12:00:00.000001Z', '1971-06-01T11:16:00.000001-00:44'],
    ['Africa/Monrovia', '1972-01-07T00:44:29Z', '1972-01-07T00:00:29-00:44'],
    ['Africa/Monrovia', '1972-01-07T00:44:30Z', '1972-01-07T00:44:30+00:00'],
    ['America/New_York', '1883-11-18T16:59:59Z', '1883-11-18T12:03:59-04:56'],
  ])('in the time zone %s, the instant %s is written with an offset of whole minutes', (zone, utc, local) => {
    const { micros } = parseDate(utc) ?? { micros: Number.NaN };
    expect(formatLocalInstant(micros, zoneOffset(zone)(micros))).toBe(local);
    expect(parseDate(local)?.micros).toBe(micros);
  });
});

describe('reading: content negotiation (R-G4)', () => {
  const [JSON_TYPE, CSV, ARROW] = ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream'];

  test.each([
    ['', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/json, text/plain, */*', JSON_TYPE],
    ['text/csv', CSV],
    ['TEXT/CSV; charset=utf-8', CSV],
    ['text/*', CSV],
    ['text/csv, */*', CSV],
    ['text/csv;q=0.5, application/json;q=0.9', JSON_TYPE],
    ['application/json;q=0.2, text/csv;q=0.9, application/vnd.apache.arrow.stream;q=0.95', ARROW],
    ['application/vnd.apache.arrow.stream', ARROW],
    ['application/*', JSON_TYPE],
    ['application/json;q=0, */*', CSV],
    ['text/html, application/xml;q=0.9', JSON_TYPE],
    ['nonsense', JSON_TYPE],
    // When Accept allows none of the types on offer, the answer is JSON, even if Accept refuses JSON (R-A3).
    ['application/json;q=0', JSON_TYPE],
    ['text/json, text/csv;q=0.5', CSV],
    ['*/xml, text/csv;q=0.5', CSV],
    ['foo text/csv', JSON_TYPE],
    ['text/csv foo', JSON_TYPE],
    ['text/csv ; Q = 0.5 , application/json;q=0.9', JSON_TYPE],
    ['text/csv;q=0.25, application/json;q=0.9', JSON_TYPE],
    ['text/csv;q=0.5x, application/json;q=0.9', CSV],
    ['text/csv;q=2, application/json;q=3', CSV],
  ])('a request with the Accept header %j is answered in the type %s', (accept, type) => {
    expect(chooseType(accept, ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream'])).toBe(type);
  });

  test('a request without an Accept header is answered in the first type on offer', () => {
    expect(chooseType(undefined, [JSON_TYPE, CSV, ARROW])).toBe(JSON_TYPE);
  });
});
