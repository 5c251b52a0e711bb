/**
 * Writes rows as an Excel workbook (xlsx) while they arrive, with the streaming writer of exceljs. Memory does not grow
 * with the number of rows: reading pauses while the ZIP archive is compressed or the client is slow. A sheet holds
 * 1,048,576 rows including its header; further rows are on the sheets `<name> 2`, `<name> 3`, … with the same header.
 */
import { once } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Excel from 'exceljs';

export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * A string is always written as text: `=1+1` never becomes a formula. Null and non-finite numbers leave the cell empty.
 */
export type WorkbookCell = string | number | boolean | null;
export type WorkbookRow = readonly WorkbookCell[];

export interface WorkbookSheet {
  /** Name of the sheet, at most 25 characters. Rows that do not fit go to more sheets: `<name> 2`, `<name> 3` etc. */
  readonly name: string;
  /** First row of the sheet. If rows do not fit and go to more sheets, each of those sheets begins with this row. */
  readonly header: readonly string[];
  /** Batches of rows; each row has as many cells as the header. */
  readonly rows: AsyncIterable<Iterable<WorkbookRow>>;
  /** Maximum number of rows of one sheet, including the header. Tests set a smaller number. */
  readonly maxSheetRows?: number;
}

/** Limits of the format: rows of a sheet, characters of a cell. */
const MAX_SHEET_ROWS = 1_048_576;
const MAX_CELL_CHARACTERS = 32_767;
/** Number of rows after which the event loop serves other requests; a row of seven cells takes about 10 µs. */
const ROWS_PER_TURN = 500;

const NEEDS_ESCAPE = /(?![\t\n])\p{Cc}|[\uFFFE\uFFFF]|_(?=x[\dA-Fa-f]{4}_)/gu;

/**
 * Yields the bytes of a workbook with these sheets. Reading begins when the first bytes are requested. The first batch
 * of rows is read before the first bytes are yielded, so an error of that batch comes before any byte. The rows of a
 * sheet are read after the previous sheet is written. When the caller ends the iteration, the iterations of the `rows`
 * of all sheets end too.
 * @throws the errors of `rows`; the bytes yielded until then are not a complete workbook.
 */
export async function* writeWorkbook(
  firstSheet: WorkbookSheet,
  ...further: readonly WorkbookSheet[]
): AsyncGenerator<Uint8Array> {
  const sources = [firstSheet, ...further].map(({ rows }) => rows[Symbol.asyncIterator]());
  const leaving = new AbortController();
  const output = new PassThrough();
  let writing: Promise<void> | undefined;
  try {
    const [batches, ...others] = sources as [(typeof sources)[number], ...typeof sources];
    const first = await batches.next();
    const sheets = [startingWith(first, batches), ...others.map(remaining)].map((rows, index) => {
      return { ...((index === 0 ? firstSheet : further[index - 1]) as WorkbookSheet), rows };
    });
    writing = writeSheets(output, sheets, leaving.signal).catch((error: unknown) => {
      output.destroy(error as Error);
    });
    for await (const piece of output) yield piece as Uint8Array;
    await writing;
  } finally {
    leaving.abort();
    await writing;
    for (const source of sources) await source.return?.();
  }
}

async function* remaining<T>(rows: AsyncIterator<T>): AsyncGenerator<T> {
  yield* startingWith(await rows.next(), rows);
}

async function* startingWith<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

async function writeSheets(output: Writable, sheets: readonly WorkbookSheet[], signal: AbortSignal): Promise<void> {
  // Loads exceljs only when a workbook is written: loading takes 0.3 s and 40 MB, and most processes write no workbook.
  const { default: excel } = await import('exceljs');
  const workbook = new excel.stream.xlsx.WorkbookWriter({ stream: output });
  for (const sheet of sheets) await writeSheet(workbook, sheet, signal);
  // If the reader stops, `output` is destroyed and `commit` never settles. Then only the signal ends this wait.
  await Promise.all([workbook.commit(), once(output, 'finish', { signal })]);
}

/** Writes and commits one sheet, and the sheets that continue it. */
async function writeSheet(
  workbook: Excel.stream.xlsx.WorkbookWriter,
  { name, header, rows: batches, maxSheetRows = MAX_SHEET_ROWS }: WorkbookSheet,
  signal: AbortSignal,
): Promise<void> {
  const openSheet = (number: number): Excel.Worksheet => {
    const opened = workbook.addWorksheet(number === 1 ? name : `${name} ${number}`);
    opened.addRow(header.map(toCell)).commit();
    return opened;
  };
  let sheetCount = 1;
  let sheet = openSheet(sheetCount);
  let rowCount = 1;
  for await (const batch of batches) {
    let turn = 0;
    for (const row of batch) {
      if (rowCount === maxSheetRows) {
        sheet.commit();
        sheet = openSheet(++sheetCount);
        rowCount = 1;
      }
      sheet.addRow(row.map(toCell)).commit();
      rowCount += 1;
      if (++turn % ROWS_PER_TURN === 0) await untilDrained(sheet, signal);
    }
    await untilDrained(sheet, signal);
  }
  sheet.commit();
}

/**
 * Waits for one turn of the event loop, in which other requests are served. Then, if the queue in `pipes` is full,
 * waits until it is empty, because exceljs itself never waits.
 * @throws when the signal aborts.
 */
async function untilDrained(sheet: Excel.Worksheet, signal: AbortSignal): Promise<void> {
  const [queue] = (sheet as unknown as { readonly stream: { readonly pipes: readonly Writable[] } }).stream.pipes;
  await nextTurn();
  signal.throwIfAborted();
  if (queue?.writableNeedDrain) await once(queue, 'drain', { signal });
}

function toCell(cell: WorkbookCell): Excel.CellValue {
  if (typeof cell === 'number') return Number.isFinite(cell) ? cell : null;
  if (typeof cell !== 'string') return cell;
  return escapeText(cell.length > MAX_CELL_CHARACTERS ? `${cell.slice(0, MAX_CELL_CHARACTERS - 1)}…` : cell);
}

/**
 * Replaces some characters of a text by escapes such as `_x000D_` (ECMA-376 part 1, 22.9.2.19):
 * - U+FFFE, U+FFFF, and control characters other than tab and line feed: XML does not allow them, or a parser may change
 *   them
 * - the underscore at the beginning of `_x000D_` and the like in the original text
 */
export function escapeText(text: string): string {
  return text.replace(NEEDS_ESCAPE, (character) => {
    return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  });
}
