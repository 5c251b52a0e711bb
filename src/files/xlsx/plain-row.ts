/**
 * Reads plain rows from bytes. A plain row has the form that nearly every program writes: `<row r="2"><c r="A2" s="1"
 * t="s"><v>12</v></c><c t="inlineStr"><is><t>x</t></is></c></row>`. This file takes a sixth of the time of
 * `xml-rows.ts`, which reads rows in any form. For plain rows, both files return the same cells.
 */
import { KIND, MAX_CELL_BYTES, MAX_COLUMNS, type SheetRow } from './sheet-cells.ts';

const ROW = Buffer.from('<row');
const ROW_END = Buffer.from('</row>');
const CELL = Buffer.from('<c');
const EMPTY_END = Buffer.from('/>');
const VALUE = Buffer.from('<v>');
const VALUE_END = Buffer.from('</v></c>');
const INLINE = Buffer.from('<is><t');
const INLINE_END = Buffer.from('</t></is></c>');
const PRESERVE = Buffer.from(' xml:space="preserve"');
const FORMULA = Buffer.from('<f');
const FORMULA_END = Buffer.from('</f>');
const [SPACE, QUOTE, ZERO, LESS, EQUALS, GREATER] = [0x20, 0x22, 0x30, 0x3c, 0x3d, 0x3e];
const [LOWER_C, LOWER_R, LOWER_S, LOWER_T] = [0x63, 0x72, 0x73, 0x74];
const KINDS: ReadonlyMap<string, number> = new Map([
  ['n', KIND.number],
  ['s', KIND.shared],
  ['str', KIND.text],
  ['inlineStr', KIND.text],
  ['b', KIND.boolean],
  ['e', KIND.error],
  ['d', KIND.date],
]);
/** Functions return this instead of an index when the row is not plain or is incomplete. */
const NOT_PLAIN = -1;

/** Reads one plain row at a time into a `SheetRow`. */
export class PlainRows {
  readonly #row: SheetRow;
  /** Number of the row that was read last. */
  rowNumber = 0;
  #column = -1;

  constructor(row: SheetRow) {
    this.#row = row;
  }

  /** Reads the row at `start`. @returns the index after the row; -1 when the row is not plain or is incomplete. */
  read(bytes: Buffer, start: number): number {
    let at = start;
    while ((bytes[at] as number) <= SPACE) at += 1;
    if (!isAt(bytes, at, ROW)) return NOT_PLAIN;
    const before = this.rowNumber;
    at = this.#openRow(bytes, at + ROW.length);
    if (at < 0) return NOT_PLAIN;
    this.#row.begin(bytes);
    this.#column = -1;
    let cells = 0;
    for (; at >= 0 && bytes[at] === LESS && bytes[at + 1] === LOWER_C; cells += 1) at = this.#cell(bytes, at);
    // A row with too many cells counts as not plain: `xml-rows.ts` then reads the row and refuses it.
    if (cells > MAX_COLUMNS) at = NOT_PLAIN;
    if (at >= 0 && isAt(bytes, at, ROW_END)) return at + ROW_END.length;
    this.rowNumber = before;
    return NOT_PLAIN;
  }

  /** Reads the start tag of a row. @returns the index after the tag, or NOT_PLAIN. */
  #openRow(bytes: Buffer, start: number): number {
    let at = start;
    let given = 0;
    while (bytes[at] === SPACE) {
      let equals = at + 1;
      while (isInName(bytes[equals])) equals += 1;
      if (bytes[equals] !== EQUALS || bytes[equals + 1] !== QUOTE) return NOT_PLAIN;
      const end = indexOfByte(bytes, QUOTE, equals + 2);
      if (end < 0) return NOT_PLAIN;
      if (equals === at + 2 && bytes[at + 1] === LOWER_R) given = digits(bytes, equals + 2, end);
      at = end + 1;
    }
    if (bytes[at] !== GREATER || Number.isNaN(given)) return NOT_PLAIN;
    this.rowNumber = given > 0 ? given : this.rowNumber + 1;
    return at + 1;
  }

  /** Reads a cell. @returns the index after the cell, or NOT_PLAIN. */
  #cell(bytes: Buffer, start: number): number {
    let at = start + CELL.length;
    let column = this.#column + 1;
    let style = 0;
    let kind: number = KIND.number;
    while (bytes[at] === SPACE) {
      const name = bytes[at + 1];
      if (bytes[at + 2] !== EQUALS || bytes[at + 3] !== QUOTE) return NOT_PLAIN;
      const end = indexOfByte(bytes, QUOTE, at + 4);
      if (end < 0) return NOT_PLAIN;
      if (name === LOWER_R) column = columnAt(bytes, at + 4);
      else if (name === LOWER_S) style = digits(bytes, at + 4, end);
      else if (name === LOWER_T) kind = kindAt(bytes, at + 4, end);
      else return NOT_PLAIN;
      at = end + 1;
    }
    if (column < 0 || Number.isNaN(style)) return NOT_PLAIN;
    this.#column = column;
    if (isAt(bytes, at, EMPTY_END)) {
      if (this.#row.isWanted(column)) this.#row.set(column, KIND.empty, 0, 0, 0);
      return at + EMPTY_END.length;
    }
    return bytes[at] === GREATER ? this.#content(bytes, at + 1, column, kind, style) : NOT_PLAIN;
  }

  #content(bytes: Buffer, start: number, column: number, kind: number, style: number): number {
    let at = start;
    if (isAt(bytes, at, FORMULA)) {
      const end = indexOfByte(bytes, LESS, at + 1);
      if (end < 0 || isInName(bytes[at + FORMULA.length]) || !isAt(bytes, end, FORMULA_END)) return NOT_PLAIN;
      at = end + FORMULA_END.length;
    }
    let closing = VALUE_END;
    if (isAt(bytes, at, VALUE)) at += VALUE.length;
    else if (isAt(bytes, at, INLINE)) {
      at += INLINE.length;
      if (isAt(bytes, at, PRESERVE)) at += PRESERVE.length;
      if (bytes[at] !== GREATER) return NOT_PLAIN;
      at += 1;
      closing = INLINE_END;
    } else return NOT_PLAIN;
    const end = indexOfByte(bytes, LESS, at);
    if (end < 0 || end - at >= MAX_CELL_BYTES || !isAt(bytes, end, closing)) return NOT_PLAIN;
    if (this.#row.isWanted(column)) this.#row.set(column, kind, at, end, style);
    return end + closing.length;
  }
}

/**
 * @returns the index of the next `byte`; -1 when there is none. For the few bytes of an attribute, this function is
 * faster than `indexOf`.
 */
function indexOfByte(bytes: Buffer, byte: number, start: number): number {
  for (let at = start; at < bytes.length; at += 1) if (bytes[at] === byte) return at;
  return -1;
}

function isAt(bytes: Buffer, at: number, what: Buffer): boolean {
  for (let index = 0; index < what.length; index += 1) if (bytes[at + index] !== what[index]) return false;
  return true;
}

/** Returns true for a byte of a plain name: an ASCII letter, a digit, `:`, `_` or `-`. */
function isInName(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= ZERO && byte <= 0x3a) || byte === 0x5f || byte === 0x2d;
}

function kindAt(bytes: Buffer, start: number, end: number): number {
  if (end === start + 1 && bytes[start] === LOWER_S) return KIND.shared;
  return kindOf(bytes.toString('latin1', start, end));
}

/**
 * Returns the `KIND` of a cell.
 * @param type the cell's attribute `t`; undefined when it is absent.
 */
export function kindOf(type: string | undefined): number {
  return KINDS.get(type ?? 'n') ?? KIND.text;
}

/** Reads 1 to 9 digits. @returns NaN for anything else. */
function digits(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > 9) return Number.NaN;
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Returns the column index, from 0, of the cell reference at `start`: 27 for `AB12`; -1 when it has no letters. */
export function columnAt(bytes: Uint8Array, start: number): number {
  let column = 0;
  for (let at = start; at < start + 4; at += 1) {
    const letter = (bytes[at] as number) & ~0x20;
    if (!(letter >= 0x41 && letter <= 0x5a)) break;
    column = column * 26 + letter - 0x40;
  }
  return column - 1;
}
