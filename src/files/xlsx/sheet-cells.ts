/** Cells of one worksheet row: byte offsets and kinds. Filled by `plain-row.ts` and `xml-rows.ts`. */
import type { RowCells } from '../cells/row-cells.ts';

/**
 * Content of a cell: `serial` is a number with a date format, `shared` the index of a shared string, `error` a text
 * such as #N/A, `date` an ISO 8601 text.
 */
export const KIND = { empty: 0, number: 1, serial: 2, shared: 3, text: 4, boolean: 5, error: 6, date: 7 } as const;

/** Cells of a worksheet row; their bytes are XML text, in which entities are not decoded. */
export interface SheetCells extends RowCells {
  readonly kinds: readonly number[];
}

/** Receives the rows of a sheet in order. */
export interface RowVisitor {
  /** @param row position of the row in the sheet, from 1. @param cells an object that is valid only during the call. */
  row(row: number, cells: SheetCells): void;
}

/** Maximum number of columns of a sheet, and of cells in a row. */
export const MAX_COLUMNS = 16_384;
/** Maximum bytes of text in the kept cells of a row. */
export const MAX_ROW_BYTES = 4 << 20;
/** Limit of a cell's text in bytes; text beyond it may be cut off. */
export const MAX_CELL_BYTES = 1 << 17;

/** The current row; reused for each row of a sheet. */
export class SheetRow implements SheetCells {
  bytes: Buffer = Buffer.alloc(0);
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  readonly #isDateStyle: readonly boolean[];
  #wanted: Uint8Array | undefined;

  /** @param isDateStyle one flag per cell style, by index: true when the style shows a number as a date. */
  constructor(isDateStyle: readonly boolean[]) {
    this.#isDateStyle = isDateStyle;
  }

  /** From the next row on, keeps only some columns. @param wanted one byte per column: 1 when the column is kept. */
  want(wanted: Uint8Array): void {
    this.#wanted = wanted;
  }

  /** Returns true when the cells of a column are kept. The cells of columns from MAX_COLUMNS on are never kept. */
  isWanted(column: number): boolean {
    return column >= 0 && column < MAX_COLUMNS && (this.#wanted === undefined || this.#wanted[column] === 1);
  }

  /** Starts a row with every cell empty. @param bytes the buffer in which the positions of the cells are counted. */
  begin(bytes: Buffer): void {
    this.bytes = bytes;
    for (let column = 0; column < this.kinds.length; column += 1) this.#put(column, KIND.empty, 0, 0);
  }

  /** Sets a cell. A cell without bytes becomes `empty` instead of `kind`. @param style index of the cell's style. */
  set(column: number, kind: number, start: number, end: number, style: number): void {
    for (let between = this.kinds.length; between < column; between += 1) this.#put(between, KIND.empty, 0, 0);
    const held = kind === KIND.number && this.#isDateStyle[style] === true ? KIND.serial : kind;
    this.#put(column, start === end ? KIND.empty : held, start, end);
  }

  #put(column: number, kind: number, start: number, end: number): void {
    this.kinds[column] = kind;
    this.starts[column] = start;
    this.ends[column] = end;
  }
}
