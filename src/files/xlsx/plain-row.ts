/**
 * Rows as nearly every writer writes them, from their bytes:
 * `<row r="2"><c r="A2" s="1" t="s"><v>12</v></c><c t="inlineStr"><is><t>x</t></is></c></row>`, in a fifth of the time that
 * single tags take. Anything else is left to `xml-rows.ts`, whole rows at a time; both say the same of what both can read.
 */
import { KIND, MAX_CELL_BYTES, type SheetRow } from './sheet-cells.ts';

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
const UNUSUAL = -1;

export class PlainRows {
  readonly #row: SheetRow;
  /** Of the row read last. */
  rowNumber = 0;
  #column = -1;

  constructor(row: SheetRow) {
    this.#row = row;
  }

  /** Reads the row at `start`. @returns the place after it, -1 when it is written otherwise or not all there. */
  read(bytes: Buffer, start: number): number {
    let place = start;
    while ((bytes[place] as number) <= SPACE) place += 1;
    if (!isAt(bytes, place, ROW)) return UNUSUAL;
    const before = this.rowNumber;
    place = this.#openRow(bytes, place + ROW.length);
    if (place < 0) return UNUSUAL;
    this.#row.begin(bytes);
    this.#column = -1;
    while (place >= 0 && bytes[place] === LESS && bytes[place + 1] === LOWER_C) place = this.#cell(bytes, place);
    if (place >= 0 && isAt(bytes, place, ROW_END)) return place + ROW_END.length;
    this.rowNumber = before;
    return UNUSUAL;
  }

  /** @returns the place after the `>`. */
  #openRow(bytes: Buffer, start: number): number {
    let place = start;
    let given = 0;
    while (bytes[place] === SPACE) {
      let equals = place + 1;
      while (isInName(bytes[equals])) equals += 1;
      if (bytes[equals] !== EQUALS || bytes[equals + 1] !== QUOTE) return UNUSUAL;
      const end = placeOf(bytes, QUOTE, equals + 2);
      if (end < 0) return UNUSUAL;
      if (equals === place + 2 && bytes[place + 1] === LOWER_R) given = digits(bytes, equals + 2, end);
      place = end + 1;
    }
    if (bytes[place] !== GREATER || Number.isNaN(given)) return UNUSUAL;
    this.rowNumber = given > 0 ? given : this.rowNumber + 1;
    return place + 1;
  }

  /** @returns the place after the cell. */
  #cell(bytes: Buffer, start: number): number {
    let place = start + CELL.length;
    let column = this.#column + 1;
    let style = 0;
    let kind: number = KIND.number;
    while (bytes[place] === SPACE) {
      const name = bytes[place + 1];
      if (bytes[place + 2] !== EQUALS || bytes[place + 3] !== QUOTE) return UNUSUAL;
      const end = placeOf(bytes, QUOTE, place + 4);
      if (end < 0) return UNUSUAL;
      if (name === LOWER_R) column = columnAt(bytes, place + 4);
      else if (name === LOWER_S) style = digits(bytes, place + 4, end);
      else if (name === LOWER_T) kind = kindAt(bytes, place + 4, end);
      else return UNUSUAL;
      place = end + 1;
    }
    if (column < 0 || Number.isNaN(style)) return UNUSUAL;
    this.#column = column;
    if (isAt(bytes, place, EMPTY_END)) {
      if (this.#row.isWanted(column)) this.#row.set(column, KIND.empty, 0, 0, 0);
      return place + EMPTY_END.length;
    }
    return bytes[place] === GREATER ? this.#content(bytes, place + 1, column, kind, style) : UNUSUAL;
  }

  #content(bytes: Buffer, start: number, column: number, kind: number, style: number): number {
    let place = start;
    if (isAt(bytes, place, FORMULA)) {
      const end = placeOf(bytes, LESS, place + 1);
      if (end < 0 || isInName(bytes[place + FORMULA.length]) || !isAt(bytes, end, FORMULA_END)) return UNUSUAL;
      place = end + FORMULA_END.length;
    }
    let closing = VALUE_END;
    if (isAt(bytes, place, VALUE)) place += VALUE.length;
    else if (isAt(bytes, place, INLINE)) {
      place += INLINE.length;
      if (isAt(bytes, place, PRESERVE)) place += PRESERVE.length;
      if (bytes[place] !== GREATER) return UNUSUAL;
      place += 1;
      closing = INLINE_END;
    } else return UNUSUAL;
    const end = placeOf(bytes, LESS, place);
    if (end < 0 || end - place >= MAX_CELL_BYTES || !isAt(bytes, end, closing)) return UNUSUAL;
    if (this.#row.isWanted(column)) this.#row.set(column, kind, place, end, style);
    return end + closing.length;
  }
}

/** Where the byte is next, -1 when nowhere: a few bytes further, which calling `indexOf` would take ten times as long for. */
function placeOf(bytes: Buffer, byte: number, start: number): number {
  for (let place = start; place < bytes.length; place += 1) if (bytes[place] === byte) return place;
  return -1;
}

function isAt(bytes: Buffer, place: number, what: Buffer): boolean {
  for (let index = 0; index < what.length; index += 1) if (bytes[place + index] !== what[index]) return false;
  return true;
}

/** Letters, digits, and what else names of attributes are made of. */
function isInName(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (byte >= ZERO && byte <= 0x3a) || byte === 0x5f || byte === 0x2d;
}

function kindAt(bytes: Buffer, start: number, end: number): number {
  if (end === start + 1 && bytes[start] === LOWER_S) return KIND.shared;
  return kindOf(bytes.toString('latin1', start, end));
}

/** What a cell of this type holds; `undefined` is the type not given. */
export function kindOf(type: string | undefined): number {
  return KINDS.get(type ?? 'n') ?? KIND.text;
}

/** @returns NaN for anything else. */
function digits(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > 9) return Number.NaN;
  let value = 0;
  for (let place = start; place < end; place += 1) {
    const digit = (bytes[place] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** The column of the reference at `start`: `AB12` is in 27. */
export function columnAt(bytes: Uint8Array, start: number): number {
  let column = 0;
  for (let place = start; place < start + 4; place += 1) {
    const letter = (bytes[place] as number) & ~0x20;
    if (!(letter >= 0x41 && letter <= 0x5a)) break;
    column = column * 26 + letter - 0x40;
  }
  return column - 1;
}
