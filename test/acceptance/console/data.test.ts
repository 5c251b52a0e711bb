/**
 * The view "Import data" as people use it: files and their rejected rows, imports of structure, rejected pushes,
 * mappers.
 */
import { Workbook } from 'exceljs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { xlsxTemplate } from '../../../src/files/template.ts';
import { type ConsoleStack, type ConsoleWindow, openConsoleStack } from '../../support/console/console-stack.ts';
import { eventually } from '../../support/eventually.ts';
import { MANAGER } from '../../support/fixtures/sign-in.ts';
import { createSiteAndSource, createVariable } from '../../support/fixtures/structure.ts';

let stack: ConsoleStack;
let siteId: number;
let variableId: number;
beforeAll(async () => {
  stack = await openConsoleStack();
  const made = await createSiteAndSource(stack.manager);
  siteId = made.siteId;
  variableId = await createVariable(stack.manager, made.sourceId, { name: 'Energy', mappingConfig: 'energy' });
}, 90_000);
afterAll(() => stack?.close());

async function choose({ page }: ConsoleWindow, name: string, text: string): Promise<void> {
  const buffer = Buffer.from(text);
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
}

test('console data: before a file is sent, the page shows which sheet and which columns are read; rejected rows can be corrected and sent again (R-E2, R-E3)', async () => {
  const window = await stack.open(MANAGER, '/console/data');
  const { page, complaints, close } = window;
  await page.getByText('Drop a file here').waitFor();
  const template = Buffer.from(await xlsxTemplate());
  await page.locator('input[type=file]').setInputFiles({ name: 'points.xlsx', mimeType: '', buffer: template });
  await page.getByText('Only the first sheet, “Data”, is read. Not read: Variable types.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  const rows = [
    'variable_id;date;value;remark',
    `${variableId};2026-03-01T00:00:00Z;1;fine`,
    '',
    `${variableId};2026-03-01T00:15:00Z;one;"<b>not; a number</b>"`,
  ];
  await choose(window, 'points.csv', rows.join('\n'));
  await page.getByText('value: read').waitFor();
  await page.getByText('remark: ignored').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Partly imported').waitFor();
  await page.getByText('Ignored columns: remark').waitFor();
  const value = page.getByLabel('value of row 4');
  expect(await value.inputValue()).toBe('one');
  expect(await page.getByLabel('remark of row 4').inputValue()).toBe('<b>not; a number</b>');
  await value.fill('2.5');
  await page.reload();
  await value.waitFor();
  expect(await value.inputValue()).toBe('2.5');
  await page.getByRole('button', { name: 'Send 1 corrected row' }).click();
  await page.getByRole('heading', { name: 'points-corrected.csv' }).waitFor();
  await page.getByRole('status').getByText('Imported', { exact: true }).waitFor();
  const stored = await stack.manager.call<{ rawValue: number }[]>('GET', `/data?variableId=${variableId}`);
  expect(stored.map(({ rawValue }) => rawValue).sort()).toEqual([1, 2.5]);
  await page.getByRole('link', { name: 'All files' }).click();
  await page.getByRole('link', { name: 'points-corrected.csv' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console data: the page shows the columns of a workbook whose sheet has more than 512 KiB, which a worker unpacks (R-E2)', async () => {
  const workbook = new Workbook();
  const sheet = workbook.addWorksheet('Large');
  sheet.addRow(['variable_id', 'date', 'value', 'remark']);
  for (let row = 0; row < 8000; row += 1) sheet.addRow([variableId, '2026-03-01T00:00:00Z', row, `remark ${row}`]);
  const buffer = Buffer.from(await workbook.xlsx.writeBuffer());
  const { page, complaints, close } = await stack.open(MANAGER, '/console/data');
  await page.getByText('Drop a file here').waitFor();
  await page.locator('input[type=file]').setInputFiles({ name: 'large.xlsx', mimeType: '', buffer });
  await page.getByText('remark: ignored').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('console data: an import of structure shows its changes before it applies them', async () => {
  const window = await stack.open(MANAGER, '/console/data?tab=structure');
  const { page, complaints, close } = window;
  const site = { name: 'Bakery', timeZoneId: 'Europe/Brussels' };
  await page.getByText('Drop a file here').waitFor();
  await choose(window, 'structure.json', JSON.stringify({ sites: [{ ...site, timeZoneId: 'Mars/Base' }] }));
  await page.getByText('1 problem.').waitFor();
  await page.getByText('$.sites[0].timeZoneId').waitFor();
  await choose(window, 'structure.json', JSON.stringify({ sites: [site] }));
  await page.getByRole('cell', { name: '$.sites[0]', exact: true }).waitFor();
  const named = async () => (await stack.manager.call<{ name: string }[]>('GET', '/sites')).map(({ name }) => name);
  expect(await named()).not.toContain('Bakery');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('heading', { name: 'Import', exact: true }).waitFor();
  await page.getByText('Completed', { exact: true }).waitFor();
  expect(await named()).toContain('Bakery');
  expect(complaints).toEqual([]);
  await close();
});

test('console data: the console shows the content of a rejected element of a push, and lets a user replay the element (R-D8)', async () => {
  const element = {
    sourceSerialNumber: 'LATE-1',
    mappingConfig: 'kWh',
    data: [{ date: '2026-03-01T00:00:00Z', value: 7 }],
  };
  const { operationId } = await stack.manager.call<{ operationId: string }>('POST', '/api/data', [element]);
  const { page, complaints, close } = await stack.open(MANAGER, '/console/data?tab=pushes');
  await page.getByRole('link', { name: operationId }).click();
  await page.getByText('"sourceSerialNumber":"LATE-1"').waitFor();
  const { id: sourceId } = await stack.manager.call<{ id: number }>('POST', '/sources', {
    ...{ siteId, name: 'Late', serialNumber: 'LATE-1' },
  });
  const lateId = await createVariable(stack.manager, sourceId, { name: 'Late', mappingConfig: 'kWh' });
  await page.getByRole('button', { name: 'Replay the rejected elements' }).click();
  await page.getByText('Elements accepted: 1; rejected again: 0.').waitFor();
  await eventually('the replayed point', async () => {
    const rows = await stack.manager.call<unknown[]>('GET', `/data?variableId=${lateId}`);
    return rows.length === 1;
  });
  expect(complaints).toEqual([]);
  await close();
});

test('console data: a mapper is tried on a sample before it is saved, and its draft survives a reload (R-D9)', async () => {
  const { page, complaints, close } = await stack.open(MANAGER, '/console/data?tab=mappers');
  await page.getByRole('button', { name: 'New mapper' }).click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('"sourceSerialNumber": "0042"').waitFor();
  await page.getByRole('textbox', { name: 'Expression' }).fill('[{ "variableId": 7, "data": [');
  await result.locator('p').first().waitFor();
  await page.locator('.cm-lintRange-error').waitFor();
  await page.getByRole('textbox', { name: 'Expression' }).press('ControlOrMeta+a');
  await page.keyboard.insertText(`[{ "variableId": id, "data": [{ "date": at, "value": kwh }] }]`);
  await page.getByLabel('Body').fill(`{ "id": ${variableId}, "at": "2026-03-02T00:00:00Z", "kwh": 3 }`);
  const accepted = result.getByText('The elements have the format of a push.');
  await accepted.waitFor();
  const trial = Promise.withResolvers<void>();
  await page.route('**/account/mappers/test', async (route) => {
    await trial.promise;
    await route.continue();
  });
  await page.getByLabel('Body').fill(`{ "id": ${variableId}, "at": "2026-03-02T00:00:00Z", "kwh": 4 }`);
  await result.getByText('The expression is running.').waitFor();
  expect(await accepted.count()).toBe(0);
  trial.resolve();
  await accepted.waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Meters');
  await page.reload();
  await page.getByLabel('Name', { exact: true }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Meters');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The mapper was saved.').waitFor();
  const mappers = await stack.manager.call<{ id: string; name: string }[]>('GET', '/account/mappers');
  expect(mappers.map(({ name }) => name)).toEqual(['Meters']);
  await page.waitForURL((url) => url.searchParams.get('mapper') === mappers[0]?.id);
  expect(complaints).toEqual([]);
  await close();
});
