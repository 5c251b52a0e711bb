/**
 * Splits the bytes of a CSV into records (RFC 4180) incrementally. Reports a record with invalid quotes and resumes
 * with the next line, so that a stray quote rejects only one row. No library was found that has all of these: byte
 * offsets, bounded memory, and recovery at the next row (MEASUREMENTS.md).
 */
import type { RowCells } from '../cells/row-cells.ts';

/** The delimiter of a CSV, and the last character of its line endings. */
export interface Dialect {
  readonly delimiter: string;
  readonly newline: '\n' | '\r';
}

/** Receives the records in file order. */
export interface RecordVisitor {
  /**
   * @param cells cells of the record; they are valid only during the call. @param cellCount number of cells up to the
   * last cell that is not empty; 0 when all cells are empty.
   */
  record(row: number, cells: RowCells, cellCount: number): void;
  /** @param reason message for the uploader. */
  malformed(row: number, reason: string): void;
}

/** Maximum number of bytes kept of an incomplete record. Limits the memory for a record with an unclosed quote. */
export const MAX_RECORD_BYTES = 1 << 20;

const TOO_LONG = `the row must be at most ${MAX_RECORD_BYTES} bytes; look for a quote that is not closed`;

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
  /** Kept columns of the current record whose cells contain doubled quotes. */
  readonly #doubled: number[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #bytes: Buffer = this.#buffer;
  #cells: RowCells = { bytes: this.#bytes, starts: this.#starts, ends: this.#ends };
  #isLast = false;
  #isSkipping = false;
  #reason = '';
  /** Byte offset of the next record in the file. */
  offset: number;
  /** Row number of the last record that was read. */
  row: number;

  /**
   * @param columnLimit how many columns are kept; the cells of further columns are only counted.
   * @param start file offset of the first byte that `feed` gets, and number of the last row before this byte.
   */
  constructor(
    dialect: Dialect,
    columnLimit: number,
    visitor: RecordVisitor,
    start: { readonly offset: number; readonly row: number },
  ) {
    this.#delimiter = dialect.delimiter.charCodeAt(0);
    this.#newline = dialect.newline.charCodeAt(0);
    this.#columnLimit = columnLimit;
    // Each cell is empty at first, because the first record may be short, and its missing cells must be empty.
    if (Number.isFinite(columnLimit)) for (let column = 0; column < columnLimit; column += 1) this.#cut(column, 0, 0);
    this.#visitor = visitor;
    this.offset = start.offset;
    this.row = start.row;
  }

  /** False while a record that is too long is skipped; `offset` then lies inside this record. */
  get isAtRecord(): boolean {
    return !this.#isSkipping;
  }

  /**
   * Takes the next bytes of the file and reports the records that they complete.
   * @param isLast true when the file ends with `piece`.
   */
  feed(piece: Uint8Array, isLast: boolean): void {
    this.#append(piece);
    this.#isLast = isLast;
    const { length } = this.#bytes;
    let at = 0;
    while (at < length) {
      const end = this.#isSkipping ? this.#lineEnd(at) : this.#record(at);
      if (end === INCOMPLETE) break;
      this.#isSkipping = false;
      const next = Math.min(end + 1, length);
      this.offset += next - at;
      at = next;
    }
    this.#keep(at);
  }

  /** Appends `piece` to the buffer, directly after the bytes of an incomplete record. */
  #append(piece: Uint8Array): void {
    const rest = this.#bytes.length;
    const size = rest + piece.length;
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(size + (size >> 3));
      this.#bytes.copy(larger);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, rest);
    this.#bytes = this.#buffer.subarray(0, size);
    this.#cells = { bytes: this.#bytes, starts: this.#starts, ends: this.#ends };
  }

  #keep(at: number): void {
    const rest = this.#bytes.length - at;
    const isTooLong = !this.#isLast && rest > MAX_RECORD_BYTES;
    if (isTooLong) {
      if (!this.#isSkipping) {
        this.row += 1;
        this.#visitor.malformed(this.row, TOO_LONG);
      }
      this.#isSkipping = true;
      this.offset += rest;
    }
    this.#buffer.copyWithin(0, at, at + rest);
    this.#bytes = this.#buffer.subarray(0, isTooLong ? 0 : rest);
  }

  /**
   * @returns the index of the newline after the record, or of the end of the file; INCOMPLETE when neither has been
   * read yet.
   */
  #record(start: number): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const delimiter = this.#delimiter;
    const newline = this.#newline;
    let column = 0;
    let cellStart = start;
    let cellCount = 0;
    let at = start;
    for (; at < length; at += 1) {
      const byte = bytes[at];
      if (byte === delimiter) {
        this.#cut(column, cellStart, at);
        column += 1;
        if (at > cellStart) cellCount = column;
        cellStart = at + 1;
      } else if (byte === newline) break;
      else if (byte === QUOTE) return this.#recordWithQuotes(start);
    }
    if (at === length && !this.#isLast) return INCOMPLETE;
    const end = this.#withoutReturn(cellStart, at);
    this.#cut(column, cellStart, end);
    this.#visit(column + 1, end > cellStart ? column + 1 : cellCount);
    return at;
  }

  #recordWithQuotes(start: number): number {
    const lineEnd = this.#lineEnd(start);
    if (lineEnd === INCOMPLETE) return INCOMPLETE;
    this.#doubled.length = 0;
    const end = this.#quoted(start);
    if (end >= 0) return end;
    if (end === INCOMPLETE) {
      if (!this.#isLast && this.#bytes.length - start <= MAX_RECORD_BYTES) return INCOMPLETE;
      this.#reason = this.#isLast ? 'a quoted cell that starts in this row has no closing quote' : TOO_LONG;
    }
    this.row += 1;
    this.#visitor.malformed(this.row, this.#reason);
    return lineEnd;
  }

  /**
   * Reads a record that has quotes and may span several lines.
   * @returns the same as `#record`, or MALFORMED. Also INCOMPLETE when the file ends before a closing quote.
   */
  #quoted(start: number): number {
    const bytes = this.#bytes;
    let cellCount = 0;
    let at = start;
    for (let column = 0; ; column += 1) {
      const isQuoted = bytes[at] === QUOTE;
      const end = isQuoted ? this.#quotedCell(at, column) : this.#bareCell(at, column);
      if (end < 0) return end;
      const textEnd = isQuoted || bytes[end] === this.#delimiter ? end : this.#withoutReturn(at, end);
      if (textEnd > at && !(isQuoted && this.#isEmptyQuoted(at))) cellCount = column + 1;
      if (end >= bytes.length || bytes[end] === this.#newline) {
        // Doubled quotes are replaced only in a complete record. An incomplete record is read again later. After a
        // malformed record, its second line and later lines are read again. Both need their original bytes.
        for (const doubled of this.#doubled) this.#halveQuotes(doubled);
        this.#visit(column + 1, cellCount);
        return end;
      }
      at = end + 1;
    }
  }

  /**
   * @returns the index of the delimiter, newline or end of file after the cell; INCOMPLETE if more bytes are needed.
   */
  #bareCell(start: number, column: number): number {
    const bytes = this.#bytes;
    let at = start;
    while (at < bytes.length && bytes[at] !== this.#delimiter && bytes[at] !== this.#newline) at += 1;
    if (at === bytes.length && !this.#isLast) return INCOMPLETE;
    this.#cut(column, start, bytes[at] === this.#delimiter ? at : this.#withoutReturn(start, at));
    return at;
  }

  /** @returns the same as `#bareCell`, or MALFORMED. */
  #quotedCell(start: number, column: number): number {
    const bytes = this.#bytes;
    const close = this.#closingQuote(start + 1, column);
    if (close < 0) return INCOMPLETE;
    let end = close + 1;
    if (this.#newline !== RETURN && bytes[end] === RETURN) end += 1;
    // The next byte decides whether this quote closes the cell.
    if (end >= bytes.length && !this.#isLast) return INCOMPLETE;
    const next = bytes[end];
    const isOver = next === undefined || next === this.#newline || (next === this.#delimiter && end === close + 1);
    if (!isOver) {
      this.#reason = `the cell in column ${column + 1} has text after its closing quote`;
      return MALFORMED;
    }
    this.#cut(column, start + 1, close);
    return end;
  }

  /** Skips doubled quotes, which do not close a cell. @returns the index of the closing quote; -1 if there is none. */
  #closingQuote(start: number, column: number): number {
    const bytes = this.#bytes;
    let isDoubled = false;
    for (let at = start; at < bytes.length; at += 1) {
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) {
        if (isDoubled && column < this.#columnLimit) this.#doubled.push(column);
        return at;
      }
      isDoubled = true;
      at += 1;
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

  #isEmptyQuoted(at: number): boolean {
    return this.#bytes[at + 1] === QUOTE && this.#bytes[at + 2] !== QUOTE;
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

  /** @returns the index of the next newline, or of the end of the file; INCOMPLETE when neither has been read yet. */
  #lineEnd(start: number): number {
    const found = this.#bytes.indexOf(this.#newline, start);
    if (found >= 0) return found;
    return this.#isLast ? this.#bytes.length : INCOMPLETE;
  }
}
