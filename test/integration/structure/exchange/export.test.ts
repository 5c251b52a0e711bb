/**
 * `GET /structure/export`, as JSON and as xlsx. The document has the resources that the caller may read, named by
 * business key instead of id.
 */
import excel from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestClient } from '../../../support/clients/test-client.ts';
import { calculated, createSite, createSource, createVariable } from '../../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

type Row = Readonly<Record<string, unknown>>;
interface StructureDocument {
  readonly format: string;
  readonly sites: readonly Row[];
  readonly sources: readonly Row[];
  readonly variables: readonly Row[];
}

const INPUT = { periodType: 'RelativeDate', period: 1, periodTimeBase: 'Hour', canBeUsedAsATrigger: true };

let api: TestApi;
let mill: { readonly siteId: number; readonly sourceId: number };
let otherSiteId: number;
beforeAll(async () => {
  api = await startTestApi();
  const { manager } = api;
  const siteId = await createSite(manager, { externalId: ' M-1 ', clientData: { Form: { a: 1 } } });
  otherSiteId = await createSite(manager, { name: 'Hidden' });
  const sourceId = await createSource(manager, siteId, { serialNumber: 'S1', tags: ['x'] });
  mill = { siteId, sourceId };
  const hiddenSource = await createSource(manager, otherSiteId, { name: 'Hidden meter' });
  const own = await createVariable(manager, sourceId, { mappingConfig: 'kWh' });
  const hidden = await createVariable(manager, hiddenSource, { mappingConfig: 'secret' });
  const inputs = [
    { alias: 'own', variableId: own, ...INPUT },
    { alias: 'other', variableId: hidden, ...INPUT },
  ];
  await createVariable(manager, sourceId, { mappingConfig: 'sum', calculated: calculated('own + other', inputs) });
  await createVariable(manager, sourceId, { name: 'Twin' });
  await createVariable(manager, sourceId, { name: 'Twin' });
});
afterAll(() => api.close());

const exported = async (client: TestClient, query = '') =>
  (await client.get<StructureDocument>(`/structure/export${query}`)).body;

const inputsOf = (row: Row | undefined) =>
  (row as { readonly calculated?: { calculatedVariableFormulas: [{ variables: Row[] }] } }).calculated
    ?.calculatedVariableFormulas[0].variables ?? [];

describe('structure export: the document', () => {
  test('names sites, sources and variables by key, not by id (§1)', async () => {
    const { format, sites, sources, variables } = await exported(api.manager);
    expect(format).toBe('tidemark-structure-1');
    expect(sites).toMatchObject([
      { externalId: 'M-1', name: 'Mill', clientData: { Form: { a: 1 } } },
      { name: 'Hidden' },
    ]);
    expect(sources).toMatchObject([
      { siteExternalId: 'M-1', serialNumber: 'S1', tags: ['x'] },
      { siteName: 'Hidden', name: 'Hidden meter' },
    ]);
    const keys = variables.map(({ mappingConfig, name, occurrence }) => [mappingConfig ?? name, occurrence]);
    expect(keys).toEqual([
      ['kWh', undefined],
      ['secret', undefined],
      ['sum', undefined],
      ['Twin', 1],
      ['Twin', 2],
    ]);
    expect(inputsOf(variables[2])).toEqual([
      { alias: 'own', mappingConfig: 'kWh', ...INPUT },
      { alias: 'other', siteName: 'Hidden', sourceName: 'Hidden meter', mappingConfig: 'secret', ...INPUT },
    ]);
    expect(JSON.stringify([sites, sources, variables])).not.toMatch(/"(id|siteId|sourceId|variableId)"/);
  });

  test('contains only the resources that are granted to the exporting USER; an input variable that is not granted appears only as its id (R-B9)', async () => {
    const user = await api.signIn('una', 'USER', { sites: [mill.siteId] });
    const text = JSON.stringify(await exported(user));
    expect(text).toContain('M-1');
    expect(text).not.toMatch(/Hidden|secret/);
    expect(inputsOf((await exported(user)).variables[1])[1]).toEqual({
      ...{ alias: 'other', ...INPUT },
      variableId: expect.any(Number),
    });
  });

  test('contains nothing of other accounts, and only the requested sites if `siteIds` is given; a `siteId` that is not a number gets 400 (R-A12, R-B9)', async () => {
    const one = await exported(api.manager, `?siteIds=${otherSiteId}`);
    expect([one.sites.length, one.sources.length, one.variables.length]).toEqual([1, 1, 1]);
    const empty = { catalogues: [], forms: [], sites: [], sources: [], variables: [] };
    expect(await exported(api.stranger)).toEqual({ format: one.format, ...empty });
    expect((await api.manager.get('/structure/export?siteId=x')).status).toBe(400);
  });
});

test('structure export: a workbook has one sheet per list and one row per resource; a long text continues in the next row (R-A13)', async () => {
  const text = `${'é😀'.repeat(10_700)} end`;
  await api.manager.patch(`/sites/${otherSiteId}`, [{ op: 'add', path: '/clientData', value: { text } }]);
  const headers = { authorization: `Bearer ${api.manager.token}` };
  const response = await fetch(`${api.origin}/structure/export?format=xlsx`, { headers });
  const workbook = new excel.Workbook();
  await workbook.xlsx.load(await response.arrayBuffer());
  expect(workbook.worksheets.map(({ name, rowCount }) => [name, rowCount])).toEqual([
    ['catalogues', 1],
    ['forms', 1],
    ['sites', 4],
    ['sources', 3],
    ['variables', 6],
  ]);
  const cells = (row: number) =>
    ((workbook.getWorksheet('sites') as excel.Worksheet).getRow(row).values as unknown[]).slice(1);
  const column = cells(1).indexOf('clientData');
  expect(JSON.parse(`${cells(3)[column]}${cells(4)[column]}`)).toEqual({ text });
  expect(cells(4).at(-1)).toBe(true);
});
