/** A CSV as rows (R-E2): the bytes are read part by part, and again from a record's first byte after a crash (R-E5). */
import { FILE_DATE_RULE, parseFileDate, parseFileNumber, show } from '../cell-rules.ts';
import { type Columns, planColumns, usedColumns } from '../columns-rules.ts';
import { type FileSource, isChunk, type ParseJob } from '../parsing/parse-source.ts';
import { RowCollector } from '../parsing/row-collector.ts';
import { decodeUtf8 } from '../parsing/utf8.ts';
import { type FilePosition, FileRefusal } from '../standard-file.ts';
import { assertStart, markBytes } from '../start-rules.ts';
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
  const { dialect, columns, position } = readHead(await readText(source, 0));
  onHeader({ ignored: columns.ignored });
  const start = from.rows === 0 && from.bytes === 0 ? position : from;
  const collector = new RowCollector(columns, decodeUtf8);
  const reader = new CsvRows(columns, collector);
  const scanner = new RecordScanner(dialect, usedColumns(columns), reader, {
    offset: start.bytes,
    row: start.rowNumber,
  });
  const here = (): FilePosition => ({ bytes: scanner.offset, rows: from.rows + reader.rows, rowNumber: scanner.row });
  const lastPart = Math.ceil(source.sizeBytes / source.partBytes) - 1;
  const firstPart = Math.min(Math.floor(start.bytes / source.partBytes), lastPart);
  for (let part = firstPart; part <= lastPart; part += 1) {
    const text = await readText(source, part);
    scanner.feed(part === firstPart ? text.slice(start.bytes - part * source.partBytes) : text, part === lastPart);
    if (here().rows > limits.maxRows) {
      throw new FileRefusal(
        'too_many_rows',
        `the file must have at most ${limits.maxRows} rows; reading stopped there`,
      );
    }
    if (part === lastPart || isChunk(collector.count, reader.rows - collector.count)) await emit(collector, here());
  }
}

async function readText(source: FileSource, part: number): Promise<string> {
  const bytes = await source.readPart(part);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function readHead(text: string): Head {
  assertStart('csv', text.slice(0, START_BYTES));
  const mark = markBytes(text);
  const dialect = findDialect(text.slice(mark));
  const header = findHeader(dialect, text, mark);
  const names = header.cells.map((cell) => decodeUtf8(cell) ?? cell);
  return { dialect, columns: planColumns(names), position: header.position };
}

/** The first record that is not blank. */
function findHeader(dialect: Dialect, text: string, mark: number) {
  let cells: readonly string[] = [];
  const visitor: RecordVisitor = {
    record: (_row, found, cellCount) => {
      if (cellCount > 0) cells = [...found];
    },
    malformed: (_row, reason) => {
      throw new FileRefusal('damaged_file', `the header cannot be read: ${reason}`);
    },
  };
  const scanner = new RecordScanner(dialect, undefined, visitor, { offset: mark, row: 0 });
  for (let place = mark; cells.length === 0 && place < text.length; ) {
    const found = text.indexOf(dialect.newline, place);
    const end = found < 0 ? text.length : found + 1;
    scanner.feed(text.slice(place, end), end === text.length);
    place = end;
  }
  return { cells, position: { bytes: scanner.offset, rows: 0, rowNumber: scanner.row } };
}

/** Judges each record and hands it to the collector. */
class CsvRows implements RecordVisitor {
  /** Records seen below the header, blank lines apart. */
  rows = 0;
  readonly #columns: Columns;
  readonly #collector: RowCollector;

  constructor(columns: Columns, collector: RowCollector) {
    this.#columns = columns;
    this.#collector = collector;
  }

  record(row: number, cells: readonly string[], cellCount: number): void {
    if (cellCount === 0) return;
    this.rows += 1;
    const { date: dateColumn, value: valueColumn, version, tags, count } = this.#columns;
    const collector = this.#collector;
    const dateText = cells[dateColumn] ?? '';
    const valueText = cells[valueColumn] ?? '';
    const date = parseFileDate(dateText) ?? parseFileDate(dateText.trim());
    const value = parseFileNumber(valueText);
    // A value such as 1,5 between commas would otherwise be read as 1.
    if (cellCount > count) {
      collector.reject(row, 'malformed_row', `the row has ${cellCount} cells, the header ${count}`);
    } else if (!date) {
      const alsoValue = Number.isNaN(value) ? `; value must be a finite number, got ${shown(valueText)}` : '';
      collector.reject(row, 'invalid_date', `${FILE_DATE_RULE}, got ${shown(dateText)}${alsoValue}`);
    } else if (Number.isNaN(value)) {
      collector.reject(row, 'invalid_value', `value must be a finite number, got ${shown(valueText)}`);
    } else {
      const labelId = collector.labels.idOf(cellOf(cells, version), cellOf(cells, tags));
      collector.add(row, date.micros, date.isLocal, value, collector.targets.idOf(cells), labelId);
    }
  }

  malformed(row: number, reason: string): void {
    this.rows += 1;
    this.#collector.reject(row, 'malformed_row', reason);
  }
}

function cellOf(cells: readonly string[], column: number | undefined): string {
  return column === undefined ? '' : (cells[column] ?? '');
}

/** In messages, bytes that are no UTF-8 are shown as such, and NUL is replaced: it could not be stored. */
function shown(cell: string): string {
  return show((decodeUtf8(cell) ?? cell).replaceAll('\0', '\uFFFD'));
}
