/**
 * Cuts CSV text into records (RFC 4180), piece by piece. Only the columns asked for are cut out. A record that breaks the
 * rules of quoting is reported, and reading goes on with the line after its first: a stray quote spoils one row, not all
 * that follow. The next newline, delimiter and quote are looked for once each, so the time stays linear in the text.
 */

export interface Dialect {
  readonly delimiter: string;
  readonly newline: '\n' | '\r';
}

export interface RecordVisitor {
  /** @param cells by column; those not wanted are absent. @param cellCount without empty ones at the end. */
  record(row: number, cells: readonly string[], cellCount: number): void;
  malformed(row: number, reason: string): void;
}

/** Longest record in bytes: what goes on for longer is no row of measurements, and must not fill the memory. */
export const MAX_RECORD_BYTES = 1 << 20;

const QUOTE = '"';
const [QUOTE_CODE, RETURN_CODE] = [0x22, 0x0d];
const INCOMPLETE = -1;
const MALFORMED = -2;

export class RecordScanner {
  readonly #dialect: Dialect;
  readonly #wanted: Uint8Array | undefined;
  readonly #visitor: RecordVisitor;
  readonly #cells: string[] = [];
  #text = '';
  #isLast = false;
  #isSkipping = false;
  #nextNewline = 0;
  #nextDelimiter = 0;
  #nextQuote = 0;
  #reason = '';
  /** Bytes before the next record. */
  offset: number;
  /** Number of the last record. */
  row: number;

  /** @param wanted 1 for each column to be cut out; undefined cuts out all. */
  constructor(
    dialect: Dialect,
    wanted: Uint8Array | undefined,
    visitor: RecordVisitor,
    start: { readonly offset: number; readonly row: number },
  ) {
    this.#dialect = dialect;
    this.#wanted = wanted;
    this.#visitor = visitor;
    this.offset = start.offset;
    this.row = start.row;
  }

  /** Takes the next piece of the file as latin1 text, and visits the records it completes. */
  feed(piece: string, isLast: boolean): void {
    this.#text += piece;
    this.#isLast = isLast;
    this.#nextNewline = this.#nextDelimiter = this.#nextQuote = -1;
    const { length } = this.#text;
    let place = 0;
    while (place < length) {
      const lineEnd = this.#newlineFrom(place);
      if (lineEnd === Infinity && !isLast) break;
      const end = this.#record(place, Math.min(lineEnd, length));
      if (end === INCOMPLETE) break;
      const next = Math.min(end + 1, length);
      this.offset += next - place;
      place = next;
    }
    this.#keep(this.#text.slice(place));
  }

  /** @returns the place of the newline that ends the record, or INCOMPLETE. */
  #record(start: number, lineEnd: number): number {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return lineEnd;
    }
    if (this.#quoteFrom(start) >= lineEnd) return this.#plain(start, lineEnd);
    const end = this.#quoted(start);
    if (end >= 0) return end;
    if (end === INCOMPLETE) {
      if (!this.#isLast && this.#text.length - start <= MAX_RECORD_BYTES) return INCOMPLETE;
      this.#reason = 'a quoted cell that begins in this row is not closed';
    }
    this.row += 1;
    this.#visitor.malformed(this.row, this.#reason);
    return lineEnd;
  }

  /** A record without quotes: one line. */
  #plain(start: number, lineEnd: number): number {
    const end = this.#withoutReturn(start, lineEnd);
    let column = 0;
    let cellCount = 0;
    for (let place = start; ; column += 1) {
      const cellEnd = Math.min(this.#delimiterFrom(place), end);
      if (this.#isWanted(column)) this.#cells[column] = this.#text.slice(place, cellEnd);
      if (cellEnd > place) cellCount = column + 1;
      if (cellEnd === end) break;
      place = cellEnd + 1;
    }
    this.#visit(column + 1, cellCount);
    return lineEnd;
  }

  /** A record with quotes, of one line or more. */
  #quoted(start: number): number {
    const { length } = this.#text;
    let cellCount = 0;
    let place = start;
    for (let column = 0; ; column += 1) {
      const isQuoted = this.#text.charCodeAt(place) === QUOTE_CODE;
      const end = isQuoted ? this.#quotedCell(place, column) : this.#bareCell(place, column);
      if (end < 0) return end;
      if (end > place && !(isQuoted && this.#isEmptyQuoted(place))) cellCount = column + 1;
      if (end >= length || this.#text.charAt(end) === this.#dialect.newline) {
        this.#visit(column + 1, cellCount);
        return end;
      }
      place = end + 1;
    }
  }

  /** @returns the place of the delimiter or newline after the cell. */
  #bareCell(place: number, column: number): number {
    const newline = this.#newlineFrom(place);
    if (newline === Infinity && !this.#isLast) return INCOMPLETE;
    const rowEnd = Math.min(newline, this.#text.length);
    const cut = this.#delimiterFrom(place);
    if (this.#isWanted(column)) {
      const cellEnd = cut < rowEnd ? cut : this.#withoutReturn(place, rowEnd);
      this.#cells[column] = this.#text.slice(place, cellEnd);
    }
    return Math.min(cut, rowEnd);
  }

  /** @returns the place of the delimiter or newline after the cell. */
  #quotedCell(place: number, column: number): number {
    const text = this.#text;
    const close = closingQuote(text, place + 1);
    if (close < 0) return INCOMPLETE;
    let end = close + 1;
    if (this.#dialect.newline === '\n' && text.charCodeAt(end) === RETURN_CODE) end += 1;
    // What comes next may decide whether this was the end.
    if (end >= text.length && !this.#isLast) return INCOMPLETE;
    const next = text.charAt(end);
    const isOver =
      next === '' || next === this.#dialect.newline || (next === this.#dialect.delimiter && end === close + 1);
    if (!isOver) {
      this.#reason = `text follows the closing quote in column ${column + 1}`;
      return MALFORMED;
    }
    if (this.#isWanted(column)) this.#cells[column] = text.slice(place + 1, close).replaceAll('""', QUOTE);
    return end;
  }

  #isEmptyQuoted(place: number): boolean {
    return this.#text.charCodeAt(place + 1) === QUOTE_CODE && this.#text.charCodeAt(place + 2) !== QUOTE_CODE;
  }

  #visit(columns: number, cellCount: number): void {
    this.row += 1;
    for (let column = columns; column < this.#cells.length; column += 1) this.#cells[column] = '';
    this.#visitor.record(this.row, this.#cells, cellCount);
  }

  #keep(rest: string): void {
    this.#text = rest;
    if (this.#isLast || rest.length <= MAX_RECORD_BYTES) return;
    if (!this.#isSkipping) {
      this.row += 1;
      this.#visitor.malformed(this.row, `the row is longer than ${MAX_RECORD_BYTES} bytes`);
    }
    this.#isSkipping = true;
    this.offset += rest.length;
    this.#text = '';
  }

  #isWanted(column: number): boolean {
    return this.#wanted === undefined || this.#wanted[column] === 1;
  }

  #withoutReturn(start: number, end: number): number {
    return end > start && this.#text.charCodeAt(end - 1) === RETURN_CODE ? end - 1 : end;
  }

  #newlineFrom(place: number): number {
    if (this.#nextNewline < place) this.#nextNewline = placeOf(this.#text, this.#dialect.newline, place);
    return this.#nextNewline;
  }

  #delimiterFrom(place: number): number {
    if (this.#nextDelimiter < place) this.#nextDelimiter = placeOf(this.#text, this.#dialect.delimiter, place);
    return this.#nextDelimiter;
  }

  #quoteFrom(place: number): number {
    if (this.#nextQuote < place) this.#nextQuote = placeOf(this.#text, QUOTE, place);
    return this.#nextQuote;
  }
}

/** Infinity when there is none. */
function placeOf(text: string, what: string, from: number): number {
  const place = text.indexOf(what, from);
  return place < 0 ? Infinity : place;
}

/** The quote that ends a quoted cell; two in a row stand for one inside it. */
function closingQuote(text: string, start: number): number {
  let place = text.indexOf(QUOTE, start);
  while (place >= 0 && text.charCodeAt(place + 1) === QUOTE_CODE) place = text.indexOf(QUOTE, place + 2);
  return place;
}
