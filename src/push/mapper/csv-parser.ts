/**
 * Parses CSV into texts (RFC 4180). The separator is the most frequent of comma, semicolon and tab in the first line;
 * any line end is accepted. fast-csv is not used, because it takes ten times as long (MEASUREMENTS.md) and refuses text
 * after a closing quote, which this parser accepts.
 */
import { BodyError, placeOf } from './body-error.ts';

const SEPARATORS = [',', ';', '\t'] as const;

export type CsvRow = readonly string[];

/**
 * @returns the fields of each row; an empty line is not a row, and a line of only `""` is not a row.
 * @throws {BodyError} when a quote is not closed.
 */
export function parseCsv(text: string): readonly CsvRow[] {
  const separator = findSeparator(text);
  const rows: CsvRow[] = [];
  let row: string[] = [];
  let position = text.startsWith('\ufeff') ? 1 : 0;
  while (position < text.length) {
    const field = readField(text, position, separator);
    if (!field) throw new BodyError(`the body must be CSV; the quote at ${placeOf(text, position)} is not closed`);
    row.push(field.value);
    position = field.end;
    if (text[position] === separator) {
      position += 1;
      if (position < text.length) continue;
      row.push('');
    }
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
    if (text[position] === '\r') position += 1;
    if (text[position] === '\n') position += 1;
  }
  return rows;
}

/**
 * @returns one object per row after the first. The names are the trimmed fields of the first row. Missing fields are
 *   ''.
 */
export function toRecords([header = [], ...rows]: readonly CsvRow[]): readonly Readonly<Record<string, string>>[] {
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name.trim(), row[index] ?? ''])));
}

interface Field {
  readonly value: string;
  /** Position where the field ends: at a separator, at a line end, or at the end of the text. */
  readonly end: number;
}

/** @returns undefined when the field starts with a quote that is not closed. */
function readField(text: string, start: number, separator: string): Field | undefined {
  if (text[start] !== '"') {
    const end = findEnd(text, start, separator);
    return { value: text.slice(start, end), end };
  }
  let value = '';
  let position = start + 1;
  for (;;) {
    const quote = text.indexOf('"', position);
    if (quote < 0) return undefined;
    value += text.slice(position, quote);
    position = quote + 1;
    if (text[position] !== '"') break;
    value += '"';
    position += 1;
  }
  const end = findEnd(text, position, separator);
  return { value: value + text.slice(position, end), end };
}

function findEnd(text: string, start: number, separator: string): number {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return end;
}

function findSeparator(text: string): string {
  const line = text.slice(0, Math.max(0, text.search(/[\r\n]|$/)));
  const counts = SEPARATORS.map((separator) => line.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',';
}
