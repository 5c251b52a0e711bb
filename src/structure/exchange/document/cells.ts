/**
 * Values of a document as cells of a sheet, and back. An empty cell is null. Objects and lists are JSON. Text that could be
 * taken for something else is a JSON string, in quotes. A text longer than a cell goes on in further rows, which have `true`
 * in the column `continued`.
 */
import type { WorkbookCell, WorkbookRow } from '../../../platform/http/workbook-writer.ts';

/** Below the limit of the format, 32,767 characters. */
const MAX_CELL_CHARACTERS = 32_000;

/** Converts a row to one row of cells, or to several when a text is longer than a cell; the last cell is `continued`. */
export function toCells(values: readonly unknown[]): readonly WorkbookRow[] {
  const columns = values.map((value) => split(toCell(value)));
  const height = Math.max(1, ...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) => [
    ...columns.map((parts) => parts[row] ?? null),
    row === 0 ? null : true,
  ]);
}

/** Splits a long text into parts that fit a cell, never within a character. */
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

/** Whether a cell with this text is read as the text itself: it is not empty, trimmed by writers, or in quotes. */
function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && !/^"[\s\S]*"$/.test(text);
}
