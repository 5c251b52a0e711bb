/**
 * `GET /structure/template`: an empty exchange document as a workbook that people fill in. Drop-down lists offer
 * enumerations, catalogues, time zones, and the sites and sources entered on the other sheets. An import of the
 * unchanged template changes nothing.
 */
import { Readable } from 'node:stream';
import type Excel from 'exceljs';
import { Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { escapeText, XLSX_TYPE } from '../../platform/http/workbook-writer.ts';
import { AGGREGATE } from '../catalogue/enumerations.ts';
import { type TimeZone, timeZoneLister } from '../catalogue/list-time-zones.ts';
import { type CatalogueType, listTypes, listVariableTypes } from '../catalogue/list-types.ts';
import { listUnitFamilies, listUnits } from '../catalogue/units.ts';
import { ENTITY_TYPE } from '../forms/form-definition.ts';
import { CATALOGUE_NAMES } from './document/entry-rows.ts';
import { CONTINUED, KIND_NAMES, KINDS, type KindName, type ListName, listMembers } from './document/kinds.ts';

/**
 * Last row whose cells have drop-down lists. When exceljs reads a workbook, it expands the range of a drop-down list
 * into single cells, so the range must be short.
 */
const LAST_LISTED_ROW = 2000;
const LISTS = 'lists';

/**
 * One list on the sheet `lists`. The values are texts or ids. For ids, the next column has the names of the entries.
 */
interface List {
  readonly name: string;
  readonly values: readonly (string | number)[];
  readonly names?: readonly string[];
}

/** Routes of the template, which every user may download. */
export function templateRoutes(database: Queryable): Hono<CallerEnv & RequestIdEnv> {
  const listTimeZones = timeZoneLister(database);
  // Caches the last template. Writing a template takes 0.1 s, and all accounts without catalogue entries of their own
  // get the same template.
  let last: { readonly key: string; readonly bytes: Promise<Uint8Array> } | undefined;
  return new Hono<CallerEnv & RequestIdEnv>().get('/structure/template', async (c) => {
    const lists = await readLists(database, c.var.caller.accountId, await listTimeZones());
    const key = JSON.stringify(lists);
    if (last?.key !== key) last = { key, bytes: writeTemplate(lists) };
    const bytes = await last.bytes;
    c.header('Content-Type', XLSX_TYPE);
    c.header('Content-Disposition', 'attachment; filename="structure-template.xlsx"');
    return c.body(Readable.toWeb(Readable.from([Buffer.from(bytes)])) as ReadableStream);
  });
}

const fromCatalogue = (name: string, entries: readonly CatalogueType[]): List => {
  return { name, values: entries.map(({ id }) => id), names: entries.map((entry) => entry.name) };
};

async function readLists(database: Queryable, accountId: number, zones: readonly TimeZone[]): Promise<readonly List[]> {
  const units = await listUnits(database, accountId);
  return [
    { name: 'timeZoneId', values: zones.map(({ id }) => id) },
    fromCatalogue('typeId', await listTypes(database, accountId, 'SiteType')),
    fromCatalogue('sourceTypeId', await listTypes(database, accountId, 'SourceType')),
    fromCatalogue('energyTypeId', await listTypes(database, accountId, 'EnergyType')),
    fromCatalogue('energyUsageId', await listTypes(database, accountId, 'EnergyUsage')),
    fromCatalogue('variableTypeId', await listVariableTypes(database, accountId)),
    {
      name: 'unitId',
      values: units.map(({ id }) => id),
      names: units.map(({ name, symbol }) => `${name} (${symbol})`),
    },
    { name: 'unitFamily', values: (await listUnitFamilies(database, accountId)).map(({ name }) => name) },
  ];
}

async function writeTemplate(lists: readonly List[]): Promise<Uint8Array> {
  // Loaded on demand: exceljs takes 0.3 s and 40 MB that most processes never need.
  const { default: excel } = await import('exceljs');
  const workbook = new excel.Workbook();
  const sheets = IN_ORDER.map((kind) => [kind, addSheet(workbook, kind)] as const);
  const ranges = addLists(workbook, lists);
  for (const [kind, sheet] of sheets) {
    if (kind === 'catalogues') addEntryDropDowns(sheet, ranges);
    else if (kind === 'forms') addFormHelp(sheet);
    else addDropDowns(sheet, kind, ranges);
  }
  return new Uint8Array(await workbook.xlsx.writeBuffer());
}

/** Order of the sheets: people fill in the sites first, and rarely define forms or catalogue entries. */
const IN_ORDER = [...KIND_NAMES, 'forms', 'catalogues'] as const satisfies readonly ListName[];

/** Leaves out the members that people do not fill in: `continued`, and those whose name ends in `occurrence`. */
const columnsOf = (kind: ListName) =>
  listMembers(kind).filter((member) => !/occurrence$/i.test(member) && member !== CONTINUED);

function addSheet(workbook: Excel.Workbook, kind: ListName): Excel.Worksheet {
  const sheet = workbook.addWorksheet(kind, { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = columnsOf(kind).map((header) => ({ header, width: Math.max(12, header.length + 2) }));
  sheet.getRow(1).font = { bold: true };
  return sheet;
}

/** Adds the sheet `lists`. @returns the cells of each list as a range, by the name of the list. */
function addLists(workbook: Excel.Workbook, lists: readonly List[]): ReadonlyMap<string, string> {
  const sheet = workbook.addWorksheet(LISTS, { views: [{ state: 'frozen', ySplit: 1 }] });
  const ranges = new Map<string, string>();
  let column = 1;
  for (const { name, values, names } of lists) {
    fill(sheet, column, [name, ...values]);
    sheet.getColumn(column).width = Math.max(12, name.length + 2);
    const { letter } = sheet.getColumn(column);
    ranges.set(name, `'${LISTS}'!$${letter}$2:$${letter}$${values.length + 1}`);
    if (names) fill(sheet, column + 1, [`${name}: name`, ...names]);
    column += names ? 2 : 1;
  }
  sheet.getRow(1).font = { bold: true };
  return ranges;
}

function fill(sheet: Excel.Worksheet, column: number, values: readonly (string | number)[]): void {
  for (const [index, value] of values.entries())
    sheet.getCell(index + 1, column).value = typeof value === 'string' ? escapeText(value) : value;
}

function addDropDowns(sheet: Excel.Worksheet, kind: KindName, ranges: ReadonlyMap<string, string>): void {
  const { resource } = KINDS[kind];
  for (const [index, member] of columnsOf(kind).entries()) {
    const { members, filterType } = resource.fields[member] ?? {};
    const names = members && Object.keys(members);
    const formula = names
      ? `"${names.join(',')}"`
      : filterType === 'boolean'
        ? '"TRUE,FALSE"'
        : (ranges.get(member) ?? entered(kind, member));
    if (formula === undefined) continue;
    const { letter } = sheet.getColumn(index + 1);
    // Enumerations and booleans accept only listed values. In other columns, the list only suggests values.
    const isStrict = names !== undefined || filterType === 'boolean';
    validationsOf(sheet).add(`${letter}2:${letter}${LAST_LISTED_ROW}`, {
      ...{ type: 'list', allowBlank: true, showErrorMessage: isStrict, formulae: [formula] },
      ...(isStrict && { errorTitle: member, error: `Choose a value from the list` }),
    });
  }
}

function addEntryDropDowns(sheet: Excel.Worksheet, ranges: ReadonlyMap<string, string>): void {
  const lists: Readonly<Record<string, string | undefined>> = {
    catalogue: `"${CATALOGUE_NAMES.join(',')}"`,
    aggregate: `"${Object.keys(AGGREGATE).join(',')}"`,
    unitFamily: ranges.get('unitFamily'),
  };
  for (const [index, member] of columnsOf('catalogues').entries()) {
    const formula = lists[member];
    if (formula === undefined) continue;
    const { letter } = sheet.getColumn(index + 1);
    validationsOf(sheet).add(`${letter}2:${letter}${LAST_LISTED_ROW}`, {
      ...{ type: 'list', allowBlank: true, showErrorMessage: member !== 'unitFamily', formulae: [formula] },
      ...(member !== 'unitFamily' && { errorTitle: member, error: 'Choose a value from the list' }),
    });
  }
}

const GROUPS_EXAMPLE =
  '[{"name":"Main","fields":[{"name":"Area","type":"Double","minimum":0},{"name":"Use","type":"String","isList":true,"items":[{"value":"Office"},{"value":"Shop"}]}]}]';

function addFormHelp(sheet: Excel.Worksheet): void {
  const columns = columnsOf('forms');
  sheet.getRow(1).getCell(columns.indexOf('groups') + 1).note = `Groups of fields as JSON, such as ${GROUPS_EXAMPLE}`;
  const { letter } = sheet.getColumn(columns.indexOf('entityType') + 1);
  validationsOf(sheet).add(`${letter}2:${letter}${LAST_LISTED_ROW}`, {
    ...{
      type: 'list',
      allowBlank: true,
      showErrorMessage: true,
      formulae: [`"${Object.keys(ENTITY_TYPE).join(',')}"`],
    },
    ...{ errorTitle: 'entityType', error: 'Choose a value from the list' },
  });
}

/**
 * Finds the cells of another sheet that `member` can refer to, such as the names of the sites.
 * @returns the range of these cells; undefined when `member` does not refer to another sheet.
 */
function entered(kind: KindName, member: string): string | undefined {
  const from = (sheet: KindName, column: string): string => {
    const letter = String.fromCharCode(65 + columnsOf(sheet).indexOf(column));
    return `'${sheet}'!$${letter}$2:$${letter}$${LAST_LISTED_ROW}`;
  };
  if (kind === 'sites') return undefined;
  if (member === 'siteName') return from('sites', 'name');
  if (member === 'siteExternalId') return from('sites', 'externalId');
  if (kind === 'variables' && member === 'sourceSerialNumber') return from('sources', 'serialNumber');
  return kind === 'variables' && member === 'sourceName' ? from('sources', 'name') : undefined;
}

/**
 * @returns the property `dataValidations` of the sheet. A worksheet of exceljs has this property, but the types of
 *   exceljs do not declare it. Its function `add` adds one data validation to a whole range of cells.
 */
function validationsOf(sheet: Excel.Worksheet) {
  type Validations = { readonly add: (range: string, validation: Excel.DataValidation) => void };
  return (sheet as unknown as { readonly dataValidations: Validations }).dataValidations;
}
