/** The rows of a worksheet: cells by column, each with its kind, as written. */
import { attributeOf, XmlScanner, type XmlVisitor } from './xml-scanner.ts';

/** What a cell holds: `shared` is the number of a text, `error` a text such as #N/A. */
export type CellKind = 'empty' | 'number' | 'shared' | 'text' | 'boolean' | 'error' | 'date';

export interface SheetCells {
  readonly kinds: CellKind[];
  /** As written in the XML. */
  readonly raws: string[];
  /** Numbers of cell styles. */
  readonly styles: number[];
}

export interface RowVisitor {
  /** The arrays are used again for the next row. @param row as the sheet numbers it. */
  row(row: number, cells: SheetCells): void;
}

// What a spreadsheet can have; a cell beyond is no cell.
const MAX_COLUMNS = 16_384;
const MAX_CELL_CHARACTERS = 1 << 17;
const [SPACE, LOWER_C, LOWER_R, LOWER_S, LOWER_T] = [0x20, 0x63, 0x72, 0x73, 0x74];

const KINDS: Readonly<Record<string, CellKind>> = {
  n: 'number',
  s: 'shared',
  str: 'text',
  inlineStr: 'text',
  b: 'boolean',
  e: 'error',
  d: 'date',
};

export class SheetScanner implements XmlVisitor {
  readonly cells: SheetCells = { kinds: [], raws: [], styles: [] };
  readonly #xml = new XmlScanner(this);
  readonly #visitor: RowVisitor;
  #wanted: Uint8Array | undefined;
  #row = 0;
  #column = -1;
  #kind: CellKind = 'empty';
  #style = 0;
  #raw = '';
  #isInCell = false;
  #isText = false;
  #phoneticDepth = 0;

  constructor(visitor: RowVisitor) {
    this.#visitor = visitor;
  }

  /** From now on only these columns are read: 1 for each that is. */
  want(wanted: Uint8Array): void {
    this.#wanted = wanted;
  }

  feed(piece: string): void {
    this.#xml.feed(piece);
  }

  end(): void {
    this.#xml.end();
  }

  open(name: string, attributes: string): void {
    if (name === 'c') this.#openCell(attributes);
    else if (name === 'v') this.#isText = this.#isInCell;
    else if (name === 't') this.#isText = this.#isInCell && this.#phoneticDepth === 0;
    else if (name === 'row') this.#openRow(attributes);
    else if (name === 'rPh') this.#phoneticDepth += 1;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isText = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'row') this.#visitor.row(this.#row, this.cells);
    else if (name === 'rPh') this.#phoneticDepth -= 1;
  }

  text(raw: string): void {
    if (this.#isText && this.#raw.length < MAX_CELL_CHARACTERS) this.#raw += raw;
  }

  /**
   * `<c r="B2" s="1" t="s"><v>12</v></c>`, as nearly every writer writes a cell, all at once: reading takes 40 % less
   * time than by single tags. Anything else is left to them.
   */
  take(text: string, start: number): number {
    if (text.charCodeAt(start + 1) !== LOWER_C) return -1;
    let place = start + 2;
    let column = this.#column + 1;
    let style = 0;
    let kind: CellKind = 'number';
    while (text.charCodeAt(place) === SPACE) {
      const name = text.charCodeAt(place + 1);
      const end = text.startsWith('="', place + 2) ? text.indexOf('"', place + 4) : -1;
      if (end < 0) return -1;
      if (name === LOWER_R) column = columnOf(text, place + 4);
      else if (name === LOWER_S) style = Number(text.slice(place + 4, end));
      else if (name === LOWER_T) kind = KINDS[text.slice(place + 4, end)] ?? 'text';
      else return -1;
      place = end + 1;
    }
    if (!text.startsWith('><v>', place)) return -1;
    const end = text.indexOf('<', place + 4);
    if (end < 0 || !text.startsWith('</v></c>', end)) return -1;
    this.#column = column;
    if (this.#isWanted(column)) this.#set(column, kind, text.slice(place + 4, end), style);
    return end + 8;
  }

  #openRow(attributes: string): void {
    const given = Number(attributeOf(attributes, 'r') ?? Number.NaN);
    this.#row = Number.isSafeInteger(given) && given > 0 ? given : this.#row + 1;
    this.#column = -1;
    this.cells.kinds.fill('empty');
  }

  #openCell(attributes: string): void {
    const reference = attributeOf(attributes, 'r');
    this.#column = reference === undefined ? this.#column + 1 : columnOf(reference, 0);
    this.#isInCell = this.#isWanted(this.#column);
    if (!this.#isInCell) return;
    this.#kind = KINDS[attributeOf(attributes, 't') ?? 'n'] ?? 'text';
    this.#style = Number(attributeOf(attributes, 's') ?? 0);
    this.#raw = '';
  }

  #closeCell(): void {
    if (this.#isInCell) this.#set(this.#column, this.#kind, this.#raw, this.#style);
    this.#isInCell = false;
  }

  #isWanted(column: number): boolean {
    return column >= 0 && column < MAX_COLUMNS && (this.#wanted === undefined || this.#wanted[column] === 1);
  }

  #set(column: number, kind: CellKind, raw: string, style: number): void {
    const { kinds, raws, styles } = this.cells;
    for (let between = kinds.length; between < column; between += 1) kinds[between] = 'empty';
    kinds[column] = raw === '' ? 'empty' : kind;
    raws[column] = raw;
    styles[column] = style;
  }
}

/** The column of the reference at `start`: `AB12` is in 27. */
function columnOf(text: string, start: number): number {
  let column = 0;
  for (let place = start; place < start + 4; place += 1) {
    const letter = text.charCodeAt(place) & ~0x20;
    if (!(letter >= 0x41 && letter <= 0x5a)) break;
    column = column * 26 + letter - 0x40;
  }
  return column - 1;
}
