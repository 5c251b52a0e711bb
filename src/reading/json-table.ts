/** A table as one JSON array of objects (R-G3). */
import { type CellTexts, cellWriter, instantWriters } from './cell-writers.ts';
import type { Batch, Column, InstantWriter, Table } from './table.ts';

const TEXTS: CellTexts = {
  absent: '',
  // NaN, no value, and what a conversion of units pushed out of range have no number in JSON.
  number: (value) => (Number.isFinite(value) ? `${value}` : 'null'),
  instant: (text) => `"${text}"`,
  text: (text, { kind }) => (kind === 'json' ? text : JSON.stringify(text)),
};

/** Pieces of the array, one per batch. */
export async function* writeJson({ columns, batches }: Table): AsyncGenerator<string> {
  const writers = instantWriters(columns);
  let separator = '[';
  for await (const batch of batches) {
    yield separator + joinRows(columns, batch, writers);
    separator = ',\n';
  }
  yield separator === '[' ? '[]' : ']';
}

function joinRows(columns: readonly Column[], batch: Batch, writers: readonly InstantWriter[]): string {
  const members = columns.map((column, index) => memberWriter(column, batch, index, writers));
  let text = '';
  for (let row = 0; row < batch.rowCount; row++) {
    text += row === 0 ? '{' : ',\n{';
    for (const member of members) text += typeof member === 'string' ? member : member(row);
    text += '}';
  }
  return text;
}

/** A member with the comma before it; the first of a row is always there. */
function memberWriter(
  column: Column,
  { cells }: Batch,
  index: number,
  writers: readonly InstantWriter[],
): ((row: number) => string) | string {
  const own = cells[index] ?? { kind: 'absent' };
  const name = `${index === 0 ? '' : ','}${JSON.stringify(column.name)}:`;
  const write = cellWriter(column, own, writers[index] ?? String, TEXTS);
  if (typeof write === 'string') return write === '' ? '' : name + write;
  if (own.kind !== 'codes') return (row) => name + write(row);
  return (row) => {
    const text = write(row);
    return text === '' ? '' : name + text;
  };
}
