/**
 * Writes a table as an Excel workbook, with the same columns as CSV. Instants are ISO 8601 text with their offset, as
 * in CSV. They are not date cells, because a date cell has no offset (so the repeated hour in autumn would be
 * ambiguous), has no microseconds, and cannot contain a date before 1900. Values and ids are number cells.
 */
import { type WorkbookCell, type WorkbookRow, writeWorkbook } from '../../platform/http/workbook-writer.ts';
import { INSTANT_BYTES } from './instant-writer.ts';
import { instantWriters } from './row-bytes.ts';
import type { Batch, Cells, InstantWriter, Table } from './table.ts';

/** Returns the workbook in chunks of bytes; its first sheet is `points`. */
export function writeXlsx({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  return writeWorkbook({
    name: 'points',
    header: columns.map(({ name }) => name),
    rows: rowsOf(batches, instantWriters(columns)),
  });
}

async function* rowsOf(
  batches: AsyncIterable<Batch>,
  writers: readonly InstantWriter[],
): AsyncGenerator<Iterable<WorkbookRow>> {
  const bytes = Buffer.alloc(INSTANT_BYTES);
  for await (const { rowCount, cells } of batches) {
    const readers = cells.map((own, index) => cellReader(own, writers[index], bytes));
    yield (function* () {
      for (let row = 0; row < rowCount; row++) yield readers.map((read) => read(row));
    })();
  }
}

function cellReader(
  cells: Cells,
  writeInstant: InstantWriter | undefined,
  bytes: Buffer,
): (row: number) => WorkbookCell {
  switch (cells.kind) {
    case 'absent':
      return () => null;
    case 'constant':
      return () => cells.value;
    case 'numbers':
      return (row) => cells.values[row] ?? null;
    case 'instants':
      return (row) => bytes.toString('latin1', 0, writeInstant?.(bytes, 0, cells.values[row] ?? 0) ?? 0);
    case 'codes':
      return (row) => cells.textOf(cells.ids[row] ?? 0);
  }
}
