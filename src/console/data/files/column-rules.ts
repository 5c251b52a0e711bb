/**
 * Decides which columns of a Standard File the service reads, and which content type the file has (§2, R-E2). Pure. A
 * unit test compares READ_COLUMNS with the columns that the service reads.
 */

const IDENTIFIERS = [
  'variable_id',
  'source_id',
  'source_serialnumber',
  'source_serial_number',
  'source_ean',
  'source_name',
  'source_meternumber',
  'mapping_config',
  'variable_type_id',
];

/** Names of the columns that the service reads. */
export const READ_COLUMNS: ReadonlySet<string> = new Set(['date', 'value', ...IDENTIFIERS, 'version', 'tags']);

export interface ColumnPlan {
  readonly columns: readonly { readonly name: string; readonly isRead: boolean }[];
  /** Required columns that the file lacks. If there are any, the service accepts the file, but its ingestion fails. */
  readonly missing: readonly ('date' | 'value' | 'identifier')[];
}

/** @param header the column names of the file, in any letter case; spaces around a name are ignored. */
export function planColumns(header: readonly string[]): ColumnPlan {
  const columns = header
    .map((name) => name.trim())
    .filter(Boolean)
    .map((name) => ({ name, isRead: READ_COLUMNS.has(name.toLowerCase()) }));
  const names = new Set(columns.map(({ name }) => name.toLowerCase()));
  const missing: ('date' | 'value' | 'identifier')[] = [];
  if (!names.has('date')) missing.push('date');
  if (!names.has('value')) missing.push('value');
  if (!IDENTIFIERS.some((name) => names.has(name))) missing.push('identifier');
  return { columns, missing };
}

/**
 * @returns true for a name whose file the service refuses: the name of a workbook that is not .xlsx, or a name without
 *   an extension.
 */
export function isRefused(name: string): boolean {
  return /\.(xls|xlsm|xlsb|ods)$/i.test(name) || !/\.[^./\\]+$/.test(name);
}

/** @returns the content type of a Standard File by the ending of its name; undefined for any other file. */
export function typeOf(name: string): string | undefined {
  if (/\.csv$/i.test(name)) return 'text/csv';
  if (/\.xlsx$/i.test(name)) return 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  return undefined;
}
