/** The cells of a row of a worksheet: where their bytes stand, and what they are. */
import type { RowCells } from '../cells/row-cells.ts';

/**
 * What a cell holds: `serial` is a number shown as a date, `shared` the number of a text, `error` a text such as #N/A,
 * `date` an ISO 8601 text.
 */
export const KIND = { empty: 0, number: 1, serial: 2, shared: 3, text: 4, boolean: 5, error: 6, date: 7 } as const;

/** The bytes are those of the XML, not decoded. */
export interface SheetCells extends RowCells {
  readonly kinds: readonly number[];
}

export interface RowVisitor {
  /** @param row as the sheet numbers it. @param cells good until the call ends. */
  row(row: number, cells: SheetCells): void;
}

// What a spreadsheet can have; a cell beyond is no cell.
const MAX_COLUMNS = 16_384;
export const MAX_CELL_BYTES = 1 << 17;

/** Takes the cells of one row after the other. */
export class SheetRow implements SheetCells {
  bytes: Buffer = Buffer.alloc(0);
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  readonly #isDateStyle: readonly boolean[];
  #wanted: Uint8Array | undefined;

  /** @param isDateStyle by cell style: whether it shows a number as a date. */
  constructor(isDateStyle: readonly boolean[]) {
    this.#isDateStyle = isDateStyle;
  }

  /** From now on only these columns are taken: 1 for each that is. */
  want(wanted: Uint8Array): void {
    this.#wanted = wanted;
  }

  isWanted(column: number): boolean {
    return column >= 0 && column < MAX_COLUMNS && (this.#wanted === undefined || this.#wanted[column] === 1);
  }

  begin(bytes: Buffer): void {
    this.bytes = bytes;
    for (let column = 0; column < this.kinds.length; column += 1) this.#put(column, KIND.empty, 0, 0);
  }

  /** A cell without content is empty, whatever it says it is. */
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
