/**
 * Reads the head of a CSV (R-E2): finds its line end, its delimiter and its header. The header is the first record with
 * a cell that is not empty. A cell with only spaces is not empty.
 */
import { cellText } from '../cells/row-cells.ts';
import { decodeUtf8 } from '../cells/utf8.ts';
import { type Columns, countKnown, planColumns } from '../parsing/header-columns.ts';
import { type FilePosition, FileRefusal } from '../standard-file.ts';
import { assertSignature, markBytes, SIGNATURE_BYTES } from '../upload/file-signature.ts';
import { type Dialect, RecordScanner, type RecordVisitor } from './record-scanner.ts';

const DELIMITERS = [',', ';', '\t'] as const;
/** Minimum number of columns of a header: a date, a value and an identifier. */
const MIN_COLUMNS = 3;

export interface CsvHead {
  readonly dialect: Dialect;
  readonly columns: Columns;
  /** Where in the file the first record below the header begins. */
  readonly position: FilePosition;
}

/**
 * Finds the dialect and the columns of a CSV file (R-E2).
 * @param bytes the first part of the file, which must include the whole header.
 * @throws {FileRefusal} when the file is empty or not CSV, when its first 4096 bytes are only white space, or when its
 * header cannot be read, lacks a required column or repeats a known column.
 */
export function readHead(bytes: Buffer): CsvHead {
  const text = bytes.toString('latin1');
  assertSignature('csv', text.slice(0, SIGNATURE_BYTES));
  const mark = markBytes(text);
  const dialect = findDialect(text.slice(mark));
  const header = findHeader(dialect, bytes, mark);
  const names = header.cells.map((cell) => decodeUtf8(cell) ?? cell);
  return { dialect, columns: planColumns(names, header.position.rowNumber), position: header.position };
}

function findHeader(dialect: Dialect, bytes: Buffer, mark: number) {
  let cells: readonly string[] = [];
  const visitor: RecordVisitor = {
    record: (_row, found, cellCount) => {
      if (cellCount > 0) cells = found.starts.map((_, column) => cellText(found, column));
    },
    malformed: (row, reason) => {
      throw new FileRefusal('damaged_file', `the header in row ${row} cannot be read: ${reason}`);
    },
  };
  const scanner = new RecordScanner(dialect, Infinity, visitor, { offset: mark, row: 0 });
  for (let at = mark; cells.length === 0 && at < bytes.length; ) {
    const found = bytes.indexOf(dialect.newline, at);
    const end = found < 0 ? bytes.length : found + 1;
    scanner.feed(bytes.subarray(at, end), end === bytes.length);
    at = end;
  }
  return { cells, position: { bytes: scanner.offset, rows: 0, rowNumber: scanner.row } };
}

/**
 * Finds the line end and the delimiter of a file. Chooses the delimiter that gives the most known column names in the
 * header.
 */
function findDialect(text: string): Dialect {
  const newline = text.includes('\n') && !endsInReturn(text) ? '\n' : '\r';
  const header = text.split(newline, 1000).find((line) => line.trim() !== '') ?? '';
  const [best] = [...DELIMITERS].sort((a, b) => rank(header, b) - rank(header, a));
  return { delimiter: best ?? ',', newline };
}

/**
 * Returns true when `text` begins with a complete header that ends in a carriage return without a newline, as in old
 * Macintosh files. The cells of such a file may contain newlines, so a newline does not always end a line.
 */
function endsInReturn(text: string): boolean {
  const [, header = ''] = /^\s*([^\r\n]+)\r+(?![\r\n])/.exec(text) ?? [];
  return DELIMITERS.some((delimiter) => countKnown(namesOf(header, delimiter)) >= MIN_COLUMNS);
}

function rank(header: string, delimiter: string): number {
  const names = namesOf(header, delimiter);
  return countKnown(names) * 1e6 + names.length;
}

function namesOf(header: string, delimiter: string): readonly string[] {
  return header.replaceAll('"', '').split(delimiter);
}
