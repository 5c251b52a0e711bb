/**
 * Reads the first sheet of a workbook into chunks of rows (R-E2). A date may be a date cell, or may be written in any
 * way that is allowed for a date in a CSV. The value of a formula is its cached result.
 */
import type { ParsedDate } from '../../platform/dates/date-rules.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { FILE_DATE_RULE, parseFileDate, parseFileNumber, show } from '../cells/cell-parser.ts';
import { plainNumber, plainSerial } from '../cells/plain-cell-scanner.ts';
import { cellText } from '../cells/row-cells.ts';
import { type Columns, planColumns, usedColumns } from '../parsing/header-columns.ts';
import { assertRowCount, type HeaderNote, isChunk, type ParseJob, XLSX_CHUNKS } from '../parsing/parse-job.ts';
import { RowCollector } from '../parsing/row-collector.ts';
import { RowKeys } from '../parsing/row-keys.ts';
import { FileRefusal } from '../standard-file.ts';
import { type DateSystem, serialToMicros } from './serial-date-rules.ts';
import { NO_STRINGS, readSharedStrings, type SharedStrings, unescapeText } from './shared-strings.ts';
import { KIND, MAX_ROW_BYTES, type RowVisitor, type SheetCells } from './sheet-cells.ts';
import { SheetScanner } from './sheet-scanner.ts';
import { readWorkbook } from './workbook.ts';
import { openXlsxArchive } from './xlsx-archive.ts';
import { damaged, decodeXml } from './xml-scanner.ts';

/**
 * Reads the rows of the first sheet and emits them in chunks. After a crash, reads the sheet again and skips the rows
 * before `from` (R-E5).
 * @throws {FileRefusal} when the workbook cannot be read, or when its first sheet is empty, lacks a required column,
 * repeats a known column, or has too many rows.
 */
export async function readXlsx({ source, limits, from, onHeader, emit }: ParseJob): Promise<void> {
  const archive = await openXlsxArchive(source, limits);
  const workbook = await readWorkbook(archive);
  const strings =
    workbook.sharedStrings === undefined ? NO_STRINGS : await readSharedStrings(archive, workbook.sharedStrings);
  const rows = new SheetRows(workbook.dateSystem, strings, from.rows, onHeader);
  const scanner = new SheetScanner(rows, workbook.isDateStyle);
  rows.scanner = scanner;
  const sheetBytes = Math.max(1, archive.sizeOf(workbook.sheet));
  let read = 0;
  const emitRows = async (isLast: boolean): Promise<void> => {
    if (!rows.collector) return;
    const bytes = Math.min(source.sizeBytes, Math.floor((source.sizeBytes * read) / sheetBytes));
    await emit(rows.collector, { bytes, rows: rows.rows, rowNumber: rows.rowNumber }, isLast);
  };
  for await (const piece of archive.read(workbook.sheet)) {
    read += piece.length;
    scanner.feed(piece);
    assertRowCount(rows.rows, limits);
    if (rows.isChunk()) await emitRows(false);
  }
  scanner.end();
  if (!rows.collector) throw new FileRefusal('empty_file', 'the first sheet must have a header, got an empty sheet');
  await emitRows(true);
}

/**
 * Reads the header, and skips the next `doneRows` rows. Adds each later row to the collector if its date and value are
 * valid, else rejects the row. Ignores empty rows.
 */
class SheetRows implements RowVisitor {
  scanner: SheetScanner | undefined;
  /** Collects the rows; undefined until the header is read. */
  collector: RowCollector | undefined;
  /** Number of rows read below the header; empty rows do not count. */
  rows = 0;
  rowNumber = 0;
  /** Number of the current row. */
  #row = 0;
  /** Names the current row in messages. */
  readonly #place = (): string => `row ${this.#row}`;
  #columns: Columns | undefined;
  #keys: RowKeys | undefined;
  readonly #dateSystem: DateSystem;
  readonly #strings: SharedStrings;
  readonly #doneRows: number;
  readonly #onHeader: (note: HeaderNote) => void;

  constructor(dateSystem: DateSystem, strings: SharedStrings, doneRows: number, onHeader: (note: HeaderNote) => void) {
    this.#dateSystem = dateSystem;
    this.#strings = strings;
    this.#doneRows = doneRows;
    this.#onHeader = onHeader;
  }

  isChunk(): boolean {
    const collected = this.collector?.count ?? 0;
    return isChunk(XLSX_CHUNKS, collected, this.rows - this.#doneRows - collected);
  }

  row(row: number, cells: SheetCells): void {
    if (isEmpty(cells)) return;
    this.#row = row;
    if (!this.collector || !this.#columns || !this.#keys) {
      this.#readHeader(row, cells);
      return;
    }
    this.rows += 1;
    this.rowNumber = row;
    if (this.rows > this.#doneRows) this.#add(row, cells, this.#columns, this.collector, this.#keys);
  }

  #readHeader(row: number, cells: SheetCells): void {
    // Limits the total length of the names, which could otherwise fill the memory: even in a small file, many cells of
    // the header can refer to one long shared string. MAX_ROW_BYTES is used here as a number of characters, not of
    // bytes.
    let characters = 0;
    const names = cells.kinds.map((_, column) => {
      const name = this.#textOf(cells, column);
      characters += name.length;
      if (characters > MAX_ROW_BYTES)
        throw damaged(`the header in row ${row} has more than ${MAX_ROW_BYTES} characters`);
      return name;
    });
    const columns = planColumns(names, row);
    this.#columns = columns;
    this.collector = new RowCollector(columns, (text) => text);
    this.#keys = new RowKeys(columns, this.collector, (found, column) => this.#textOf(found as SheetCells, column));
    this.#onHeader({ ignored: columns.ignored });
    this.scanner?.want(usedColumns(columns));
  }

  #add(row: number, cells: SheetCells, columns: Columns, collector: RowCollector, keys: RowKeys): void {
    const serial = this.#serialOf(cells, columns.date);
    const text = serial === undefined ? this.#textDateOf(cells, columns.date) : undefined;
    const micros = serial ?? text?.micros;
    const value = this.#valueOf(cells, columns.value);
    if (micros !== undefined && !Number.isNaN(value)) {
      keys.add(row, cells, micros, text?.isLocal ?? true, value, text?.isDay);
      return;
    }
    const problems = [
      ...(micros === undefined
        ? [`${FILE_DATE_RULE}, or as a date cell from 1900; got ${this.#shown(cells, columns.date)}`]
        : []),
      ...(Number.isNaN(value) ? [`value must be a finite number, got ${this.#shown(cells, columns.value)}`] : []),
    ];
    collector.reject(row, micros === undefined ? 'invalid_date' : 'invalid_value', problems.join('; '));
  }

  /**
   * Returns the local date and time of a date cell, as microseconds since 1970-01-01T00:00 local time; undefined when
   * the cell is not a date cell, or its number is not a date.
   */
  #serialOf(cells: SheetCells, column: number): number | undefined {
    // Only a number with a date format is the serial number of a date. Any other number may be epoch milliseconds.
    if (cells.kinds[column] !== KIND.serial) return undefined;
    const plain = plainSerial(cells.bytes, cells.starts[column] as number, cells.ends[column] as number);
    const serial = Number.isNaN(plain) ? Number(cellText(cells, column)) : plain;
    return serialToMicros(serial, this.#dateSystem);
  }

  #textDateOf(cells: SheetCells, column: number): ParsedDate | undefined {
    const kind = cells.kinds[column];
    if (kind === KIND.serial) return undefined;
    return parseFileDate(this.#textOf(cells, column).trim());
  }

  #valueOf(cells: SheetCells, column: number): number {
    const kind = cells.kinds[column];
    if (kind === KIND.number || kind === KIND.serial) {
      const plain = plainNumber(cells.bytes, cells.starts[column] as number, cells.ends[column] as number);
      return Number.isNaN(plain) ? parseFileNumber(cellText(cells, column)) : plain;
    }
    return kind === KIND.shared || kind === KIND.text ? parseFileNumber(this.#textOf(cells, column)) : Number.NaN;
  }

  #textOf(cells: SheetCells, column: number): string {
    const raw = cellText(cells, column);
    switch (cells.kinds[column]) {
      case KIND.shared:
        return this.#strings.get(Number(raw), this.#place) ?? '';
      case KIND.boolean:
        return raw.trim() === '1' ? 'TRUE' : 'FALSE';
      case KIND.text:
        return unescapeText(decodeXml(raw, this.#place));
      case KIND.number:
        return toPlainText(raw);
      case KIND.serial:
        return toDateText(Number(raw), this.#dateSystem) ?? toPlainText(raw);
      case KIND.error:
      case KIND.date:
        return decodeXml(raw, this.#place);
      default:
        return '';
    }
  }

  #shown(cells: SheetCells, column: number): string {
    const kind = cells.kinds[column];
    if (kind === KIND.number || kind === KIND.serial) return `the number ${cellText(cells, column)}`;
    return show(this.#textOf(cells, column).replaceAll('\0', '\uFFFD'));
  }
}

function isEmpty({ kinds }: SheetCells): boolean {
  for (const kind of kinds) if (kind !== KIND.empty) return false;
  return true;
}

/** Formats a serial number as the text of its date, for a date cell in a text column. */
function toDateText(serial: number, system: DateSystem): string | undefined {
  const micros = serialToMicros(serial, system);
  return micros === undefined ? undefined : formatInstant(micros).replace('Z', '');
}

/** Formats a number: 1200 for `1.2E3`, and 12345 for `12345.0`. */
function toPlainText(raw: string): string {
  const value = Number(raw);
  return Number.isFinite(value) ? String(value) : raw;
}
