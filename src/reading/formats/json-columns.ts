/**
 * Writes a table as one JSON array with an object per variable: the members of its rows as arrays of equal length, ids
 * as they are. An array ends before the next begins, so all columns of an object are held in memory; OBJECT_ROWS limits
 * their length.
 */
import { type CellTexts, instantWriters, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Cells, Column, InstantWriter, Table } from './table.ts';

/** Maximum rows of an object, about 10 MB of text; further rows of the variable follow in another object. */
export const OBJECT_ROWS = 100_000;

const TEXTS: CellTexts = { none: 'null', text: (text) => text };

/** Yields pieces of the array; an object is complete before its first piece. @param objectRows maximum rows of an object. */
export async function* writeJsonColumns(
  { columns, batches }: Table,
  objectRows = OBJECT_ROWS,
): AsyncGenerator<Uint8Array> {
  const writers = instantWriters(columns);
  const members = columns.map((column, index) => openMember(column, writers[index]));
  let [before, id, rowCount] = ['[\n{', undefined as number | null | undefined, 0];
  for await (const batch of batches) {
    const own = batch.cells[0]?.kind === 'constant' ? batch.cells[0].value : null;
    if (rowCount > 0 && (own !== id || rowCount + batch.rowCount > objectRows)) {
      yield* closeObject(members, before);
      [before, rowCount] = [',\n{', 0];
    }
    id = own;
    for (const [index, member] of members.entries()) member.add(batch.cells[index] ?? { kind: 'absent' }, batch);
    rowCount += batch.rowCount;
  }
  if (rowCount > 0) yield* closeObject(members, before);
  yield Buffer.from(rowCount > 0 ? ']' : '[]');
}

/**
 * Yields an object, beginning with `before`, and empties the members. Every member begins with a comma; that of the
 * first is cut off.
 */
function* closeObject(members: readonly Member[], before: string): Generator<Buffer> {
  const [head = Buffer.of(), ...rest] = members.flatMap((member) => member.close());
  yield Buffer.concat([Buffer.from(before), head.subarray(1)]);
  yield* rest;
  yield Buffer.from('}');
}

/** One member of consecutive objects: a constant as it is, other cells as an array, nothing when no row has a value. */
interface Member {
  add(cells: Cells, batch: Batch): void;
  /** @returns the pieces of the member, and begins the next object. */
  close(): readonly Buffer[];
}

function openMember(column: Column, writeInstant: InstantWriter | undefined): Member {
  const name = `,${JSON.stringify(column.name)}:`;
  // The writer is kept for all objects, because the next buffer is about as large as the last.
  const array = new RowBytes();
  let constant: number | null | undefined;
  let hasValue = false;
  return {
    add: (cells, { rowCount }) => {
      if (cells.kind === 'absent') return;
      if (cells.kind === 'constant') {
        constant = cells.value;
        return;
      }
      hasValue ||= cells.kind !== 'codes' || hasLabel(cells.ids, cells.textOf);
      array.writeRows(elementParts(column, cells, writeInstant), rowCount);
    },
    close: () => {
      const elements = array.take().subarray(1);
      const pieces = hasValue ? [Buffer.from(`${name}[`), elements, Buffer.from(']')] : [];
      const all = constant === undefined ? pieces : [Buffer.from(name + constant)];
      [constant, hasValue] = [undefined, false];
      return all;
    },
  };
}

/** @returns what is written for each element of a column, with its comma. */
function elementParts(column: Column, cells: Cells, writeInstant: InstantWriter = (_bytes, at) => at): readonly Part[] {
  if (cells.kind === 'instants') {
    return [Buffer.from(',"'), partOf(column, cells, writeInstant, TEXTS), Buffer.from('"')];
  }
  return [Buffer.from(','), partOf(column, withNulls(cells, column), writeInstant, TEXTS)];
}

/** @returns the cells with `null` for each missing label. */
function withNulls(cells: Cells, { kind }: Column): Cells {
  if (cells.kind !== 'codes') return cells;
  const textOf = (id: number): string => {
    const text = cells.textOf(id);
    return text === null || kind === 'json' ? `${text}` : JSON.stringify(text);
  };
  return { ...cells, textOf };
}

function hasLabel(ids: Int32Array, textOf: (id: number) => string | null): boolean {
  let last: number | undefined;
  return ids.some((id) => {
    const isSame = id === last;
    last = id;
    return !isSame && textOf(id) !== null;
  });
}
