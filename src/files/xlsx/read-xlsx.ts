/** The first sheet of a workbook as rows (R-E2): date cells, ISO texts, texts of all kinds, cached results of formulas. */
import type { ParsedDate } from '../../points/date-rules.ts';
import { formatInstant } from '../../points/instant-rules.ts';
import { FILE_DATE_RULE, parseFileDate, parseFileNumber, show } from '../cell-rules.ts';
import { type Columns, planColumns, usedColumns } from '../columns-rules.ts';
import { type HeaderNote, isChunk, type ParseJob } from '../parsing/parse-source.ts';
import { RowCollector } from '../parsing/row-collector.ts';
import { FileRefusal } from '../standard-file.ts';
import { type DateSystem, serialToMicros } from './serial-date-rules.ts';
import { NO_STRINGS, readSharedStrings, type SharedStrings, unescapeText } from './shared-strings.ts';
import { type RowVisitor, type SheetCells, SheetScanner } from './sheet-scanner.ts';
import { readWorkbook, type Workbook } from './workbook.ts';
import { openXlsxArchive } from './xlsx-archive.ts';
import { decodeXml } from './xml-scanner.ts';

/**
 * Reads rows until the end. After a crash the sheet is read again, and the rows that are done are passed over (R-E5).
 * @throws FileRefusal when the file is no workbook that can be read, lacks a column, or has too many rows.
 */
export async function readXlsx({ source, limits, from, onHeader, emit }: ParseJob): Promise<void> {
  const archive = await openXlsxArchive(source, limits);
  const workbook = await readWorkbook(archive);
  const strings =
    workbook.sharedStrings === undefined ? NO_STRINGS : await readSharedStrings(archive, workbook.sharedStrings);
  const rows = new SheetRows(workbook, strings, from.rows, onHeader);
  const scanner = new SheetScanner(rows);
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
    if (rows.rows > limits.maxRows) {
      throw new FileRefusal(
        'too_many_rows',
        `the file must have at most ${limits.maxRows} rows; reading stopped there`,
      );
    }
    if (rows.isChunk()) await emitRows(false);
  }
  scanner.end();
  if (!rows.collector) throw new FileRefusal('empty_file', 'the first sheet is empty');
  await emitRows(true);
}

/** Judges each row and hands it to the collector; the first row that is not empty is the header. */
class SheetRows implements RowVisitor {
  scanner: SheetScanner | undefined;
  /** Known once the header was read. */
  collector: RowCollector | undefined;
  /** Rows seen below the header, empty ones apart. */
  rows = 0;
  rowNumber = 0;
  #columns: Columns | undefined;
  readonly #texts: string[] = [];
  readonly #workbook: Workbook;
  readonly #strings: SharedStrings;
  readonly #doneRows: number;
  readonly #onHeader: (note: HeaderNote) => void;

  constructor(workbook: Workbook, strings: SharedStrings, doneRows: number, onHeader: (note: HeaderNote) => void) {
    this.#workbook = workbook;
    this.#strings = strings;
    this.#doneRows = doneRows;
    this.#onHeader = onHeader;
  }

  isChunk(): boolean {
    const collected = this.collector?.count ?? 0;
    return isChunk(collected, this.rows - this.#doneRows - collected);
  }

  row(row: number, cells: SheetCells): void {
    if (cells.kinds.every((kind) => kind === 'empty')) return;
    if (!this.collector || !this.#columns) {
      this.#readHeader(cells);
      return;
    }
    this.rows += 1;
    this.rowNumber = row;
    if (this.rows > this.#doneRows) this.#judge(row, cells, this.#columns, this.collector);
  }

  #readHeader(cells: SheetCells): void {
    const columns = planColumns(cells.kinds.map((_, column) => this.#textOf(cells, column)));
    this.#columns = columns;
    this.collector = new RowCollector(columns, (text) => text);
    this.#onHeader({ ignored: columns.ignored });
    this.scanner?.want(usedColumns(columns));
  }

  #judge(row: number, cells: SheetCells, columns: Columns, collector: RowCollector): void {
    const date = this.#dateOf(cells, columns.date);
    const value = this.#valueOf(cells, columns.value);
    if (!date || Number.isNaN(value)) {
      const problems = [
        ...(date ? [] : [`${FILE_DATE_RULE}, or a date cell, got ${this.#shown(cells, columns.date)}`]),
        ...(Number.isNaN(value) ? [`value must be a finite number, got ${this.#shown(cells, columns.value)}`] : []),
      ];
      collector.reject(row, date ? 'invalid_value' : 'invalid_date', problems.join('; '));
      return;
    }
    for (const { column } of columns.identifiers) this.#texts[column] = this.#textOf(cells, column);
    const [version, tags] = [columns.version, columns.tags].map((column) =>
      column === undefined ? '' : this.#textOf(cells, column),
    );
    const labelId = collector.labels.idOf(version ?? '', tags ?? '');
    collector.add(row, date.micros, date.isLocal, value, collector.targets.idOf(this.#texts), labelId);
  }

  #dateOf(cells: SheetCells, column: number): ParsedDate | undefined {
    if (cells.kinds[column] !== 'number') return parseFileDate(this.#textOf(cells, column).trim());
    // A number that is not shown as a date may be anything.
    if (!this.#isDate(cells, column)) return undefined;
    const micros = serialToMicros(Number(cells.raws[column]), this.#workbook.dateSystem);
    return micros === undefined ? undefined : { micros, isLocal: true };
  }

  #valueOf(cells: SheetCells, column: number): number {
    const kind = cells.kinds[column];
    if (kind === 'number') return parseFileNumber(cells.raws[column] ?? '');
    return kind === 'shared' || kind === 'text' ? parseFileNumber(this.#textOf(cells, column)) : Number.NaN;
  }

  #textOf(cells: SheetCells, column: number): string {
    const kind = cells.kinds[column] ?? 'empty';
    const raw = cells.raws[column] ?? '';
    switch (kind) {
      case 'empty':
        return '';
      case 'shared':
        return this.#strings.get(Number(raw)) ?? '';
      case 'boolean':
        return raw.trim() === '1' ? 'TRUE' : 'FALSE';
      case 'text':
        return unescapeText(decodeXml(raw));
      case 'number':
        return (this.#isDate(cells, column) && toDateText(Number(raw), this.#workbook.dateSystem)) || toPlainText(raw);
      case 'error':
      case 'date':
        return decodeXml(raw);
    }
  }

  #shown(cells: SheetCells, column: number): string {
    if (cells.kinds[column] === 'number') return `the number ${cells.raws[column]}`;
    return show(this.#textOf(cells, column).replaceAll('\0', '\uFFFD'));
  }

  #isDate(cells: SheetCells, column: number): boolean {
    return this.#workbook.isDateStyle[cells.styles[column] ?? 0] === true;
  }
}

/** A date cell in a column of texts, as dates are written. */
function toDateText(serial: number, system: DateSystem): string | undefined {
  const micros = serialToMicros(serial, system);
  return micros === undefined ? undefined : formatInstant(micros).replace('Z', '');
}

/** The number as people write it: `1.2E3` is 1200, and a serial number such as 12345.0 is 12345. */
function toPlainText(raw: string): string {
  const value = Number(raw);
  return Number.isFinite(value) ? String(value) : raw;
}
