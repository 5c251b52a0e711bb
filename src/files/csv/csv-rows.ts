/**
 * Adds the records of a CSV file to the `RowCollector` as rows. `cells/plain-cell-scanner.ts` reads dates and values in
 * the usual notation from bytes. `cells/cell-parser.ts` parses the text of other cells.
 */
import { FILE_DATE_RULE, parseFileDate, parseFileNumber, show } from '../cells/cell-parser.ts';
import { isPlainLocal, PlainDates, plainNumber } from '../cells/plain-cell-scanner.ts';
import { cellText, type RowCells } from '../cells/row-cells.ts';
import { decodeUtf8 } from '../cells/utf8.ts';
import type { Columns } from '../parsing/header-columns.ts';
import type { RowCollector } from '../parsing/row-collector.ts';
import { RowKeys } from '../parsing/row-keys.ts';
import type { RecordVisitor } from './record-scanner.ts';

/** Adds each valid record to the collector and rejects invalid records. */
export class CsvRows implements RecordVisitor {
  /** Number of records read, without those whose cells are all empty. */
  rows = 0;
  readonly #columns: Columns;
  readonly #collector: RowCollector;
  readonly #dates = new PlainDates();
  readonly #keys: RowKeys;

  constructor(columns: Columns, collector: RowCollector) {
    this.#columns = columns;
    this.#collector = collector;
    this.#keys = new RowKeys(columns, collector, cellText);
  }

  record(row: number, cells: RowCells, cellCount: number): void {
    if (cellCount === 0) return;
    this.rows += 1;
    const { date, value, count } = this.#columns;
    const { bytes, starts, ends } = cells;
    const dateStart = starts[date] as number;
    const dateEnd = ends[date] as number;
    const micros = this.#dates.read(bytes, dateStart, dateEnd);
    const number = plainNumber(bytes, starts[value] as number, ends[value] as number);
    if (cellCount <= count && !Number.isNaN(micros) && !Number.isNaN(number)) {
      this.#keys.add(row, cells, micros, isPlainLocal(dateStart, dateEnd), number);
    } else this.#readAsText(row, cells, cellCount);
  }

  malformed(row: number, reason: string): void {
    this.rows += 1;
    this.#collector.reject(row, 'malformed_row', reason);
  }

  #readAsText(row: number, cells: RowCells, cellCount: number): void {
    const { date: dateColumn, value: valueColumn, count } = this.#columns;
    const collector = this.#collector;
    const dateText = cellText(cells, dateColumn);
    const valueText = cellText(cells, valueColumn);
    const date = parseFileDate(dateText) ?? parseFileDate(dateText.trim());
    const value = parseFileNumber(valueText);
    // Without this check, the value `1,5` in a file delimited by commas would be read as 1.
    if (cellCount > count) {
      collector.reject(
        row,
        'malformed_row',
        `the row must not have more cells than the header (${count}), got ${cellCount}`,
      );
    } else if (!date) {
      const alsoValue = Number.isNaN(value) ? `; value must be a finite number, got ${shown(valueText)}` : '';
      collector.reject(row, 'invalid_date', `${FILE_DATE_RULE}, got ${shown(dateText)}${alsoValue}`);
    } else if (Number.isNaN(value)) {
      collector.reject(row, 'invalid_value', `value must be a finite number, got ${shown(valueText)}`);
    } else this.#keys.add(row, cells, date.micros, date.isLocal, value, date.isDay);
  }
}

/**
 * Quotes a cell for an error message. Reads a cell that is not valid UTF-8 as latin1. Replaces NUL by U+FFFD.
 */
function shown(cell: string): string {
  return show((decodeUtf8(cell) ?? cell).replaceAll('\0', '\uFFFD'));
}
