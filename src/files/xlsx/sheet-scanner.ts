/** The rows of a worksheet, piece by piece: those written plainly from their bytes, others tag by tag. */
import { PlainRows } from './plain-row.ts';
import { type RowVisitor, SheetRow } from './sheet-cells.ts';
import { XmlRows } from './xml-rows.ts';

const ROW_END = '</row>';
// A longer row is read tag by tag, which needs not have all of it.
const MAX_WAITING_BYTES = 1 << 18;

export class SheetScanner {
  readonly #row: SheetRow;
  readonly #plain: PlainRows;
  readonly #xml: XmlRows;
  readonly #visitor: RowVisitor;
  #room: Buffer = Buffer.alloc(0);
  #waiting = 0;

  /** @param isDateStyle by cell style: whether it shows a number as a date. */
  constructor(visitor: RowVisitor, isDateStyle: readonly boolean[]) {
    this.#visitor = visitor;
    this.#row = new SheetRow(isDateStyle);
    this.#plain = new PlainRows(this.#row);
    this.#xml = new XmlRows(this.#row, visitor);
  }

  /** From now on only these columns are read: 1 for each that is. */
  want(wanted: Uint8Array): void {
    this.#row.want(wanted);
  }

  /** @throws FileRefusal damaged_file, wrong_format. */
  feed(piece: Uint8Array): void {
    const bytes = this.#append(piece);
    let place = 0;
    while (place < bytes.length) {
      const next = this.#xml.isBetweenRows ? this.#plainRow(bytes, place) : this.#byTags(bytes, place);
      if (next === place) break;
      place = next;
    }
    this.#waiting = bytes.length - place;
    this.#room.copyWithin(0, place, bytes.length);
  }

  /** @throws FileRefusal when it ends inside a tag. */
  end(): void {
    this.#xml.feed(this.#room.toString('latin1', 0, this.#waiting));
    this.#xml.end();
  }

  /** @returns the place after what was read, `place` when more is needed. */
  #plainRow(bytes: Buffer, place: number): number {
    this.#plain.rowNumber = this.#xml.rowNumber;
    const end = this.#plain.read(bytes, place);
    if (end >= 0) {
      this.#xml.rowNumber = this.#plain.rowNumber;
      this.#visitor.row(this.#plain.rowNumber, this.#row);
      return end;
    }
    const isLonger = bytes.length - place > MAX_WAITING_BYTES;
    return isLonger || bytes.includes(ROW_END, place) ? this.#byTags(bytes, place) : place;
  }

  /** To the end of a row, if there is one. */
  #byTags(bytes: Buffer, place: number): number {
    const found = bytes.indexOf(ROW_END, place);
    const end = found < 0 ? bytes.length : found + ROW_END.length;
    this.#xml.feed(bytes.toString('latin1', place, end));
    return end;
  }

  /** What was left of the piece before stands at the beginning of the room. */
  #append(piece: Uint8Array): Buffer {
    const size = this.#waiting + piece.length;
    if (size > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(size + (size >> 2));
      this.#room.copy(larger, 0, 0, this.#waiting);
      this.#room = larger;
    }
    this.#room.set(piece, this.#waiting);
    return this.#room.subarray(0, size);
  }
}
