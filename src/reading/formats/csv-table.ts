/**
 * Writes a table as CSV (RFC 4180) with a header row. Cells are not escaped against formula injection in spreadsheets,
 * because programs must read back what was pushed: `-5` is a value, and `+1d` may be a VersionTag. A workbook needs no
 * escaping, because its texts are text cells.
 */
import { type CellTexts, instantWriters, joinParts, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Column, InstantWriter, Table } from './table.ts';

const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;

const TEXTS: CellTexts = { none: '', text: quote };

/** Yields the CSV in chunks of bytes; small batches share a chunk. The header is in the first chunk. */
export async function* writeCsv({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const writers = instantWriters(columns);
  const rows = new RowBytes();
  rows.writeText(columns.map(({ name }) => quote(name)).join(',') + LINE_END);
  for await (const batch of batches) {
    rows.writeRows(lineParts(columns, batch, writers), batch.rowCount);
    if (rows.isPiece) yield rows.take();
  }
  const rest = rows.take();
  if (rest.length > 0) yield rest;
}

function lineParts(columns: readonly Column[], batch: Batch, writers: readonly InstantWriter[]): readonly Part[] {
  const comma = Buffer.from(',');
  const cells = columns.flatMap((column, index) => {
    const own = batch.cells[index] ?? { kind: 'absent' };
    const cell = partOf(column, own, writers[index] ?? ((_bytes, at) => at), TEXTS);
    return index === 0 ? [cell] : [comma, cell];
  });
  return joinParts([...cells, Buffer.from(LINE_END)]);
}

function quote(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
