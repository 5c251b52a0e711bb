/**
 * Reads the rows of a workbook with the streaming reader of exceljs. The reader gets the relationships and the shared
 * strings of the workbook before the sheets. Otherwise the reader would write the sheets to temporary files, and this
 * process must not write files. The archive is checked before it is read.
 */
import { Readable } from 'node:stream';
import type Excel from 'exceljs';
import {
  ArchiveRefusal,
  openZipArchive,
  type PartSource,
  type ZipArchive,
} from '../../../platform/streaming/zip-archive.ts';
import { cellPath, readCell } from '../document/cells.ts';
import { CONTINUED, LIST_NAMES, type ListName, listMembers } from '../document/kinds.ts';
import { type DocumentLimits, DocumentRefusal } from './document-refusal.ts';
import type { DocumentNote } from './reading-messages.ts';
import { kindCalled, type RowBatches } from './row-batches.ts';

/** Maximum number of columns that are read from a sheet; further columns are ignored. */
const MAX_COLUMNS = 200;
const MAX_HEADER_CHARACTERS = 100;
/** Maximum number of characters of the list of sheet names in an error message. */
const MAX_NAMES_CHARACTERS = 200;

type Columns = Record<string, Record<string, string>>;

/**
 * Adds every row of the sheets `catalogues`, `forms`, `sites`, `sources` and `variables` to `batches`. A sheet such as
 * `variables 2` continues the sheet `variables`. Sheets with other names are ignored.
 * @returns the letters of the columns, by sheet and name of the member, such as `timeZoneId`.
 * @throws {DocumentRefusal} wrong_format, encrypted, zip_bomb, damaged_file, too_large, empty_document.
 */
export async function readWorkbookRows(
  source: PartSource,
  limits: DocumentLimits,
  batches: RowBatches,
): Promise<DocumentNote['columns']> {
  const columns: Columns = {};
  let place = 'the workbook';
  try {
    const archive = await openZipArchive(source, limits);
    const reader = await openReader(archive);
    let readBytes = 0;
    const total = Math.max(
      1,
      reader.sheets.reduce((sum, { entry }) => sum + archive.sizeOf(entry), 0),
    );
    for (const { name, kind, entry } of reader.sheets) {
      const rows = new SheetRows(name, kind, batches, columns);
      place = `the sheet ${name}`;
      const pieces = decoded(archive, entry, (bytes) => {
        readBytes += bytes;
        batches.bytes = Math.floor((source.sizeBytes * Math.min(readBytes, total)) / total);
      });
      for await (const row of reader.rowsOf(pieces)) {
        await rows.add(row);
        place = `the part of the sheet ${name} after row ${row.number}`;
      }
      await rows.end();
    }
    if (reader.sheets.length === 0)
      throw new DocumentRefusal(
        'empty_document',
        `the workbook must have a sheet named catalogues, forms, sites, sources or variables, got ${reader.names}`,
      );
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw new DocumentRefusal(error.code, error.message);
    if (error instanceof DocumentRefusal || error instanceof RangeError || !(error instanceof Error)) throw error;
    // exceljs throws plain errors for XML that it cannot read.
    throw new DocumentRefusal('damaged_file', `${place} cannot be read: ${error.message.slice(0, 200)}`);
  }
  return columns;
}

/** Members of exceljs's WorkbookReader that its types leave out. */
interface ReaderParts {
  readonly workbookRels?: readonly { readonly Id: string; readonly Target: string }[];
  readonly model?: { readonly sheets?: readonly { readonly rId: string; readonly name: string }[] };
  sharedStrings?: unknown[];
  _parseRels(entry: Readable): Promise<void>;
  _parseWorkbook(entry: Readable): Promise<void>;
  _parseSharedStrings(entry: Readable): AsyncGenerator<unknown>;
  _parseWorksheet(
    pieces: AsyncIterable<string>,
    number: string,
  ): Generator<{ readonly value: AsyncIterable<Excel.Row> }>;
}

interface Sheet {
  readonly name: string;
  readonly kind: ListName;
  /** Name of the sheet's entry in the archive. */
  readonly entry: string;
}

const WORKBOOK = 'xl/workbook.xml';
const RELATIONS = 'xl/_rels/workbook.xml.rels';
const SHARED = 'xl/sharedStrings.xml';

async function openReader(archive: ZipArchive) {
  if (!archive.has(WORKBOOK) || !archive.has(RELATIONS))
    throw new DocumentRefusal(
      'wrong_format',
      'the document must be an xlsx workbook, got a zip archive of another kind',
    );
  const { default: excel } = await import('exceljs');
  const options = { worksheets: 'emit', sharedStrings: 'cache', hyperlinks: 'ignore', styles: 'ignore' } as const;
  const reader = new excel.stream.xlsx.WorkbookReader(Readable.from([]), options as never) as unknown as ReaderParts;
  const open = (name: string) => Readable.from(decoded(archive, name));
  await reader._parseRels(open(RELATIONS));
  await reader._parseWorkbook(open(WORKBOOK));
  reader.sharedStrings = [];
  if (archive.has(SHARED)) for await (const _text of reader._parseSharedStrings(open(SHARED)));
  const targets = new Map(reader.workbookRels?.map(({ Id, Target }) => [Id, Target]));
  const { sheets: listed = [] } = reader.model ?? {};
  const names = listed.map(({ name }) => JSON.stringify(name));
  const sheets = listed.flatMap(({ rId, name }): Sheet[] => {
    const kind = kindCalled(name);
    const target = targets.get(rId);
    const entry = target?.startsWith('/') ? target.slice(1) : `xl/${target}`;
    if (!kind) return [];
    if (archive.has(entry)) return [{ name, kind, entry }];
    throw new DocumentRefusal('damaged_file', `the workbook lists the sheet ${name}, but does not contain its rows`);
  });
  return {
    names: names.join(', ').slice(0, MAX_NAMES_CHARACTERS),
    // Catalogues come first and variables last, whatever the order of the sheets in the workbook.
    sheets: sheets.toSorted((a, b) => LIST_NAMES.indexOf(a.kind) - LIST_NAMES.indexOf(b.kind)),
    rowsOf: async function* (pieces: AsyncIterable<string>): AsyncGenerator<Excel.Row> {
      for (const { value } of reader._parseWorksheet(escaped(pieces), '1')) yield* value;
    },
  };
}

/**
 * Decodes an entry of the archive as UTF-8. exceljs would decode each piece separately, and so garble a character whose
 * bytes are split between two pieces.
 */
async function* decoded(
  archive: ZipArchive,
  name: string,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of archive.read(name)) {
    onBytes(piece.length);
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

const LONGEST_ENTITY = 8;

/** Escapes named entities once more: exceljs decodes the texts of a sheet twice, and would read `&amp;lt;` as `<`. */
async function* escaped(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const text = rest + piece;
    const start = text.lastIndexOf('&');
    const isCut = start >= text.length - LONGEST_ENTITY && !text.includes(';', start);
    rest = isCut && start >= 0 ? text.slice(start) : '';
    yield text.slice(0, text.length - rest.length).replace(/&(?=[a-z]+;)/g, '&amp;');
  }
  yield rest;
}

/** Collects the cells of a sheet into rows. Each row waits for the next row, which may continue it. */
class SheetRows {
  readonly #name: string;
  readonly #kind: ListName;
  readonly #batches: RowBatches;
  readonly #columns: Columns;
  /** Column names by column number; undefined until the header is read. */
  #header: readonly (string | undefined)[] | undefined;
  #waiting: { readonly row: number; readonly cells: Map<string, unknown> } | undefined;

  constructor(name: string, kind: ListName, batches: RowBatches, columns: Columns) {
    this.#name = name;
    this.#kind = kind;
    this.#batches = batches;
    this.#columns = columns;
  }

  async add(row: Excel.Row): Promise<void> {
    const values = row.values as readonly unknown[];
    if (!values.some((value) => value !== undefined && value !== null)) return;
    if (!this.#header) {
      this.#readHeader(values);
      return;
    }
    const cells = new Map<string, unknown>();
    for (const [column, name] of this.#header.entries()) if (name) cells.set(name, plainValue(values[column]));
    if (cells.get(CONTINUED) === true && this.#waiting) this.#continue(cells);
    else {
      await this.end();
      this.#waiting = { row: row.number, cells };
    }
  }

  /** Passes on the row that waits, if there is one. */
  async end(): Promise<void> {
    if (!this.#waiting) return;
    const { row, cells } = this.#waiting;
    this.#waiting = undefined;
    const members: Record<string, unknown> = {};
    for (const [name, cell] of cells) {
      if (name === CONTINUED) continue;
      const value = readCell(this.#kind, name, cell);
      if (value !== undefined) members[name] = value;
    }
    const letters = this.#columns[this.#name] ?? {};
    const pathOf = (member: string) => cellPath(this.#name, row, member, letters);
    await this.#batches.add(this.#kind, `${this.#name}!${row}`, pathOf, members);
  }

  #readHeader(values: readonly unknown[]): void {
    const known = new Map([...listMembers(this.#kind), CONTINUED].map((name) => [name.toLowerCase(), name]));
    // Without a prototype, so that a column named `constructor` is not found before it is added.
    const letters: Record<string, string> = Object.create(null);
    this.#header = values.slice(0, MAX_COLUMNS + 1).map((value, column) => {
      const given = String(plainValue(value) ?? '')
        .trim()
        .slice(0, MAX_HEADER_CHARACTERS);
      if (given === '') return undefined;
      const name = known.get(given.toLowerCase()) ?? given;
      const letter = columnLetter(column);
      if (letters[name] !== undefined)
        throw new DocumentRefusal(
          'wrong_format',
          `the sheet ${this.#name} must have at most one column of each name, got ${name} in ${letters[name]} and in ${letter}`,
        );
      letters[name] = letter;
      return name;
    });
    this.#columns[this.#name] = letters;
  }

  #continue(cells: ReadonlyMap<string, unknown>): void {
    const whole = this.#waiting?.cells;
    for (const [name, cell] of cells) {
      if (name === CONTINUED || cell === null || cell === undefined) continue;
      whole?.set(name, `${whole.get(name) ?? ''}${String(cell)}`);
    }
  }
}

/**
 * An escaped character such as `_x000D_` (ECMA-376 part 1, 22.9.2.19). `workbook-writer.ts` writes such characters;
 * exceljs does not decode them.
 */
const ESCAPED = /_x([\dA-Fa-f]{4})_/g;

function decodeEscape(_escape: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

/** @returns the plain value of a cell, such as the text of a link, the result of a formula or the code of an error. */
function plainValue(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value.replace(ESCAPED, decodeEscape);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  const { richText, result, text, error } = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(richText))
    return richText.map((run: { readonly text?: unknown }) => plainValue(String(run.text ?? ''))).join('');
  if (result !== undefined) return plainValue(result);
  if (text !== undefined) return plainValue(text);
  return error === undefined ? null : String(error);
}

/** @returns the letters of a column: 1 gives A, 27 gives AA. */
function columnLetter(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return `${rest > 0 ? columnLetter(rest) : ''}${String.fromCharCode(65 + ((column - 1) % 26))}`;
}
