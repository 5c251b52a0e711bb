/** A CSV as rows (R-E2): the bytes are read part by part, and again from a record's first byte after a crash (R-E5). */

import { cellText } from '../cells/row-cells.ts';
import { decodeUtf8 } from '../cells/utf8.ts';
import { type Columns, planColumns, usedColumns } from '../parsing/columns-rules.ts';
import { CSV_CHUNKS, isChunk, type ParseJob } from '../parsing/parse-source.ts';
import { RowCollector } from '../parsing/row-collector.ts';
import { type FilePosition, FileRefusal } from '../standard-file.ts';
import { assertStart, markBytes } from '../upload/start-rules.ts';
import { CsvRows } from './csv-rows.ts';
import { findDialect } from './dialect-rules.ts';
import { type Dialect, RecordScanner, type RecordVisitor } from './record-scanner.ts';

// Enough to see whether the file is what it claims.
const START_BYTES = 4096;

interface Head {
  readonly dialect: Dialect;
  readonly columns: Columns;
  /** Where the rows begin. */
  readonly position: FilePosition;
}

/**
 * Reads rows until the end.
 * @throws FileRefusal when the file is no CSV, lacks a column, or has too many rows.
 */
export async function readCsv({ source, limits, from, onHeader, emit }: ParseJob): Promise<void> {
  const { dialect, columns, position } = readHead(asBuffer(await source.readPart(0)));
  onHeader({ ignored: columns.ignored });
  const start = from.rows === 0 && from.bytes === 0 ? position : from;
  const collector = new RowCollector(columns, decodeUtf8);
  const reader = new CsvRows(columns, collector);
  const scanner = new RecordScanner(dialect, usedColumns(columns).length, reader, {
    offset: start.bytes,
    row: start.rowNumber,
  });
  const here = (): FilePosition => ({ bytes: scanner.offset, rows: from.rows + reader.rows, rowNumber: scanner.row });
  const lastPart = Math.ceil(source.sizeBytes / source.partBytes) - 1;
  const firstPart = Math.min(Math.floor(start.bytes / source.partBytes), lastPart);
  for (let part = firstPart; part <= lastPart; part += 1) {
    const bytes = await source.readPart(part);
    const isLast = part === lastPart;
    scanner.feed(part === firstPart ? bytes.subarray(start.bytes - part * source.partBytes) : bytes, isLast);
    if (here().rows > limits.maxRows) {
      throw new FileRefusal(
        'too_many_rows',
        `the file must have at most ${limits.maxRows} rows; reading stopped there`,
      );
    }
    const isFull = isChunk(CSV_CHUNKS, collector.count, reader.rows - collector.count);
    if (isLast || isFull) await emit(collector, here(), isLast);
  }
}

function readHead(bytes: Buffer): Head {
  const text = bytes.toString('latin1');
  assertStart('csv', text.slice(0, START_BYTES));
  const mark = markBytes(text);
  const dialect = findDialect(text.slice(mark));
  const header = findHeader(dialect, bytes, mark);
  const names = header.cells.map((cell) => decodeUtf8(cell) ?? cell);
  return { dialect, columns: planColumns(names), position: header.position };
}

/** The first record that is not blank. */
function findHeader(dialect: Dialect, bytes: Buffer, mark: number) {
  let cells: readonly string[] = [];
  const visitor: RecordVisitor = {
    record: (_row, found, cellCount) => {
      if (cellCount > 0) cells = found.starts.map((_, column) => cellText(found, column));
    },
    malformed: (_row, reason) => {
      throw new FileRefusal('damaged_file', `the header cannot be read: ${reason}`);
    },
  };
  const scanner = new RecordScanner(dialect, Infinity, visitor, { offset: mark, row: 0 });
  for (let place = mark; cells.length === 0 && place < bytes.length; ) {
    const found = bytes.indexOf(dialect.newline, place);
    const end = found < 0 ? bytes.length : found + 1;
    scanner.feed(bytes.subarray(place, end), end === bytes.length);
    place = end;
  }
  return { cells, position: { bytes: scanner.offset, rows: 0, rowNumber: scanner.row } };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
