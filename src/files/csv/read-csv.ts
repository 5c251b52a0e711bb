/**
 * Reads the stored parts of a CSV file in order, and emits the rows in chunks (R-E2). After a crash, reading resumes at
 * the first byte of a record (R-E5).
 */
import { decodeUtf8 } from '../cells/utf8.ts';
import { usedColumns } from '../parsing/header-columns.ts';
import { assertRowCount, CSV_CHUNKS, isChunk, type ParseJob } from '../parsing/parse-job.ts';
import { RowCollector } from '../parsing/row-collector.ts';
import type { FilePosition } from '../standard-file.ts';
import { readHead } from './csv-head.ts';
import { CsvRows } from './csv-rows.ts';
import { RecordScanner } from './record-scanner.ts';

/**
 * Reads the rows after the position `from` and emits them in chunks (R-E2, R-E5).
 * @throws {FileRefusal} when `readHead` refuses the file, or when the file has too many rows (too_many_rows).
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
  const currentPosition = (): FilePosition => ({
    bytes: scanner.offset,
    rows: from.rows + reader.rows,
    rowNumber: scanner.row,
  });
  const lastPart = Math.ceil(source.sizeBytes / source.partBytes) - 1;
  const firstPart = Math.min(Math.floor(start.bytes / source.partBytes), lastPart);
  for (let part = firstPart; part <= lastPart; part += 1) {
    const bytes = await source.readPart(part);
    const isLast = part === lastPart;
    scanner.feed(part === firstPart ? bytes.subarray(start.bytes - part * source.partBytes) : bytes, isLast);
    assertRowCount(currentPosition().rows, limits);
    const isFull = isChunk(CSV_CHUNKS, collector.count, reader.rows - collector.count);
    // A chunk must end between two records, because reading resumes at its position.
    if (isLast || (isFull && scanner.isAtRecord)) await emit(collector, currentPosition(), isLast);
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
