/**
 * Reads the rows of a worksheet incrementally. `plain-row.ts` reads plain rows, and `xml-rows.ts` reads all other rows.
 */
import { PlainRows } from './plain-row.ts';
import { type RowVisitor, SheetRow } from './sheet-cells.ts';
import { XmlRows } from './xml-rows.ts';

const ROW_END = '</row>';
// An incomplete row of more than MAX_WAITING_BYTES is read with `xml-rows.ts`, which does not need the whole row.
const MAX_WAITING_BYTES = 1 << 18;

/** Reads the rows of one sheet. Each sheet needs a scanner of its own. */
export class SheetScanner {
  readonly #row: SheetRow;
  readonly #plain: PlainRows;
  readonly #xml: XmlRows;
  readonly #visitor: RowVisitor;
  #buffer: Buffer = Buffer.alloc(0);
  #waiting = 0;

  /** @param isDateStyle for each cell style, by index, whether the style shows a number as a date. */
  constructor(visitor: RowVisitor, isDateStyle: readonly boolean[]) {
    this.#visitor = visitor;
    this.#row = new SheetRow(isDateStyle);
    this.#plain = new PlainRows(this.#row);
    this.#xml = new XmlRows(this.#row, visitor);
  }

  /**
   * From the next row on, reads only the wanted columns.
   * @param wanted one byte per column: `wanted[index]` is 1 when the column with this index is to be read.
   */
  want(wanted: Uint8Array): void {
    this.#row.want(wanted);
  }

  /**
   * Reads the next bytes of the sheet. Passes each complete row to the visitor.
   * @throws {FileRefusal} damaged_file, wrong_format, and the errors of the visitor.
   */
  feed(piece: Uint8Array): void {
    const bytes = this.#append(piece);
    let at = 0;
    while (at < bytes.length) {
      const next = this.#xml.isBetweenRows ? this.#plainRow(bytes, at) : this.#byTags(bytes, at);
      if (next === at) break;
      at = next;
    }
    this.#waiting = bytes.length - at;
    this.#buffer.copyWithin(0, at, bytes.length);
  }

  /**
   * Reads the remaining bytes like `feed`, and ends the sheet.
   * @throws {FileRefusal} damaged_file when the sheet ends inside a tag, comment or CDATA section. Also throws the
   *   errors of `feed`.
   */
  end(): void {
    this.#xml.feed(this.#buffer.toString('latin1', 0, this.#waiting));
    this.#xml.end();
  }

  /**
   * Reads one row. If the end of the row has not arrived yet, reads nothing, and `feed` keeps the bytes for its next
   * call. But if more than MAX_WAITING_BYTES bytes of the row have arrived, reads these bytes with `xml-rows.ts`.
   * @returns the index after the bytes that were read; `at` when nothing was read.
   */
  #plainRow(bytes: Buffer, at: number): number {
    this.#plain.rowNumber = this.#xml.rowNumber;
    const end = this.#plain.read(bytes, at);
    if (end >= 0) {
      this.#xml.rowNumber = this.#plain.rowNumber;
      this.#visitor.row(this.#plain.rowNumber, this.#row);
      return end;
    }
    const isLonger = bytes.length - at > MAX_WAITING_BYTES;
    return isLonger || bytes.includes(ROW_END, at) ? this.#byTags(bytes, at) : at;
  }

  /**
   * Reads bytes with `xml-rows.ts` up to the next end tag of a row. Without an end tag, reads all bytes.
   * @returns the index after the bytes that were read.
   */
  #byTags(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(ROW_END, at);
    const end = found < 0 ? bytes.length : found + ROW_END.length;
    this.#xml.feed(bytes.toString('latin1', at, end));
    return end;
  }

  /** Writes `piece` into the buffer, directly after the bytes of the incomplete row with which the buffer starts. */
  #append(piece: Uint8Array): Buffer {
    const size = this.#waiting + piece.length;
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(size + (size >> 2));
      this.#buffer.copy(larger, 0, 0, this.#waiting);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#waiting);
    return this.#buffer.subarray(0, size);
  }
}
