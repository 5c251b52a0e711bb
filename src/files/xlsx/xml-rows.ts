/** Reads worksheet rows in any XML form, tag by tag. `plain-row.ts` reads the usual form faster. */
import { columnAt, kindOf } from './plain-row.ts';
import { KIND, MAX_CELL_BYTES, MAX_COLUMNS, MAX_ROW_BYTES, type RowVisitor, type SheetRow } from './sheet-cells.ts';
import { attributeOf, damaged, XmlScanner, type XmlVisitor } from './xml-scanner.ts';

/**
 * Fills the `SheetRow` and passes each complete row to the visitor.
 * @throws {FileRefusal} damaged_file when a row has too many cells or too much text. Also throws the errors of
 *   `XmlScanner` and of the visitor.
 */
export class XmlRows implements XmlVisitor {
  readonly #xml = new XmlScanner(this);
  readonly #row: SheetRow;
  readonly #visitor: RowVisitor;
  /** Texts of the current row's cells in wanted columns. The offsets for `SheetRow.set` refer to the joined texts. */
  #raws: string[] = [];
  #size = 0;
  /** Number of cells of the current row so far. */
  #cells = 0;
  #column = -1;
  #kind: number = KIND.empty;
  #style = 0;
  #raw = '';
  #isInRow = false;
  #isInCell = false;
  #isText = false;
  #phoneticDepth = 0;
  /** Number of the current row, or of the last row when none is open. */
  rowNumber = 0;

  constructor(row: SheetRow, visitor: RowVisitor) {
    this.#row = row;
    this.#visitor = visitor;
  }

  /** True when the next byte is outside of rows and tags, so that `plain-row.ts` may read it. */
  get isBetweenRows(): boolean {
    return !this.#isInRow && this.#xml.isBetweenTags;
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
    else if (name === 'row') this.#closeRow();
    else if (name === 'rPh') this.#phoneticDepth -= 1;
  }

  text(raw: string): void {
    if (this.#isText && this.#raw.length < MAX_CELL_BYTES) this.#raw += raw;
  }

  #openRow(attributes: string): void {
    const given = Number(attributeOf(attributes, 'r') ?? Number.NaN);
    this.rowNumber = Number.isSafeInteger(given) && given > 0 ? given : this.rowNumber + 1;
    this.#isInRow = true;
    this.#column = -1;
    this.#raws = [];
    this.#size = 0;
    this.#cells = 0;
    this.#row.begin(Buffer.alloc(0));
  }

  #closeRow(): void {
    this.#isInRow = false;
    this.#row.bytes = Buffer.from(this.#raws.join(''), 'latin1');
    this.#visitor.row(this.rowNumber, this.#row);
  }

  #openCell(attributes: string): void {
    this.#cells += 1;
    // Counts the cells, not the different cell references, because many cells may have the same reference.
    if (this.#cells > MAX_COLUMNS) throw damaged(`row ${this.rowNumber} has more than ${MAX_COLUMNS} cells`);
    const reference = attributeOf(attributes, 'r');
    this.#column = reference === undefined ? this.#column + 1 : columnAt(Buffer.from(reference), 0);
    this.#isInCell = this.#row.isWanted(this.#column);
    if (!this.#isInCell) return;
    this.#kind = kindOf(attributeOf(attributes, 't'));
    this.#style = Number(attributeOf(attributes, 's') ?? 0);
    this.#raw = '';
  }

  #closeCell(): void {
    if (this.#isInCell) {
      this.#raws.push(this.#raw);
      const start = this.#size;
      this.#size += this.#raw.length;
      if (this.#size > MAX_ROW_BYTES)
        throw damaged(`row ${this.rowNumber} has more than ${MAX_ROW_BYTES} bytes of text`);
      this.#row.set(this.#column, this.#kind, start, this.#size, this.#style);
    }
    this.#isInCell = false;
  }
}
