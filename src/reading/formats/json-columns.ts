/**
 * Writes a table as one JSON array of objects. An object holds up to OBJECT_ROWS rows of one variable: the members of
 * the rows as arrays of equal length, and ids as single values. All columns of an object are in memory, because JSON
 * needs one complete array after the other.
 */
import { type CellTexts, instantWriters, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Cells, Column, InstantWriter, Table } from './table.ts';

/** Maximum rows of an object, about 10 MB of text; further rows of the variable follow in another object. */
export const OBJECT_ROWS = 100_000;

const TEXTS: CellTexts = { none: 'null', text: (text) => text };

/**
 * Yields the JSON array in chunks. Collects all rows of an object before it yields the first chunk of the object.
 * @param objectRows maximum rows of an object.
 */
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
 * Yields `before`, which opens an object, then the members and the end of the object. Every member begins with a comma;
 * the comma of the first member is cut off. Afterwards the members are empty.
 */
function* closeObject(members: readonly Member[], before: string): Generator<Buffer> {
  const [head = Buffer.of(), ...rest] = members.flatMap((member) => member.close());
  yield Buffer.concat([Buffer.from(before), head.subarray(1)]);
  yield* rest;
  yield Buffer.from('}');
}

/**
 * Writes one member of consecutive objects: a constant as a single value, other cells as an array. Leaves the member
 * out of an object if its cells are absent, or if they are labels and no row of the object has a label.
 */
interface Member {
  add(cells: Cells, batch: Batch): void;
  /** @returns the bytes of the member, and starts the next object. */
  close(): readonly Buffer[];
}

function openMember(column: Column, writeInstant: InstantWriter | undefined): Member {
  const name = `,${JSON.stringify(column.name)}:`;
  // One `RowBytes` serves all objects: its next buffer is about as large as its last buffer, and objects are of similar
  // size.
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

/** @returns the parts of each element of a column; the first part begins with a comma. */
function elementParts(column: Column, cells: Cells, writeInstant: InstantWriter = (_bytes, at) => at): readonly Part[] {
  if (cells.kind === 'instants') {
    return [Buffer.from(',"'), partOf(column, cells, writeInstant, TEXTS), Buffer.from('"')];
  }
  return [Buffer.from(','), partOf(column, withNulls(cells, column), writeInstant, TEXTS)];
}

/** @returns the cells with each label as JSON text, `null` for a missing label; other cells are not changed. */
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
