/**
 * Writes a table as an Apache Parquet file with the same columns as the Arrow format. Snappy compresses the row groups.
 * Memory holds one row group. Instants are always UTC, because a Parquet timestamp has no zone.
 */
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { Batch, Cells, Column, Table } from './table.ts';

/**
 * A row group is encoded as soon as it has this many rows; only the last row group may have fewer. A greater number
 * would block the event loop longer, because encoding a row group blocks it (MEASUREMENTS.md).
 */
const ROW_GROUP_ROWS = 50_000;

type Value = number | bigint | string | null;
type Encoding = NonNullable<ColumnSource['encoding']>;

interface ColumnType {
  readonly element: Omit<SchemaElement, 'name'>;
  readonly encoding: Encoding;
}

const TEXT: ColumnType = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  encoding: 'RLE_DICTIONARY',
};
const TYPES: Readonly<Record<Column['kind'], ColumnType>> = {
  id: { element: { type: 'INT32' }, encoding: 'RLE_DICTIONARY' },
  // PLAIN, because a dictionary would merge 0 and -0.
  number: { element: { type: 'DOUBLE' }, encoding: 'PLAIN' },
  instant: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    encoding: 'DELTA_BINARY_PACKED',
  },
  text: TEXT,
  json: TEXT,
};

/**
 * Sink of the Parquet writer. `take` returns the bytes written since its last call and removes them from the buffer.
 * `take` does not change `offset`, the total number of bytes written.
 */
class Pieces extends ByteWriter {
  take(): Uint8Array {
    const taken = this.getBytes().slice();
    this.index = 0;
    return taken;
  }
}

/**
 * Yields the bytes of each row group, then the footer. Yields nothing before the first row group is complete. An error
 * before that point therefore becomes an error answer.
 */
export async function* writeParquet({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const sink = new Pieces();
  const writer = new ParquetWriter({ writer: sink, schema: schemaOf(columns), createdBy: 'tidemark' });
  let values = columns.map((): Value[] => []);
  let rowCount = 0;
  const writeGroup = (): void => {
    writer.write({
      columnData: columns.map((column, index) => toSource(column, values[index] ?? [])),
      rowGroupSize: rowCount,
    });
    values = columns.map((): Value[] => []);
    rowCount = 0;
  };
  for await (const batch of batches) {
    for (const [index, column] of values.entries()) appendCells(column, batch, index);
    rowCount += batch.rowCount;
    if (rowCount < ROW_GROUP_ROWS) continue;
    writeGroup();
    yield sink.take();
  }
  if (rowCount > 0) writeGroup();
  writer.finish();
  yield sink.take();
}

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  const leaves = columns.map(({ name, kind }): SchemaElement => {
    return { ...TYPES[kind].element, name, repetition_type: 'OPTIONAL' };
  });
  return [{ name: 'points', num_children: columns.length }, ...leaves];
}

function toSource({ name, kind }: Column, data: Value[]): ColumnSource {
  return { name, data, encoding: TYPES[kind].encoding };
}

function appendCells(column: Value[], { rowCount, cells }: Batch, index: number): void {
  const valueAt = cellReader(cells[index] ?? { kind: 'absent' });
  for (let row = 0; row < rowCount; row++) column.push(valueAt(row));
}

/**
 * @returns a function that reads the cell of a row. An absent cell becomes null. NaN and infinity also become null, as
 * they do when `writeArrow` (arrow-table.ts) writes them.
 */
function cellReader(cells: Cells): (row: number) => Value {
  switch (cells.kind) {
    case 'absent':
      return () => null;
    case 'constant':
      return () => cells.value;
    case 'numbers':
      return (row) => finiteOf(cells.values[row] ?? Number.NaN);
    case 'instants':
      return (row) => BigInt(cells.values[row] ?? 0);
    case 'codes':
      return (row) => cells.textOf(cells.ids[row] ?? 0);
  }
}

function finiteOf(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
