/**
 * `POST /structure/import`: importing a workbook has the same result as importing a JSON document. An error names the
 * cell that caused it, and the import of a hostile archive fails. Forms can be imported from JSON and from xlsx.
 */
import excel from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeZip } from '../../../fixtures/files/make-workbook.ts';
import { type ExchangeStack, startExchangeStack } from './exchange-fixture.ts';

/** Worksheets have the member `dataValidations`, but the types of exceljs do not declare it. */
interface Listed {
  readonly dataValidations: { model: object };
}

let stack: ExchangeStack;
beforeAll(async () => {
  stack = await startExchangeStack();
});
afterAll(() => stack.close());

const DOCUMENT = {
  sites: [{ name: 'é "x" 😀', externalId: 'E-1', clientData: { text: `${'é😀'.repeat(10_700)} end` } }],
  sources: [{ siteExternalId: 'E-1', serialNumber: '007', name: '"q" \ufffe\u0001', tags: ['a', 'b|c'] }],
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

describe('structure import: workbooks', () => {
  test('when a workbook of an account is imported into an empty account, the JSON exports of the two accounts are equal (R-A13)', async () => {
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

  test('the template has drop-down lists and can be imported when filled in, and a refusal names the sheet and cell of an invalid value (R-A5)', async () => {
    const manager = await stack.newAccount();
    const headers = { authorization: `Bearer ${manager.token}` };
    const response = await fetch(`${stack.api.origin}/structure/template`, { headers });
    const workbook = new excel.Workbook();
    await workbook.xlsx.load(await response.arrayBuffer());
    const listOf = (sheet: string, member: string) => {
      const found = workbook.getWorksheet(sheet) as excel.Worksheet;
      const column = (found.getRow(1).values as string[]).indexOf(member);
      return found.getRow(2).getCell(column).dataValidation?.formulae?.[0] as string | undefined;
    };
    expect(listOf('variables', 'aggregate')).toMatch(/^"SUM,.*MAX.*"$/);
    expect(listOf('variables', 'isVersioned')).toBe('"TRUE,FALSE"');
    expect(listOf('variables', 'siteName')).toMatch(/^'?sites'?!\$/);
    expect(listOf('sites', 'timeZoneId')).toMatch(/^'?lists'?!\$/);
    expect(listOf('forms', 'entityType')).toBe('"Site,Source,Variable"');
    expect(listOf('catalogues', 'catalogue')).toMatch(/^"UnitFamily,Unit,/);
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
    const variables = workbook.getWorksheet('variables') as excel.Worksheet;
    const column = variables.getColumn((variables.getRow(1).values as string[]).indexOf('granularity')).letter;
    expect(refused.problems).toEqual([{ path: `variables!${column}2`, message: expect.any(String) }]);
    const bare = new excel.Workbook();
    bare.addWorksheet('forms').addRows([
      ['entityType', 'name'],
      ['Site', 'Building'],
    ]);
    expect(await stack.run(manager, new Uint8Array(await bare.xlsx.writeBuffer()))).toMatchObject({
      problems: [{ path: 'forms!2.groups', message: expect.stringMatching(/^is required, because/) }],
    });
    fill('variables', 2, { granularity: 15, granularityTimeBase: 'Minute' });
    // Removes the drop-down lists, because exceljs takes a second to write their 2,000 rows. The first import of this
    // test has already read a workbook with these lists.
    for (const { dataValidations } of workbook.worksheets as unknown as readonly Listed[]) dataValidations.model = {};
    expect(await stack.run(manager, await bytes())).toMatchObject({ state: 'Completed', problems: [] });
    expect(JSON.parse(await stack.text(manager)).sources).toMatchObject([{ serialNumber: '7', name: 'Oven' }]);
  });

  test('unknown columns are ignored, even one named `constructor`', async () => {
    const workbook = new excel.Workbook();
    workbook.addWorksheet('sites').addRows([
      ['name', 'constructor', 'toString'],
      ['Bakery', 'x', 'y'],
    ]);
    const result = await stack.run(await stack.newAccount(), new Uint8Array(await workbook.xlsx.writeBuffer()));
    expect(result).toMatchObject({ state: 'Completed', problems: [] });
  });

  test('the template can be read even if the name of a unit family contains a character that XML does not allow', async () => {
    const manager = await stack.newAccount();
    expect((await manager.post('/unitFamily', { name: 'Odd \ufffe' })).status).toBe(200);
    const headers = { authorization: `Bearer ${manager.token}` };
    const response = await fetch(`${stack.api.origin}/structure/template`, { headers });
    const workbook = new excel.Workbook();
    await workbook.xlsx.load(await response.arrayBuffer());
    expect(workbook.getWorksheet('lists')?.getSheetValues().flat()).toContain('Odd \ufffe');
  });

  test('the import of a zip bomb, a damaged workbook or an archive without a workbook fails (R-E4)', async () => {
    const manager = await stack.newAccount();
    const failureOf = async (bytes: Uint8Array) => (await stack.run(manager, bytes)).failure?.code;
    const bomb = makeZip([{ name: 'xl/workbook.xml', content: new Uint8Array(20 << 20) }]);
    expect(await failureOf(bomb)).toBe('zip_bomb');
    expect(await failureOf(makeZip([{ name: 'a.txt', content: 'a' }]))).toBe('wrong_format');
    expect(await failureOf((await stack.workbook(manager)).subarray(0, 600))).toBe('damaged_file');
    const encrypted = new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]);
    await expect(stack.send(manager, encrypted)).rejects.toThrow(/^415 .*encrypted or in the old format \.xls; save/);
    await expect(stack.send(manager, new Uint8Array(4))).rejects.toThrow(/^415 .*but it is not a zip archive/);
    expect((await stack.run(manager, DOCUMENT)).state).toBe('Completed');
  });
});

describe('structure import: forms', () => {
  const AREA = { name: 'Area', type: 'Double', minimum: 0, maximum: 9000, unitId: 'Stère', isRequired: true };
  const USE = {
    name: 'Use',
    type: 'String',
    isList: true,
    items: [{ name: 'Büro', value: 'office' }, { value: 'shop' }],
  };
  const building = { entityType: 'Site', name: 'Building', groups: [{ name: 'Main', fields: [AREA, USE] }] };
  const boiler = {
    entityType: 2,
    name: 'Boiler',
    groups: [{ name: 'A', fields: [{ name: 'Fuel', type: 'Int', unitId: 8 }] }],
  };
  const document = {
    catalogues: [{ catalogue: 'Unit', name: 'Stère', unitFamily: 'Volume', divisor: 1 }],
    forms: [building, boiler],
    sites: [{ name: 'S', clientData: { Building: { Main: { Area: 12, Use: 'shop' } } } }, { name: 'T' }],
  };

  test('an import copies exported forms to another account, with the ranges, choices and units of fields (R-A13, R-C11)', async () => {
    const [from, to] = [await stack.newAccount(), await stack.newAccount()];
    expect(await stack.run(from, document, { whatIf: true })).toMatchObject({
      problems: [],
      counts: { forms: { created: 2 } },
    });
    expect((await from.get('/form')).body).toEqual([]);
    expect(await stack.run(from, document)).toMatchObject({ state: 'Completed', problems: [] });
    const text = await stack.text(from);
    expect(JSON.parse(text).forms).toEqual([building, { ...boiler, entityType: 'Source' }]);
    expect(await stack.run(to, await stack.workbook(from))).toMatchObject({ state: 'Completed', problems: [] });
    expect(await stack.text(to)).toBe(text);
    expect(await stack.run(to, text)).toMatchObject({ counts: { forms: { created: 0, changed: 0, left: 2 } } });
    const { body: units } = await to.get<readonly { readonly id: number; readonly name: string }[]>('/units');
    const stere = units.find(({ name }) => name === 'Stère')?.id;
    expect((await to.get('/form?name=building')).body).toMatchObject([
      { entityType: 'Site', groups: [{ fields: [{ name: 'Area', unitId: stere }, { items: USE.items }] }] },
    ]);
    const wider = { ...building, groups: [{ name: 'Main', fields: [{ ...AREA, maximum: 9999 }, USE] }] };
    const changed = await stack.run(to, { forms: [wider, { entityType: 'Source', name: 'Boiler' }] });
    const [first, second] = await stack.rows(to, changed.id);
    expect(first).toMatchObject({
      action: 'Changed',
      changes: { groups: { from: [{ fields: [{ maximum: 9000 }, {}] }] } },
    });
    expect(second).toEqual({ kind: 'forms', place: '$.forms[1]', action: 'Left', id: expect.any(Number) });
    expect(JSON.parse(await stack.text(to)).forms).toEqual([wider, { ...boiler, entityType: 'Source' }]);
    const { body: sites } = await from.get<readonly { readonly id: number }[]>('/sites');
    const formsOf = async (id: number | undefined) =>
      JSON.parse(await stack.text(from, `?siteIds=${id}`)) as { readonly catalogues: unknown; readonly forms: unknown };
    const filled = await formsOf(sites[0]?.id);
    expect(filled).toMatchObject({ catalogues: [{ name: 'Stère' }], forms: [building] });
    expect(await formsOf(sites[1]?.id)).toMatchObject({ catalogues: [], forms: [] });
  });

  test('the `clientData` of a document is checked against the forms in the same document, and a document with a fault is refused as a whole, with the path of each fault (R-C11, R-A5)', async () => {
    const manager = await stack.newAccount();
    const problemsOf = async (content: typeof document | object) => {
      const { state, problems } = await stack.run(manager, content);
      expect(state).toBe('Refused');
      return problems.map(({ path, message }) => `${path} ${message}`);
    };
    const sites = [{ name: 'S', clientData: { Building: { Main: { Area: -1 } } } }];
    expect(await problemsOf({ ...document, sites })).toEqual([
      '$.sites[0].clientData.Building.Main.Area must be at least 0, got -1',
    ]);
    expect((await manager.get('/form')).body).toEqual([]);
    expect(await stack.run(manager, document)).toMatchObject({ state: 'Completed' });
    const field = { name: 'X', type: 'Int', unitId: 'nothing' };
    const fields = [{ ...field, unitId: 'stère', minimum: 2, maximum: 1 }];
    expect(await problemsOf({ forms: [{ entityType: 'Site', name: 'N', groups: [{ name: 'G', fields }] }] })).toEqual([
      '$.forms[0].groups[0].fields[0].maximum must not be less than minimum (2), got 1',
    ]);
    const forms = [
      { entityType: 'Site', name: 'building' },
      { entityType: 'Source', name: 'Building' },
      { entityType: 'Site', name: 'Unit', groups: [{ name: 'G', fields: [field] }] },
      { entityType: 'Site', name: 'unit', groups: [] },
    ];
    expect(await problemsOf({ forms })).toEqual([
      '$.forms[0].name must be "Building", as the account spells it, got "building"; clientData is case-sensitive',
      '$.forms[1].groups is required, because the account has no form with this entityType and name yet',
      '$.forms[2].groups[0].fields[0].unitId must be an id, or the name of an entry of GET /units or of the document, got "nothing"; correct the name or add the entry',
      '$.forms[3].name names the same form as $.forms[2]',
    ]);
  });
});
