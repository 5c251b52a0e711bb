/** `GET /data`, `POST /data` and `GET /data/compare` as Excel workbooks, read back with exceljs (R-G4). */
import Excel from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw, parseCsv } from '../../support/clients/fetch-rows.ts';
import { addStoredPoints } from '../../support/fixtures/stored-points.ts';
import { createStructure, createVariable } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const COLUMNS = ['variableId', 'date', 'rawValue', 'unitId', 'version', 'versionTimestamp', 'tags'];
const POINTS = 30_000;

let api: TestApi;
let sourceId: number;
let versioned: number;
let long: number;

beforeAll(async () => {
  api = await startTestApi();
  ({ sourceId, variableId: versioned } = await createStructure(api.manager, { isVersioned: true, unitId: 8 }));
  const tags = { quality: '=cmd|"hi"' };
  await push('V1', { '2026-10-25T00:30:00Z': 1.25, '2026-10-25T01:30:00.000001Z': -5 }, tags);
  await push('V2', { '2026-10-25T00:30:00Z': 2 }, {});
  long = await createVariable(api.manager, sourceId);
  await addStoredPoints(api.database, long, POINTS);
});
afterAll(() => api?.close());

async function push(version: string, values: Readonly<Record<string, number>>, tags: object): Promise<void> {
  const data = Object.entries(values).map(([date, value]) => ({ date, value, tags }));
  await api.manager.post('/api/data', [{ variableId: versioned, version, data }]);
  await api.ingest();
}

/** @returns the rows of the first sheet, header first; an empty cell is undefined in its row. */
async function sheetOf(path: string, init: RequestInit = {}): Promise<readonly (readonly unknown[])[]> {
  const { status, headers, bytes } = await fetchRaw(api, path, XLSX, init);
  expect([status, headers.get('content-type')]).toEqual([200, XLSX]);
  const workbook = new Excel.Workbook();
  await workbook.xlsx.load(bytes as never);
  expect(workbook.worksheets.map(({ name }) => name)).toEqual(['points']);
  const width = workbook.worksheets[0]?.columnCount ?? 0;
  const rows: unknown[][] = [];
  workbook.worksheets[0]?.eachRow((row) => {
    rows.push(Array.from({ length: width }, (_, index) => row.getCell(index + 1).value ?? undefined));
  });
  return rows;
}

/** @returns the rows of the CSV answer, header first, with numbers where the workbook has numbers. */
async function csvOf(path: string, init: RequestInit = {}): Promise<readonly (readonly unknown[])[]> {
  const { bytes } = await fetchRaw(api, path, 'text/csv', init);
  const [header = [], ...rows] = parseCsv(bytes.toString());
  const isNumber = (name = '') => name.endsWith('Id') || name.endsWith('Value') || name === 'difference';
  const toCell = (text: string, index: number) => (isNumber(header[index]) ? Number(text) : text);
  return [header, ...rows.map((row) => row.map((text, index) => (text === '' ? undefined : toCell(text, index))))];
}

describe('reading: workbooks', () => {
  test('the workbook of GET /data has number cells and text cells, and dates as ISO text with their offset (R-G3, R-G4)', async () => {
    const [header, first, second] = await sheetOf(
      `/data?variableId=${versioned}&timeZoneId=Europe/Brussels&version=V1`,
    );
    expect(header).toEqual(COLUMNS);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    const tags = JSON.stringify({ quality: '=cmd|"hi"', version: 'V1' }).replaceAll(/([:,])"/g, '$1 "');
    expect(first).toEqual([versioned, '2026-10-25T02:30:00+02:00', 1.25, 8, 'V1', timestamp, tags]);
    expect(second).toEqual([versioned, '2026-10-25T02:30:00.000001+01:00', -5, 8, 'V1', timestamp, tags]);
  });

  test.each([
    ['two variables in several batches', () => `/data?variableIds=${long},${versioned}`, POINTS + 2],
    ['all versions', () => `/data?variableId=${versioned}&versions=all`, 3],
    ['aggregates', () => `/data?variableIds=${versioned},${long}&granularity=Day&aggregation=SUM`, 22],
    ['a period without points', () => `/data?variableId=${versioned}&from=2030-01-01`, 0],
    ['a comparison', () => `/data/compare?variableId=${versioned}&leftVersion=V1&rightVersion=V2`, 2],
  ])('a workbook of %s has the same rows and columns as the CSV answer (R-G4)', async (_case, pathOf, rowCount) => {
    const path = pathOf();
    const rows = await sheetOf(path);
    expect(rows).toHaveLength(rowCount + 1);
    expect(rows).toEqual(await csvOf(path));
  });

  test('POST /data returns the same rows in a workbook and in CSV (R-G1, R-G4)', async () => {
    const body = JSON.stringify({ variableIds: [versioned], versions: 'all', displayLevel: 'ValueVariableDate' });
    const rows = await sheetOf('/data', { method: 'POST', body });
    expect(rows).toEqual(await csvOf('/data', { method: 'POST', body }));
    expect(rows[0]).toEqual(COLUMNS.slice(0, 3));
  });

  test('a refused request for a workbook is answered in JSON (R-A5)', async () => {
    const { status, headers } = await fetchRaw(api, '/data?variableId=2000000000', XLSX);
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json']);
  });
});
