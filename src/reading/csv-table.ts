/**
 * A table as CSV (RFC 4180) with a header row. Texts are written as they are: what begins with `=` or `+` is not made
 * harmless for spreadsheets, because `-5` is a value, `+1d` may be a VersionTag, and a reader that is a program has to
 * get back what was pushed.
 */
import { type CellTexts, cellWriter, instantWriters } from './cell-writers.ts';
import type { Batch, Column, InstantWriter, Table } from './table.ts';

const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;

const TEXTS: CellTexts = {
  absent: '',
  number: (value) => (Number.isFinite(value) ? `${value}` : ''),
  instant: (text) => text,
  text: quote,
};

/** Pieces of the text, one per batch; the header comes with the first. */
export async function* writeCsv({ columns, batches }: Table): AsyncGenerator<string> {
  const writers = instantWriters(columns);
  let header = columns.map(({ name }) => quote(name)).join(',') + LINE_END;
  for await (const batch of batches) {
    yield header + joinLines(columns, batch, writers);
    header = '';
  }
  if (header !== '') yield header;
}

function joinLines(columns: readonly Column[], batch: Batch, writers: readonly InstantWriter[]): string {
  const cells = columns.map((column, index) =>
    cellWriter(column, batch.cells[index] ?? { kind: 'absent' }, writers[index] ?? String, TEXTS),
  );
  let text = '';
  for (let row = 0; row < batch.rowCount; row++) {
    let separator = '';
    for (const cell of cells) {
      text += separator + (typeof cell === 'string' ? cell : cell(row));
      separator = ',';
    }
    text += LINE_END;
  }
  return text;
}

function quote(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
