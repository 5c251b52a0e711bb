/** Writes a table as one JSON array of objects (R-G3). */
import { type CellTexts, instantWriters, joinParts, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Column, InstantWriter, Table } from './table.ts';

const TEXTS: CellTexts = {
  none: 'null',
  text: (text, { kind }) => (kind === 'json' ? text : JSON.stringify(text)),
};

const [COMMA, OPEN_BRACKET] = [0x2c, 0x5b];

/** Yields the bytes of the JSON array in chunks; the rows of several small batches share a chunk (R-G3). */
export async function* writeJson({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const writers = instantWriters(columns);
  const rows = new RowBytes();
  let isBegun = false;
  for await (const batch of batches) {
    rows.writeRows(rowParts(columns, batch, writers), batch.rowCount);
    if (!rows.isPiece) continue;
    yield opened(rows.take(), isBegun);
    isBegun = true;
  }
  rows.writeText(']');
  yield opened(rows.take(), isBegun);
}

/** Opens the array: every row begins with a comma, and the comma of the first row becomes the opening bracket. */
function opened(piece: Buffer, isBegun: boolean): Buffer {
  if (isBegun) return piece;
  if (piece[0] !== COMMA) return Buffer.concat([Buffer.of(OPEN_BRACKET), piece]);
  piece[0] = OPEN_BRACKET;
  return piece;
}

function rowParts(columns: readonly Column[], batch: Batch, writers: readonly InstantWriter[]): readonly Part[] {
  const members = columns.flatMap((column, index) => memberParts(column, batch, index, writers));
  return joinParts([Buffer.from(',\n{'), ...members, Buffer.from('}')]);
}

/**
 * @returns the parts from which one column is written as a JSON member of each row. Every row starts with the member of
 *   the first column, so the members of all later columns begin with a comma.
 */
function memberParts(
  column: Column,
  { cells }: Batch,
  index: number,
  writers: readonly InstantWriter[],
): readonly Part[] {
  const own = cells[index] ?? { kind: 'absent' };
  const name = `${index === 0 ? '' : ','}${JSON.stringify(column.name)}:`;
  const write = (before?: string) => partOf(column, own, writers[index] ?? writeNothing, TEXTS, before);
  if (own.kind === 'absent') return [];
  if (own.kind === 'codes') return [write(name)];
  const quote = own.kind === 'instants' ? '"' : '';
  return [Buffer.from(name + quote), write(), Buffer.from(quote)];
}

const writeNothing: InstantWriter = (_bytes, at) => at;
