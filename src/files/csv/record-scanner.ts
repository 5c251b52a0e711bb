/**
 * Cuts the bytes of a CSV into records (RFC 4180), piece by piece, as places in a buffer: no object is made per cell. A
 * record that breaks the rules of quoting is reported, and reading goes on with the line after its first: a stray quote
 * spoils one row, not all that follow. Every byte is looked at a few times, so the time stays linear.
 */
import type { RowCells } from '../cells/row-cells.ts';

export interface Dialect {
  readonly delimiter: string;
  readonly newline: '\n' | '\r';
}

export interface RecordVisitor {
  /** @param cells good until the call ends. @param cellCount without empty ones at the end. */
  record(row: number, cells: RowCells, cellCount: number): void;
  malformed(row: number, reason: string): void;
}

/** Longest record in bytes: what goes on for longer is no row of measurements, and must not fill the memory. */
export const MAX_RECORD_BYTES = 1 << 20;

const [QUOTE, RETURN] = [0x22, 0x0d];
const INCOMPLETE = -1;
const MALFORMED = -2;

export class RecordScanner {
  readonly #delimiter: number;
  readonly #newline: number;
  readonly #columnLimit: number;
  readonly #visitor: RecordVisitor;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** Columns of the record whose quotes are doubled. */
  readonly #doubled: number[] = [];
  #room: Buffer = Buffer.alloc(0);
  #bytes: Buffer = this.#room;
  #cells: RowCells = { bytes: this.#bytes, starts: this.#starts, ends: this.#ends };
  #isLast = false;
  #isSkipping = false;
  #reason = '';
  /** Bytes before the next record. */
  offset: number;
  /** Number of the last record. */
  row: number;

  /** @param columnLimit how many columns are cut out. */
  constructor(
    dialect: Dialect,
    columnLimit: number,
    visitor: RecordVisitor,
    start: { readonly offset: number; readonly row: number },
  ) {
    this.#delimiter = dialect.delimiter.charCodeAt(0);
    this.#newline = dialect.newline.charCodeAt(0);
    this.#columnLimit = columnLimit;
    // Of a record that is shorter than all before it the rest is empty, not absent: also of the first one.
    if (Number.isFinite(columnLimit)) for (let column = 0; column < columnLimit; column += 1) this.#cut(column, 0, 0);
    this.#visitor = visitor;
    this.offset = start.offset;
    this.row = start.row;
  }

  /** Takes the next piece of the file, and visits the records it completes. */
  feed(piece: Uint8Array, isLast: boolean): void {
    this.#append(piece);
    this.#isLast = isLast;
    const { length } = this.#bytes;
    let place = 0;
    while (place < length) {
      const end = this.#isSkipping ? this.#lineEnd(place) : this.#record(place);
      if (end === INCOMPLETE) break;
      this.#isSkipping = false;
      const next = Math.min(end + 1, length);
      this.offset += next - place;
      place = next;
    }
    this.#keep(place);
  }

  /** What was left of the piece before stands at the beginning of the room. */
  #append(piece: Uint8Array): void {
    const rest = this.#bytes.length;
    const size = rest + piece.length;
    if (size > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(size + (size >> 3));
      this.#bytes.copy(larger);
      this.#room = larger;
    }
    this.#room.set(piece, rest);
    this.#bytes = this.#room.subarray(0, size);
    this.#cells = { bytes: this.#bytes, starts: this.#starts, ends: this.#ends };
  }

  #keep(place: number): void {
    const rest = this.#bytes.length - place;
    const isTooLong = !this.#isLast && rest > MAX_RECORD_BYTES;
    if (isTooLong) {
      if (!this.#isSkipping) {
        this.row += 1;
        this.#visitor.malformed(this.row, `the row is longer than ${MAX_RECORD_BYTES} bytes`);
      }
      this.#isSkipping = true;
      this.offset += rest;
    }
    this.#room.copyWithin(0, place, place + rest);
    this.#bytes = this.#room.subarray(0, isTooLong ? 0 : rest);
  }

  /** @returns the place of the newline that ends the record, or INCOMPLETE. */
  #record(start: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const delimiter = this.#delimiter;
    const newline = this.#newline;
    let column = 0;
    let cellStart = start;
    let cellCount = 0;
    let place = start;
    for (; place < length; place += 1) {
      const byte = bytes[place];
      if (byte === delimiter) {
        this.#cut(column, cellStart, place);
        column += 1;
        if (place > cellStart) cellCount = column;
        cellStart = place + 1;
      } else if (byte === newline) break;
      else if (byte === QUOTE) return this.#recordWithQuotes(start);
    }
    if (place === length && !this.#isLast) return INCOMPLETE;
    const end = this.#withoutReturn(cellStart, place);
    this.#cut(column, cellStart, end);
    this.#visit(column + 1, end > cellStart ? column + 1 : cellCount);
    return place;
  }

  #recordWithQuotes(start: number): number {
    const lineEnd = this.#lineEnd(start);
    if (lineEnd === INCOMPLETE) return INCOMPLETE;
    this.#doubled.length = 0;
    const end = this.#quoted(start);
    if (end >= 0) return end;
    if (end === INCOMPLETE) {
      if (!this.#isLast && this.#bytes.length - start <= MAX_RECORD_BYTES) return INCOMPLETE;
      this.#reason = 'a quoted cell that begins in this row is not closed';
    }
    this.row += 1;
    this.#visitor.malformed(this.row, this.#reason);
    return lineEnd;
  }

  /** A record with quotes, of one line or more. */
  #quoted(start: number): number {
    const bytes = this.#bytes;
    let cellCount = 0;
    let place = start;
    for (let column = 0; ; column += 1) {
      const isQuoted = bytes[place] === QUOTE;
      const end = isQuoted ? this.#quotedCell(place, column) : this.#bareCell(place, column);
      if (end < 0) return end;
      if (end > place && !(isQuoted && this.#isEmptyQuoted(place))) cellCount = column + 1;
      if (end >= bytes.length || bytes[end] === this.#newline) {
        // Only now: a record that turns out malformed is read again, line by line.
        for (const doubled of this.#doubled) this.#halveQuotes(doubled);
        this.#visit(column + 1, cellCount);
        return end;
      }
      place = end + 1;
    }
  }

  /** @returns the place of the delimiter or newline after the cell. */
  #bareCell(start: number, column: number): number {
    const bytes = this.#bytes;
    let place = start;
    while (place < bytes.length && bytes[place] !== this.#delimiter && bytes[place] !== this.#newline) place += 1;
    if (place === bytes.length && !this.#isLast) return INCOMPLETE;
    this.#cut(column, start, bytes[place] === this.#delimiter ? place : this.#withoutReturn(start, place));
    return place;
  }

  /** @returns the place of the delimiter or newline after the cell. */
  #quotedCell(start: number, column: number): number {
    const bytes = this.#bytes;
    const close = this.#closingQuote(start + 1, column);
    if (close < 0) return INCOMPLETE;
    let end = close + 1;
    if (this.#newline !== RETURN && bytes[end] === RETURN) end += 1;
    // What comes next may decide whether this was the end.
    if (end >= bytes.length && !this.#isLast) return INCOMPLETE;
    const next = bytes[end];
    const isOver = next === undefined || next === this.#newline || (next === this.#delimiter && end === close + 1);
    if (!isOver) {
      this.#reason = `text follows the closing quote in column ${column + 1}`;
      return MALFORMED;
    }
    this.#cut(column, start + 1, close);
    return end;
  }

  /** The quote that ends a quoted cell; two in a row stand for one inside it. */
  #closingQuote(start: number, column: number): number {
    const bytes = this.#bytes;
    let isDoubled = false;
    for (let place = start; place < bytes.length; place += 1) {
      if (bytes[place] !== QUOTE) continue;
      if (bytes[place + 1] !== QUOTE) {
        if (isDoubled && column < this.#columnLimit) this.#doubled.push(column);
        return place;
      }
      isDoubled = true;
      place += 1;
    }
    return -1;
  }

  #halveQuotes(column: number): void {
    const bytes = this.#bytes;
    const [start = 0, end = 0] = [this.#starts[column], this.#ends[column]];
    let to = start;
    for (let from = start; from < end; from += 1) {
      bytes[to++] = bytes[from] as number;
      if (bytes[from] === QUOTE) from += 1;
    }
    this.#ends[column] = to;
  }

  #isEmptyQuoted(place: number): boolean {
    return this.#bytes[place + 1] === QUOTE && this.#bytes[place + 2] !== QUOTE;
  }

  #cut(column: number, start: number, end: number): void {
    if (column >= this.#columnLimit) return;
    this.#starts[column] = start;
    this.#ends[column] = end;
  }

  #visit(columns: number, cellCount: number): void {
    this.row += 1;
    for (let column = columns; column < this.#starts.length; column += 1) this.#cut(column, 0, 0);
    this.#visitor.record(this.row, this.#cells, cellCount);
  }

  #withoutReturn(start: number, end: number): number {
    return end > start && this.#bytes[end - 1] === RETURN ? end - 1 : end;
  }

  /** The newline that ends the line, or the end of the file. */
  #lineEnd(start: number): number {
    const found = this.#bytes.indexOf(this.#newline, start);
    if (found >= 0) return found;
    return this.#isLast ? this.#bytes.length : INCOMPLETE;
  }
}
