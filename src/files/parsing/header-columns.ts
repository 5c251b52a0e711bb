/**
 * Finds the columns of a Standard File by the names in its header (§2, R-E2). The names may have any letter case and
 * any order. Unknown columns are ignored.
 */
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import { FileRefusal } from '../standard-file.ts';

export type Identifier = keyof TargetIdentifiers;

/** The columns of a header. A column is given by its index; the first column has the index 0. */
export interface Columns {
  readonly date: number;
  readonly value: number;
  readonly version: number | undefined;
  readonly tags: number | undefined;
  readonly identifiers: readonly { readonly name: Identifier; readonly column: number }[];
  /** Names of the unknown columns. */
  readonly ignored: readonly string[];
  /** Number of columns of the header, without empty columns at its end. */
  readonly count: number;
}

type Role = 'date' | 'value' | 'version' | 'tags' | Identifier;

/** The column of each identifier, for error messages. */
export const COLUMN_OF: Readonly<Record<Identifier, string>> = {
  variableId: 'variable_id',
  sourceId: 'source_id',
  sourceSerialNumber: 'source_serialnumber',
  sourceEan: 'source_ean',
  sourceName: 'source_name',
  meterNumber: 'source_meternumber',
  mappingConfig: 'mapping_config',
  variableTypeId: 'variable_type_id',
};

// This is a Map, not an object: for a column named `__proto__`, an object would return a member that it inherits.
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['date', 'date'],
  ['value', 'value'],
  ['version', 'version'],
  ['tags', 'tags'],
  ...Object.entries(COLUMN_OF).map(([role, column]) => [column, role as Identifier] as const),
  ['source_serial_number', 'sourceSerialNumber'],
]);

const NOT_IDENTIFIERS: ReadonlySet<Role> = new Set(['date', 'value', 'version', 'tags']);
const MAX_SHOWN = 20;

/** @returns how many names of the header are known columns. */
export function countKnown(header: readonly string[]): number {
  return header.filter((name) => ROLES.has(normalize(name))).length;
}

/**
 * Finds the columns of a header (R-E2).
 * @param row number of the header's row, for error messages (see `RowError`).
 * @throws {FileRefusal} missing_column when required columns are missing; duplicate_column when two names mean the same
 *   known column.
 */
export function planColumns(header: readonly string[], row: number): Columns {
  const columnOf = new Map<Role, number>();
  const ignored: string[] = [];
  let count = 0;
  for (const [column, name] of header.entries()) {
    if (name.trim() !== '') count = column + 1;
    const role = ROLES.get(normalize(name));
    if (role === undefined) {
      if (name.trim() !== '') ignored.push(name.trim());
      continue;
    }
    const earlier = columnOf.get(role);
    if (earlier !== undefined) throw duplicate(header, row, earlier, column);
    columnOf.set(role, column);
  }
  const identifiers = [...columnOf].flatMap(([name, column]) => (isIdentifier(name) ? [{ name, column }] : []));
  const [date, value] = [columnOf.get('date'), columnOf.get('value')];
  if (date === undefined || value === undefined || identifiers.length === 0) throw missing(columnOf, header, row);
  return { date, value, version: columnOf.get('version'), tags: columnOf.get('tags'), identifiers, ignored, count };
}

/**
 * @returns an array whose element at the index of a column is 1 when the column is read, and otherwise 0. The array
 * ends with the last column that is read.
 */
export function usedColumns({ date, value, version, tags, identifiers }: Columns): Uint8Array {
  const columns = [date, value, version, tags, ...identifiers.map(({ column }) => column)].flatMap(
    (column) => column ?? [],
  );
  const used = new Uint8Array(Math.max(...columns) + 1);
  for (const column of columns) used[column] = 1;
  return used;
}

function isIdentifier(role: Role): role is Identifier {
  return !NOT_IDENTIFIERS.has(role);
}

function normalize(name: string): string {
  return name.trim().toLowerCase();
}

function duplicate(header: readonly string[], row: number, first: number, second: number): FileRefusal {
  const [one, other] = [first, second].map((at) => `${JSON.stringify(header[at]?.trim())} in column ${at + 1}`);
  const message = `${one} and ${other} mean the same column; the header in row ${row} must contain only one of them`;
  return new FileRefusal('duplicate_column', message);
}

function missing(columnOf: ReadonlyMap<Role, number>, header: readonly string[], row: number): FileRefusal {
  const names = [
    ...(['date', 'value'] as const).filter((role) => !columnOf.has(role)),
    ...([...columnOf.keys()].some(isIdentifier)
      ? []
      : ['an identifier (such as variable_id, or source_name together with mapping_config)']),
  ];
  const shown = header.slice(0, MAX_SHOWN).map((name) => JSON.stringify(name.trim().slice(0, 50)));
  const rest = header.length > MAX_SHOWN ? ` and ${header.length - MAX_SHOWN} more` : '';
  const where = header.length > 0 ? `the header in row ${row}` : 'the header';
  return new FileRefusal(
    'missing_column',
    `${where} must have ${names.join(' and ')}, got ${shown.join(', ') || 'no columns'}${rest}`,
  );
}
