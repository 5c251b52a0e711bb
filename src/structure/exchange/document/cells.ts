/**
 * Converts values of a document to cells of a sheet, and back:
 * - null: empty cell. An empty cell is read as null if the member can be cleared; otherwise, the member counts as not
 *   given.
 * - object or list: JSON. People may also write a list as texts separated by `|`.
 * - text: unchanged if `isPlain` accepts the text; otherwise as JSON.
 * - text that is too long for a cell: continues in further rows, with `true` in the column `continued`.
 */

import type { WorkbookCell, WorkbookRow } from '../../../platform/http/workbook-writer.ts';
import { parseJsonText } from '../../../platform/json/json-text.ts';
import { KINDS, type KindName, type ListName } from './kinds.ts';

/**
 * @param letters maps members to the letters of their columns.
 * @returns the path of a member: the cell, such as `sites!B5`; without a column, the row and the member, such as
 *   `sites!5.name`.
 */
export function cellPath(
  sheet: string,
  row: number | string,
  member: string,
  letters: Readonly<Record<string, string>> | undefined,
): string {
  const letter = letters?.[member];
  return letter === undefined ? `${sheet}!${row}.${member}` : `${sheet}!${letter}${row}`;
}

/** Maximum number of characters written to a cell; the format allows 32,767. */
const MAX_CELL_CHARACTERS = 32_000;

/**
 * Converts a row of a document to one row of cells, or to several when a text is too long for a cell. The last column
 * is `continued`.
 */
export function toCells(values: readonly unknown[]): readonly WorkbookRow[] {
  const columns = values.map((value) => split(toCell(value)));
  const height = Math.max(1, ...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) => [
    ...columns.map((parts) => parts[row] ?? null),
    row === 0 ? null : true,
  ]);
}

/** Splits a text that is too long for a cell into parts that fit. No character is cut in two. */
function split(cell: WorkbookCell): readonly WorkbookCell[] {
  if (typeof cell !== 'string' || cell.length <= MAX_CELL_CHARACTERS) return [cell];
  const parts: string[] = [];
  for (let start = 0; start < cell.length; ) {
    const end = start + MAX_CELL_CHARACTERS;
    const isWithin = /[\uD800-\uDBFF]/.test(cell.charAt(end - 1));
    parts.push(cell.slice(start, isWithin ? end - 1 : end));
    start = isWithin ? end - 1 : end;
  }
  return parts;
}

function toCell(value: unknown): WorkbookCell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'object') return JSON.stringify(value);
  const text = String(value);
  return isPlain(text) ? text : JSON.stringify(text);
}

/** @returns true when the text is written to a cell unchanged. Other texts are written as JSON. */
function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && !/^"[\s\S]*"$/.test(text);
}

/** How the cells of a column are read. */
type CellKind = 'text' | 'json' | 'list' | 'plain';

const CELL_KINDS: Readonly<Record<KindName, ReadonlyMap<string, CellKind>>> = {
  sites: cellKinds('sites'),
  sources: cellKinds('sources'),
  variables: cellKinds('variables'),
};

/** Members that cannot be cleared: an empty cell keeps their value. */
const KEPT: Readonly<Record<KindName, readonly string[]>> = {
  sites: ['name', 'timeZoneId'],
  sources: ['name'],
  variables: [],
};

function cellKinds(kind: KindName): ReadonlyMap<string, CellKind> {
  const { resource, parents } = KINDS[kind];
  const kinds = new Map<string, CellKind>([['calculated', 'json']]);
  for (const { own, name } of parents) kinds.set(own, 'text').set(name, 'text');
  for (const [name, { isJson, filterType }] of Object.entries(resource.fields)) {
    kinds.set(name, isJson ? 'json' : filterType === 'texts' ? 'list' : filterType === 'text' ? 'text' : 'plain');
  }
  return kinds;
}

/**
 * Converts a cell to the value of a member.
 * @returns the value; undefined when an empty cell means that the row leaves the member out. Where JSON is expected,
 * text that is not valid JSON is returned unchanged.
 */
export function readCell(kind: ListName, member: string, cell: unknown): unknown {
  if (kind === 'catalogues' || kind === 'forms') return readDefinitionCell(member, cell);
  if (cell === null || cell === '') return isKept(kind, member) ? undefined : null;
  const cellKind = CELL_KINDS[kind].get(member) ?? 'plain';
  if (typeof cell !== 'string') return cellKind === 'text' ? String(cell) : cell;
  const isQuoted = /^"[\s\S]*"$/.test(cell);
  if (isQuoted || cellKind === 'json' || (cellKind === 'list' && cell.startsWith('['))) return parseJson(cell);
  return cellKind === 'list' ? cell.split('|').map((item) => item.trim()) : cell;
}

/**
 * Reads a cell of the sheets `catalogues` and `forms`. An empty cell keeps the stored value: no member can be cleared.
 */
function readDefinitionCell(member: string, cell: unknown): unknown {
  if (cell === null || cell === '') return undefined;
  if (typeof cell === 'string') return member === 'groups' || /^"[\s\S]*"$/.test(cell) ? parseJson(cell) : cell;
  return member === 'divisor' || member === 'offset' ? cell : String(cell);
}

/**
 * @returns true when an empty cell leaves the stored value unchanged: the member is part of a key of the resource or of
 * a parent, or it cannot be cleared.
 */
function isKept(kind: KindName, member: string): boolean {
  const { self, parents, keyField } = KINDS[kind];
  const keys = [keyField, self.occurrence, ...parents.flatMap(({ own, name, occurrence }) => [own, name, occurrence])];
  return keys.includes(member) || KEPT[kind].includes(member);
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return text;
  }
}
