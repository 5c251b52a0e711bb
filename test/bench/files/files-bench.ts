/**
 * Measures uploads of Standard Files over HTTP: the rows per second until the last row is readable, and the delay of
 * the event loop. Each round also measures a reference and compares the speed of the upload with the reference. The
 * reference depends on the file format:
 * - CSV: COPY of the same text (as by \copy in psql) into a hypertable with the columns and chunk interval of `point`.
 * - Workbook: exceljs's streaming reader, which reads the workbook and stores nothing.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Excel from 'exceljs';
import { from as copyFrom } from 'pg-copy-streams';
import { type Database, withConnection } from '../../../src/platform/database/database.ts';
import { createSiteAndSource } from '../../support/fixtures/structure.ts';
import { createTwin } from '../load/twin.ts';
import { type Figure, figure } from '../report.ts';
import {
  createVariables,
  dateAt,
  type FileService,
  type UploadOutcome,
  upload,
  valueAt,
  XLSX_TYPE,
} from './file-upload.ts';

const ROUNDS = 5;
const VARIABLES = 100;
const CSV_ROWS = 1_000_000;
const XLSX_ROWS = 200_000;
const MAX_DELAY_MS = 50;

type Pair = readonly [ours: number, limit: number];

export async function benchFiles(service: FileService): Promise<readonly Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-files-'));
  try {
    return [...(await benchCsv(service, directory)), ...(await benchXlsx(service, directory))];
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function benchCsv(service: FileService, directory: string): Promise<readonly Figure[]> {
  const { database } = service;
  await createFileTwin(database);
  const file = join(directory, 'rows.csv');
  const { speeds, delays } = await inTurn(service, CSV_ROWS, async (variableIds) => {
    await writeFile(file, toCsv(variableIds));
    const ours = await upload(service, 'rows.csv', 'text/csv', await readFile(file), CSV_ROWS);
    return { ours, limit: await timeCopy(database, file) };
  });
  return [
    figure('CSV of a million rows until readable', "of psql's \\copy", 'rows/s', speeds),
    delayFigure('event-loop delay, p99, of api and ingester in one process during the CSV upload', delays),
  ];
}

async function benchXlsx(service: FileService, directory: string): Promise<readonly Figure[]> {
  const file = join(directory, 'rows.xlsx');
  const { speeds, delays } = await inTurn(service, XLSX_ROWS, async (variableIds) => {
    await writeWorkbook(file, variableIds);
    const ours = await upload(service, 'rows.xlsx', XLSX_TYPE, await readFile(file), XLSX_ROWS);
    return { ours, limit: await timeExceljs(file) };
  });
  return [
    figure('workbook of 200,000 rows until readable', "of exceljs's streaming reader", 'rows/s', speeds),
    delayFigure('event-loop delay, p99, of the same process during the workbook upload', delays),
  ];
}

/** Runs each round on new variables. Discards the times of the first round, which warms up the measured code. */
async function inTurn(
  { api }: FileService,
  rows: number,
  round: (variableIds: readonly number[]) => Promise<{ readonly ours: UploadOutcome; readonly limit: number }>,
) {
  const { sourceId } = await createSiteAndSource(api);
  const speeds: Pair[] = [];
  const delays: Pair[] = [];
  for (let number = 0; number <= ROUNDS; number += 1) {
    const { ours, limit } = await round(await createVariables(api, sourceId, VARIABLES));
    if (number === 0) continue;
    speeds.push([rows / ours.seconds, rows / limit]);
    delays.push([ours.delays.p99Ms, MAX_DELAY_MS]);
  }
  return { speeds, delays };
}

function delayFigure(name: string, delays: readonly Pair[]): Figure {
  return figure(name, `of the ${MAX_DELAY_MS} ms allowed`, 'ms', delays);
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

/** Creates the hypertable for COPY, with defaults for the columns that the file lacks. */
async function createFileTwin(database: Database): Promise<void> {
  await createTwin(database, 'bench_file_point');
  await database.query(
    `alter table bench_file_point alter column version_timestamp set default now(),
       alter column version_tag_id set default 0, alter column tag_set_id set default 0`,
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

/** @returns the seconds exceljs takes to read every row and discard it. */
async function timeExceljs(file: string): Promise<number> {
  const startMs = performance.now();
  const options = { sharedStrings: 'cache', styles: 'cache', worksheets: 'emit', hyperlinks: 'ignore' } as const;
  let rows = 0;
  for await (const sheet of new Excel.stream.xlsx.WorkbookReader(file, options)) for await (const _ of sheet) rows += 1;
  if (rows !== XLSX_ROWS + 1) throw new Error(`exceljs read ${rows} rows`);
  return (performance.now() - startMs) / 1000;
}
