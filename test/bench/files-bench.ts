/**
 * Standard Files through HTTP until their last row is readable. CSV against COPY of the same text into an identical
 * hypertable, as psql's \copy does it; a workbook against reading it with exceljs's streaming reader alone. In rows per
 * second; both sides of a round in turn.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Excel from 'exceljs';
import { from as copyFrom } from 'pg-copy-streams';
import { type Database, withConnection } from '../../src/platform/database.ts';
import { type ApiClient, createSource, createVariable } from '../support/manager.ts';
import { type Figure, figure } from './report.ts';

const CSV_ROUNDS = 3;
const VARIABLES = 100;
const CSV_ROWS = 1_000_000;
const XLSX_ROUNDS = 3;
const XLSX_ROWS = 200_000;
const QUARTER_MILLIS = 900_000;
const START_MILLIS = Date.UTC(2024, 0, 1);
const LOOK_MS = 5;
const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

interface Sides {
  readonly database: Database;
  readonly api: ApiClient;
}

export async function benchFiles(database: Database, api: ApiClient): Promise<readonly Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-files-'));
  try {
    return [await benchCsv({ database, api }, directory), await benchXlsx({ database, api }, directory)];
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function benchCsv({ database, api }: Sides, directory: string): Promise<Figure> {
  await createTwin(database);
  const { sourceId } = await createSource(api);
  const pairs: (readonly [number, number])[] = [];
  // The first round warms both sides up.
  for (let round = 0; round <= CSV_ROUNDS; round += 1) {
    const file = join(directory, 'rows.csv');
    await writeFile(file, toCsv(await newVariables(api, sourceId)));
    const ours = await timeUpload({ database, api }, 'rows.csv', 'text/csv', await readFile(file), CSV_ROWS);
    const limit = await timeCopy(database, file);
    if (round > 0) pairs.push([CSV_ROWS / ours, CSV_ROWS / limit]);
  }
  return figure('CSV of a million rows until readable', "of psql's \\copy", 'rows/s', pairs);
}

async function benchXlsx({ database, api }: Sides, directory: string): Promise<Figure> {
  const { sourceId } = await createSource(api);
  const pairs: (readonly [number, number])[] = [];
  for (let round = 0; round <= XLSX_ROUNDS; round += 1) {
    const file = join(directory, 'rows.xlsx');
    await writeWorkbook(file, await newVariables(api, sourceId));
    const ours = await timeUpload({ database, api }, 'rows.xlsx', XLSX_TYPE, await readFile(file), XLSX_ROWS);
    const limit = await timeExceljs(file);
    if (round > 0) pairs.push([XLSX_ROWS / ours, XLSX_ROWS / limit]);
  }
  return figure('workbook of 200,000 rows until readable', "of exceljs's streaming reader", 'rows/s', pairs);
}

async function newVariables(api: ApiClient, sourceId: number): Promise<readonly number[]> {
  const variableIds: number[] = [];
  for (let index = 0; index < VARIABLES; index += 1) variableIds.push(await createVariable(api, sourceId));
  return variableIds;
}

function toCsv(variableIds: readonly number[]): string {
  const perVariable = CSV_ROWS / VARIABLES;
  const dates = Array.from({ length: perVariable }, (_, index) => dateAt(index).toISOString().replace('.000Z', 'Z'));
  const blocks = variableIds.map((id) => dates.map((date, index) => `${id},${date},${valueAt(index)}\n`).join(''));
  return `variable_id,date,value\n${blocks.join('')}`;
}

async function writeWorkbook(filename: string, variableIds: readonly number[]): Promise<void> {
  const workbook = new Excel.stream.xlsx.WorkbookWriter({ filename, useStyles: true, useSharedStrings: true });
  const sheet = workbook.addWorksheet('Data');
  sheet.addRow(['variable_id', 'date', 'value']).commit();
  for (const id of variableIds) {
    for (let index = 0; index < XLSX_ROWS / VARIABLES; index += 1) {
      const row = sheet.addRow([id, dateAt(index), valueAt(index)]);
      row.getCell(2).numFmt = 'yyyy-mm-dd hh:mm:ss';
      row.commit();
    }
  }
  await workbook.commit();
}

const dateAt = (index: number) => new Date(START_MILLIS + index * QUARTER_MILLIS);
const valueAt = (index: number) => ((index * 7919) % 100_000) / 100;

/** Seconds from the request until the file is done, which is when its last point is committed. */
async function timeUpload(
  { database, api }: Sides,
  filename: string,
  type: string,
  content: Uint8Array,
  rows: number,
): Promise<number> {
  const raw = new Uint8Array(content);
  const startMs = performance.now();
  const headers = { 'content-type': type };
  const id = await api.call<string>('POST', `/storage?filename=${filename}`, undefined, { raw, headers });
  // Asked of the database: questions to the service would cost it what they measure.
  while (!(await isOver(database, id))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const seconds = (performance.now() - startMs) / 1000;
  const status = await api.call<{ readonly counts: { readonly ingested: number } }>('GET', `/storage/${id}`);
  if (status.counts.ingested !== rows) throw new Error(`the file ended as ${JSON.stringify(status)}`);
  return seconds;
}

async function isOver(database: Database, id: string): Promise<boolean> {
  const query = 'select from stored_file where id = $1 and completed_date is not null';
  return (await database.query(query, [id])).rowCount === 1;
}

/** `point` again: same columns, key, chunks; what the file does not say has a default. */
async function createTwin(database: Database): Promise<void> {
  await database.query('drop table if exists bench_file_point');
  await database.query('create table bench_file_point (like point including all)');
  await database.query(
    `alter table bench_file_point alter column version_timestamp set default now(),
       alter column version_tag_id set default 0, alter column tag_set_id set default 0`,
  );
  await database.query(
    `select create_hypertable('bench_file_point', by_range('date', (
       select time_interval from timescaledb_information.dimensions where hypertable_name = 'point'
     )), create_default_indexes => false)`,
  );
}

async function timeCopy(database: Database, file: string): Promise<number> {
  return withConnection(database, async (connection) => {
    const startMs = performance.now();
    const copy = 'copy bench_file_point (variable_id, date, value) from stdin (format csv, header)';
    await pipeline(createReadStream(file, { highWaterMark: 1 << 16 }), connection.query(copyFrom(copy)));
    return (performance.now() - startMs) / 1000;
  });
}

/** Seconds to see every row, and do nothing with it. */
async function timeExceljs(file: string): Promise<number> {
  const startMs = performance.now();
  const options = { sharedStrings: 'cache', styles: 'cache', worksheets: 'emit', hyperlinks: 'ignore' } as const;
  let rows = 0;
  for await (const sheet of new Excel.stream.xlsx.WorkbookReader(file, options)) for await (const _ of sheet) rows += 1;
  if (rows !== XLSX_ROWS + 1) throw new Error(`exceljs read ${rows} rows`);
  return (performance.now() - startMs) / 1000;
}
