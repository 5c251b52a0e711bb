import { Readable } from 'node:stream';
import Excel from 'exceljs';
import { parse } from 'fast-csv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { XLSX_TYPE } from '../../../src/platform/http/workbook-writer.ts';
import { createSite, createSource, createVariable } from '../../support/fixtures/structure.ts';
import { type FileStack, startFileStack } from './files-fixture.ts';

const COLUMNS = [
  ...['date', 'value', 'variable_id', 'source_id', 'source_serialnumber', 'source_ean', 'source_name'],
  ...['source_meternumber', 'mapping_config', 'variable_type_id', 'version', 'tags'],
];
const ERRORS = 6000;

let stack: FileStack;
let sourceId: number;
let variableId: number;
beforeAll(async () => {
  stack = await startFileStack();
  stack.startIngester();
  const siteId = await createSite(stack.api.manager, { timeZoneId: 'Europe/Brussels' });
  sourceId = await createSource(stack.api.manager, siteId);
  variableId = await createVariable(stack.api.manager, sourceId);
});
afterAll(() => stack.close());

const get = (path: string, accept?: string) =>
  stack.get(path, stack.api.manager, accept === undefined ? {} : { accept });
async function csvRows(response: Response): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const row of Readable.from(await response.text()).pipe(parse())) rows.push(row);
  return rows;
}
async function workbookOf(response: Response): Promise<Excel.Workbook> {
  const workbook = new Excel.Workbook();
  await workbook.xlsx.load(await response.arrayBuffer());
  return workbook;
}

describe('files: the download of row errors', () => {
  it('the download is a workbook if `Accept` asks for xlsx, otherwise CSV with the same rows (R-E1)', async () => {
    const rows = Array.from({ length: ERRORS }, (_, row) => `${variableId},=1+${row},x\n`).join('');
    const { id } = await stack.ended(await stack.upload('wröng.csv', `variable_id,date,value\n${rows}`));
    const workbookAnswer = await get(`/storage/${id}/errors`, `text/html, ${XLSX_TYPE}, */*;q=0.1`);
    expect(workbookAnswer.headers.get('content-type')).toBe(XLSX_TYPE);
    expect(workbookAnswer.headers.get('vary')).toContain('Accept');
    expect(workbookAnswer.headers.get('content-disposition')).toContain('wr%C3%B6ng.csv.errors.xlsx');
    const sheet = (await workbookOf(workbookAnswer)).getWorksheet('errors');
    const found = sheet?.getSheetValues().slice(1) as unknown[][];
    const csvAnswer = await get(`/storage/${id}/errors`, 'application/json');
    expect(csvAnswer.headers.get('content-type')).toContain('text/csv');
    const csv = await csvRows(csvAnswer);
    expect(csv).toHaveLength(ERRORS + 1);
    expect(found.map((row) => row.slice(1).map(String))).toEqual(csv);
    expect(csv.at(-1)).toEqual([String(ERRORS + 1), 'invalid_date', expect.stringContaining(`=1+${ERRORS - 1}`)]);
    expect(typeof found[1]?.[1]).toBe('number');
  });

  it('when a file has no row errors, the download has a header row and nothing else (R-E1)', async () => {
    const csv = `variable_id,date,value\n${variableId},2026-01-01T00:00:00Z,1\n`;
    const { id } = await stack.ended(await stack.upload('right.csv', csv));
    expect(await (await get(`/storage/${id}/errors`)).text()).toBe('row,code,message');
    const sheet = (await workbookOf(await get(`/storage/${id}/errors`, XLSX_TYPE))).getWorksheet('errors');
    expect(sheet?.getSheetValues().slice(1)).toEqual([[undefined, 'row', 'code', 'message']]);
  });
});

describe('files: template of a Standard File', () => {
  it('the CSV template has the columns of §2 and no rows, and can be uploaded unchanged (R-E1)', async () => {
    const response = await get('/storage/template');
    expect(response.headers.get('content-disposition')).toContain('standard-file.csv');
    const csv = await response.text();
    expect(csv).toBe(`${COLUMNS.join(',')}\n`);
    expect(await stack.ended(await stack.upload('template.csv', csv))).toMatchObject({
      ...{ state: 'Completed', ignoredColumns: [], counts: { rows: 0 } },
    });
  });

  it('the xlsx template has date cells and a drop-down of variable types; a row added to the template is ingested (R-E1)', async () => {
    const workbook = await workbookOf(await get('/storage/template', XLSX_TYPE));
    const [sheet, types] = workbook.worksheets;
    if (!sheet || !types) throw new Error('the template must have two sheets');
    expect((sheet.getRow(1).values as unknown[]).slice(1)).toEqual(COLUMNS);
    expect(sheet.getColumn(1).numFmt).toContain('yyyy');
    expect(sheet.getCell('A2').dataValidation).toMatchObject({ type: 'date', errorStyle: 'warning' });
    const list = sheet.getCell('J900').dataValidation;
    expect(list).toMatchObject({ type: 'list', formulae: [`'Variable types'!$A$2:$A$${types.rowCount}`] });
    expect((types.getRow(2).values as unknown[]).slice(1)).toEqual([0, 'Consumption']);
    const own = await createVariable(stack.api.manager, sourceId);
    sheet.addRow([new Date(Date.UTC(2026, 2, 1, 0, 15)), 2.5, own]);
    const filled = new Uint8Array(await workbook.xlsx.writeBuffer()) as Uint8Array<ArrayBuffer>;
    const status = await stack.ended(await stack.upload('filled.xlsx', filled));
    expect(status).toMatchObject({ state: 'Completed', ignoredColumns: [], counts: { rows: 1, ingested: 1 } });
    const { body } = await stack.api.manager.get(`/data?variableId=${own}`);
    expect(body).toMatchObject([{ date: '2026-02-28T23:15:00Z', rawValue: 2.5 }]);
  });

  it('the download of the template needs a token (R-B8)', async () => {
    expect((await fetch(`${stack.origin}/storage/template`)).status).toBe(401);
  });
});
