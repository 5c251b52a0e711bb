/** `POST /structure/import` of workbooks: the same rows as JSON, cells in messages, and hostile archives. */
import excel from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeZip } from '../../../fixtures/files/make-workbook.ts';
import { type ExchangeStack, startExchangeStack } from './exchange-fixture.ts';

let stack: ExchangeStack;
beforeAll(async () => {
  stack = await startExchangeStack();
});
afterAll(() => stack.close());

const DOCUMENT = {
  sites: [{ name: 'é "x" 😀', externalId: 'E-1', clientData: { text: `${'é😀'.repeat(10_700)} end` } }],
  sources: [{ siteExternalId: 'E-1', serialNumber: '007', name: '"q"', tags: ['a', 'b|c'] }],
  variables: [
    { siteExternalId: 'E-1', sourceSerialNumber: '007', mappingConfig: 'kWh', divider: 0.5, isVersioned: true },
    { siteExternalId: 'E-1', sourceSerialNumber: '007', name: ' spaced ', aggregate: 'MAX' },
    {
      ...{ siteExternalId: 'E-1', sourceSerialNumber: '007', mappingConfig: 'sum' },
      calculated: {
        calculatedVariableFormulas: [{ formula: '1 # "é"', variables: [{ alias: 'a', mappingConfig: 'kWh' }] }],
      },
    },
  ],
};

describe('structure import: a workbook', () => {
  test('exported, imported into an empty account and exported again is the same text (R-A13)', async () => {
    const [from, to] = [await stack.newAccount(), await stack.newAccount()];
    expect(await stack.run(from, DOCUMENT)).toMatchObject({ state: 'Completed', problems: [] });
    const result = await stack.run(to, await stack.workbook(from));
    expect(result).toMatchObject({ state: 'Completed', format: 'xlsx', problems: [] });
    expect(await stack.text(to)).toBe(await stack.text(from));
    expect((await stack.run(to, await stack.workbook(from))).counts.variables).toEqual({
      created: 0,
      changed: 0,
      left: 3,
    });
  });

  test('names sheet and cell of a problem; the filled template is imported (R-A5)', async () => {
    const manager = await stack.newAccount();
    const headers = { authorization: `Bearer ${manager.token}` };
    const response = await fetch(`${stack.api.origin}/structure/template`, { headers });
    const workbook = new excel.Workbook();
    await workbook.xlsx.load(await response.arrayBuffer());
    const fill = (sheet: string, row: number, members: Readonly<Record<string, string | number>>) => {
      const found = workbook.getWorksheet(sheet) as excel.Worksheet;
      const header = (found.getRow(1).values as string[]).slice(1);
      for (const [name, value] of Object.entries(members))
        found.getRow(row).getCell(header.indexOf(name) + 1).value = value;
    };
    fill('sites', 2, { name: 'Bakery', timeZoneId: 'Europe/Brussels' });
    fill('sources', 2, { siteName: 'Bakery', serialNumber: 7, name: 'Oven' });
    fill('variables', 2, { siteName: 'Bakery', sourceSerialNumber: 7, mappingConfig: 'kWh', granularity: 0 });
    const bytes = async () => new Uint8Array(await workbook.xlsx.writeBuffer());
    const refused = await stack.run(manager, await bytes());
    expect(refused.state).toBe('Refused');
    expect(refused.problems).toEqual([
      { path: expect.stringMatching(/^variables![A-Z]+2$/), message: expect.any(String) },
    ]);
    fill('variables', 2, { granularity: 15, granularityTimeBase: 'Minute' });
    expect(await stack.run(manager, await bytes())).toMatchObject({ state: 'Completed', problems: [] });
    expect(JSON.parse(await stack.text(manager)).sources).toMatchObject([{ serialNumber: '7', name: 'Oven' }]);
  });

  test('that is a zip bomb, is damaged or is another kind of archive fails, and the next import runs (R-E4)', async () => {
    const manager = await stack.newAccount();
    const failureOf = async (bytes: Uint8Array) => (await stack.run(manager, bytes)).failure?.code;
    const bomb = makeZip([{ name: 'xl/workbook.xml', content: new Uint8Array(20 << 20) }]);
    expect(await failureOf(bomb)).toBe('zip_bomb');
    expect(await failureOf(makeZip([{ name: 'a.txt', content: 'a' }]))).toBe('wrong_format');
    expect(await failureOf((await stack.workbook(manager)).subarray(0, 600))).toBe('damaged_file');
    expect((await stack.run(manager, DOCUMENT)).state).toBe('Completed');
  });
});
