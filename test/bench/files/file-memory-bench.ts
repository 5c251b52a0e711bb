/**
 * Measures the memory growth in MB for the largest files. The growth is the peak resident memory during the upload and
 * ingestion of a file, minus the resident memory before the upload. The resident memory includes one process with the
 * roles api and ingester, and its parser processes. The limit is the allowed growth.
 */
import { crc32, createDeflateRaw } from 'node:zlib';
import { makeZip, workbookEntries } from '../../fixtures/files/make-workbook.ts';
import { createSiteAndSource } from '../../support/fixtures/structure.ts';
import { memoryGrowth } from '../load/memory-growth.ts';
import { type Figure, figure } from '../report.ts';
import { createVariables, dateAt, type FileService, upload, valueAt, XLSX_TYPE } from './file-upload.ts';

const MAX_GROWTH_MB = 200;
const VARIABLES = 50;
const CSV_BYTES = 200 << 20;
const XLSX_ROWS = 1_000_000;
// Number of characters per cell of a fourth column. This column, which the parser ignores, enlarges the sheet to about
// one gibibyte.
const NOTE_CHARACTERS = 950;
const DAYS_1970 = 25_569;
const MILLIS_PER_DAY = 86_400_000;

export async function benchFileMemory(service: FileService): Promise<readonly Figure[]> {
  const { sourceId } = await createSiteAndSource(service.api);
  const variableIds = await createVariables(service.api, sourceId, VARIABLES);
  // The first upload loads modules and starts the parser. The memory growth of this upload is not measured.
  const small = makeCsv(variableIds, 1 << 20);
  await upload(service, 'small.csv', 'text/csv', small.content, small.rows);
  const csv = makeCsv(variableIds, CSV_BYTES);
  const csvGrowth = await memoryGrowth(service.pid, () => upload(service, 'l.csv', 'text/csv', csv.content, csv.rows));
  const workbook = await makeLargeWorkbook(variableIds);
  const xlsxGrowth = await memoryGrowth(service.pid, () =>
    upload(service, 'l.xlsx', XLSX_TYPE, workbook.content, XLSX_ROWS),
  );
  const ratioOf = `of the ${MAX_GROWTH_MB} MB allowed`;
  const inflated = (workbook.inflatedBytes / 2 ** 30).toFixed(2);
  return [
    figure(`memory growth by a CSV of 200 MiB, ${csv.rows} rows`, ratioOf, 'MB', [[csvGrowth, MAX_GROWTH_MB]]),
    figure(`memory growth by a workbook of ${inflated} GiB inflated`, ratioOf, 'MB', [[xlsxGrowth, MAX_GROWTH_MB]]),
  ];
}

function makeCsv(variableIds: readonly number[], bytes: number): { readonly content: Buffer; readonly rows: number } {
  const content = Buffer.alloc(bytes);
  let size = content.write('variable_id,date,value\n');
  let rows = 0;
  for (;;) {
    const date = dateAt(Math.floor(rows / variableIds.length)).toISOString();
    const row = `${variableIds[rows % variableIds.length]},${date},${valueAt(rows)}\n`;
    if (size + row.length > bytes) return { content: content.subarray(0, size), rows };
    size += content.write(row, size, 'latin1');
    rows += 1;
  }
}

async function makeLargeWorkbook(variableIds: readonly number[]) {
  const entries = workbookEntries({
    sheet: '',
    styles: '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>',
  });
  const deflate = createDeflateRaw({ level: 1 });
  const pieces: Buffer[] = [];
  deflate.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise((resolve) => deflate.once('end', resolve));
  let inflatedBytes = 0;
  let sum = 0;
  for (const text of sheetPieces(variableIds)) {
    inflatedBytes += text.length;
    sum = crc32(text, sum);
    if (!deflate.write(text)) await new Promise((resolve) => deflate.once('drain', resolve));
  }
  deflate.end();
  await ended;
  const deflated = { data: Buffer.concat(pieces), inflatedBytes, crc32: sum };
  const content = makeZip(
    entries.map((entry) => (entry.name.startsWith('xl/worksheets') ? { ...entry, deflated } : entry)),
  );
  return { content, inflatedBytes };
}

function* sheetPieces(variableIds: readonly number[]): Generator<Buffer> {
  yield Buffer.from(
    '<worksheet><sheetData><row r="1">' +
      ['variable_id', 'date', 'value', 'note'].map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('') +
      '</row>',
  );
  let piece = '';
  for (let index = 0; index < XLSX_ROWS; index += 1) {
    const serial = dateAt(Math.floor(index / variableIds.length)).getTime() / MILLIS_PER_DAY + DAYS_1970;
    const note = `${(index * 2654435761) % 4294967296}-`.repeat(NOTE_CHARACTERS / 10).slice(0, NOTE_CHARACTERS);
    piece +=
      `<row r="${index + 2}"><c r="A${index + 2}"><v>${variableIds[index % variableIds.length]}</v></c>` +
      `<c r="B${index + 2}" s="1"><v>${serial}</v></c><c r="C${index + 2}"><v>${valueAt(index)}</v></c>` +
      `<c r="D${index + 2}" t="inlineStr"><is><t>${note}</t></is></c></row>`;
    if (piece.length < 1 << 20) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(`${piece}</sheetData></worksheet>`);
}
