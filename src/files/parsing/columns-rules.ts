/** The header of a Standard File (§2, R-E2): columns by their names in any case and any order; others are ignored. */
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import { FileRefusal } from '../standard-file.ts';

type Identifier = keyof TargetIdentifiers;

/** Places of the columns, from 0. */
export interface Columns {
  readonly date: number;
  readonly value: number;
  readonly version: number | undefined;
  readonly tags: number | undefined;
  readonly identifiers: readonly { readonly name: Identifier; readonly column: number }[];
  /** Names of the columns that mean nothing here. */
  readonly ignored: readonly string[];
  /** How many columns the header has, without empty ones at its end. */
  readonly count: number;
}

type Role = 'date' | 'value' | 'version' | 'tags' | Identifier;

// A Map: a header named __proto__ must find nothing.
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['date', 'date'],
  ['value', 'value'],
  ['version', 'version'],
  ['tags', 'tags'],
  ['variable_id', 'variableId'],
  ['source_id', 'sourceId'],
  ['source_serialnumber', 'sourceSerialNumber'],
  ['source_serial_number', 'sourceSerialNumber'],
  ['source_ean', 'sourceEan'],
  ['source_name', 'sourceName'],
  ['source_meternumber', 'meterNumber'],
  ['mapping_config', 'mappingConfig'],
  ['variable_type_id', 'variableTypeId'],
]);

const NOT_IDENTIFIERS: ReadonlySet<Role> = new Set(['date', 'value', 'version', 'tags']);
const MAX_SHOWN = 20;

/** How many names of a header mean something. */
export function countKnown(header: readonly string[]): number {
  return header.filter((name) => ROLES.has(normalize(name))).length;
}

/**
 * Finds the columns.
 * @throws FileRefusal missing_column naming all that are missing, duplicate_column.
 */
export function planColumns(header: readonly string[]): Columns {
  const places = new Map<Role, number>();
  const ignored: string[] = [];
  let count = 0;
  for (const [column, name] of header.entries()) {
    if (name.trim() !== '') count = column + 1;
    const role = ROLES.get(normalize(name));
    if (role === undefined) {
      if (name.trim() !== '') ignored.push(name.trim());
      continue;
    }
    if (places.has(role)) throw duplicate(name.trim(), places.get(role) ?? 0, column);
    places.set(role, column);
  }
  const identifiers = [...places].flatMap(([name, column]) => (isIdentifier(name) ? [{ name, column }] : []));
  const [date, value] = [places.get('date'), places.get('value')];
  if (date === undefined || value === undefined || identifiers.length === 0) throw missing(places, header);
  return { date, value, version: places.get('version'), tags: places.get('tags'), identifiers, ignored, count };
}

/** 1 for each column that is used, by its place. */
export function usedColumns({ date, value, version, tags, identifiers }: Columns): Uint8Array {
  const places = [date, value, version, tags, ...identifiers.map(({ column }) => column)].flatMap(
    (place) => place ?? [],
  );
  const used = new Uint8Array(Math.max(...places) + 1);
  for (const place of places) used[place] = 1;
  return used;
}

function isIdentifier(role: Role): role is Identifier {
  return !NOT_IDENTIFIERS.has(role);
}

function normalize(name: string): string {
  return name.trim().toLowerCase();
}

function duplicate(name: string, first: number, second: number): FileRefusal {
  return new FileRefusal(
    'duplicate_column',
    `the header names ${JSON.stringify(name)} twice, in columns ${first + 1} and ${second + 1}`,
  );
}

function missing(places: ReadonlyMap<Role, number>, header: readonly string[]): FileRefusal {
  const names = [
    ...(['date', 'value'] as const).filter((role) => !places.has(role)),
    ...([...places.keys()].some(isIdentifier)
      ? []
      : ['an identifier (variable_id, or source_* columns with mapping_config)']),
  ];
  const shown = header.slice(0, MAX_SHOWN).map((name) => JSON.stringify(name.trim().slice(0, 50)));
  return new FileRefusal(
    'missing_column',
    `the header lacks ${names.join(' and ')}; it has ${shown.join(', ') || 'no columns'}`,
  );
}
