/**
 * Reads rows of a CSV or xlsx file in the browser, to show them before the file is sent and to correct rejected rows.
 */
import Papa from 'papaparse';

/** Maximum size of a workbook whose rows are read here, because the whole workbook is read into memory. */
export const MAX_WORKBOOK_BYTES = 20 << 20;
const DELIMITERS = [',', ';', '\t'];

export interface ReadRows {
  readonly header: readonly string[];
  /** Cells by row number as in a spreadsheet: the first row of the file is 1. */
  readonly rows: ReadonlyMap<number, readonly string[]>;
  /** Names of the sheets in the order of the workbook; undefined for a CSV. The service reads only the first sheet. */
  readonly sheets?: readonly string[];
}

interface Wanted {
  /** Row numbers of the rows to read. Undefined means the first `count` rows below the header that are not blank. */
  readonly rows?: ReadonlySet<number>;
  readonly count: number;
}

/**
 * @param name file name; its extension decides the format.
 * @returns undefined for a workbook that is too large to read here.
 */
export async function readRows(file: Blob, name: string, wanted: Wanted): Promise<ReadRows | undefined> {
  if (!/\.xlsx$/i.test(name)) return readCsv(file, wanted);
  if (file.size > MAX_WORKBOOK_BYTES) return undefined;
  // Parts of a workbook above 512 KiB are unpacked by workers from blob URLs; the CSP of the console allows them.
  const { default: readWorkbook } = await import('read-excel-file/universal');
  const sheets = await readWorkbook(file);
  const take = collect(wanted);
  for (const [index, cells] of (sheets[0]?.data ?? []).entries()) {
    if (take.add(index + 1, cells.map(cellText)) === 'enough') break;
  }
  return { ...take.result(), sheets: sheets.map(({ sheet }) => sheet) };
}

function readCsv(file: Blob, wanted: Wanted): Promise<ReadRows> {
  const take = collect(wanted);
  let row = 0;
  return new Promise((resolve, reject) => {
    Papa.parse<string[]>(file as File, {
      delimitersToGuess: DELIMITERS,
      step: ({ data }, parser) => {
        row += 1;
        if (take.add(row, data) === 'enough') parser.abort();
      },
      complete: () => resolve(take.result()),
      error: reject,
    });
  });
}

/** Collects the header, which is the first row that is not blank, and the rows to read. */
function collect({ rows: wanted, count }: Wanted) {
  let header: readonly string[] | undefined;
  const rows = new Map<number, readonly string[]>();
  return {
    add: (row: number, cells: readonly string[]): 'more' | 'enough' => {
      if (cells.every((cell) => cell.trim() === '')) return 'more';
      if (header === undefined) header = cells;
      else if (wanted === undefined || wanted.has(row)) rows.set(row, cells);
      return rows.size >= Math.min(count, wanted?.size ?? count) ? 'enough' : 'more';
    },
    result: (): ReadRows => ({ header: header ?? [], rows }),
  };
}

/**
 * Writes a cell as text. A date is written without a zone, because a workbook has no zones. read-excel-file returns
 * some whole seconds one millisecond too early. So one millisecond is added to a date whose milliseconds are 999.
 * @returns the text. A date has milliseconds only when they are not 0.
 */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) {
    const millis = cell.getTime();
    if (Number.isNaN(millis)) return '';
    const isCut = (millis + 1) % 1000 === 0;
    return new Date(isCut ? millis + 1 : millis).toISOString().replace(/(\.000)?Z$/, '');
  }
  return String(cell);
}

/** @returns the header and the rows as CSV text that the service can read. */
export function toCsv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${Papa.unparse([[...header], ...rows.map((row) => [...row])], { newline: '\n' })}\n`;
}
