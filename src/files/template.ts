/**
 * Template of a Standard File: the header with the columns of §2 and R-E2, without rows, so that uploading the template
 * unchanged ingests nothing. The workbook formats dates, checks dates and values, and offers the built-in variable
 * types in a drop-down.
 */
import type Excel from 'exceljs';
import { VARIABLE_TYPES } from '../structure/catalogue/types.ts';

interface TemplateColumn {
  readonly name: string;
  /** Number format of the column's cells in the workbook. */
  readonly format?: string;
  readonly check?: Excel.DataValidation;
}

const DATE_FORMAT = 'yyyy-mm-dd"T"hh:mm:ss';
// Last row that the workbook validates. exceljs expands validated ranges cell by cell when it loads a
// workbook: 1,048,576 rows took 5 s.
const LAST_CHECKED_ROW = 10_000;
const TYPE_SHEET = 'Variable types';

const COLUMNS: readonly TemplateColumn[] = [
  {
    name: 'date',
    format: DATE_FORMAT,
    check: warning('date', 'greaterThan', '1900-03-01', {
      title: 'Date',
      text: 'Date and time in the time zone of the source, such as 2026-03-01 00:15:00',
    }),
  },
  {
    name: 'value',
    check: warning('decimal', 'between', '-1E+300', { title: 'Value', text: 'A finite number' }, '1E+300'),
  },
  ...['variable_id', 'source_id', 'source_serialnumber', 'source_ean', 'source_name', 'source_meternumber'].map(
    (name) => ({ name }),
  ),
  { name: 'mapping_config' },
  {
    name: 'variable_type_id',
    check: {
      type: 'list',
      allowBlank: true,
      // The list offers only the ids of the built-in types, but the cell accepts any other id too.
      showErrorMessage: false,
      formulae: [`'${TYPE_SHEET}'!$A$2:$A$${VARIABLE_TYPES.length + 1}`],
    },
  },
  { name: 'version' },
  { name: 'tags' },
];

/** Names of the columns, in the order of the template. */
export const TEMPLATE_COLUMNS: readonly string[] = COLUMNS.map(({ name }) => name);

/** Returns the template as CSV. The template consists of the header line alone (§2). */
export function csvTemplate(): string {
  return `${TEMPLATE_COLUMNS.join(',')}\n`;
}

/**
 * Returns the template as an xlsx workbook. The second sheet lists the built-in variable types; an upload does not read
 * this sheet (R-E2).
 */
export async function xlsxTemplate(): Promise<Uint8Array> {
  // Loaded on demand: exceljs takes 0.3 s and 40 MB that most processes never need.
  const { default: excel } = await import('exceljs');
  const workbook = new excel.Workbook();
  const sheet = workbook.addWorksheet('Data', { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = COLUMNS.map(({ name, format }) => ({
    header: name,
    width: Math.max(12, name.length + 2, format === undefined ? 0 : 22),
    ...(format !== undefined && { style: { numFmt: format } }),
  }));
  sheet.getRow(1).font = { bold: true };
  for (const [index, { check }] of COLUMNS.entries()) {
    const letter = sheet.getColumn(index + 1).letter;
    if (check) validationsOf(sheet).add(`${letter}2:${letter}${LAST_CHECKED_ROW}`, check);
  }
  const types = workbook.addWorksheet(TYPE_SHEET);
  types.addRow(['id', 'name']);
  for (const { id, name } of VARIABLE_TYPES) types.addRow([id, name]);
  return new Uint8Array(await workbook.xlsx.writeBuffer());
}

/**
 * Returns a sheet's `dataValidations`, a property that exceljs has but does not declare. Its `add` takes a whole range.
 */
function validationsOf(sheet: Excel.Worksheet) {
  type Validations = { readonly add: (range: string, validation: Excel.DataValidation) => void };
  return (sheet as unknown as { readonly dataValidations: Validations }).dataValidations;
}

/**
 * Creates a validation that warns about a value, but lets the user keep the value. The upload may accept the value, for
 * example a date as ISO 8601 text.
 */
function warning(
  type: 'date' | 'decimal',
  operator: Excel.DataValidationOperator,
  from: string,
  prompt: { readonly title: string; readonly text: string },
  to?: string,
): Excel.DataValidation {
  const toFormula = (bound: string) => (type === 'date' ? new Date(`${bound}T00:00:00Z`) : Number(bound));
  return {
    ...{ type, operator, allowBlank: true, showInputMessage: true, showErrorMessage: true, errorStyle: 'warning' },
    ...{ promptTitle: prompt.title, prompt: prompt.text, errorTitle: prompt.title, error: prompt.text },
    formulae: [from, ...(to === undefined ? [] : [to])].map(toFormula),
  };
}
