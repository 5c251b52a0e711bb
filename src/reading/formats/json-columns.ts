/**
 * Writes a table as one JSON array of objects. An object holds up to OBJECT_ROWS rows of one variable. An id is a
 * single value for all these rows; every other member is an array with one element per row. All columns of an object
 * are kept in memory until the object is complete, because JSON needs one complete array after the other.
 */
import { type CellTexts, instantWriters, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Cells, Column, InstantWriter, Table } from './table.ts';

/** Maximum number of rows in one object, about 10 MB of text. Further rows of the variable follow in another object. */
export const OBJECT_ROWS = 100_000;

const TEXTS: CellTexts = { none: 'null', text: (text) => text };

/**
 * Yields the JSON array in chunks. Collects all rows of an object before it yields the first chunk of the object.
 * @param objectRows maximum number of rows in one object.
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
 * Yields the text of one object, and empties the members for the next object. Cuts off the comma with which the first
 * member begins.
 */
function* closeObject(members: readonly Member[], before: string): Generator<Buffer> {
  const [head = Buffer.of(), ...rest] = members.flatMap((member) => member.close());
  yield Buffer.concat([Buffer.from(before), head.subarray(1)]);
  yield* rest;
  yield Buffer.from('}');
}

/**
 * Writes one column as a JSON member of each object. Cells of kind `constant` become a single value; other cells become
 * an array. An object lacks the member if the column has no cells, or only empty labels, for the object.
 */
interface Member {
  add(cells: Cells, batch: Batch): void;
  /**
   * Ends the current object.
   * @returns JSON text of the member that the column has in the object, as a list of buffers; the text begins with a
   * comma. An empty list if the object lacks the member.
   */
  close(): readonly Buffer[];
}

function openMember(column: Column, writeInstant: InstantWriter | undefined): Member {
  const name = `,${JSON.stringify(column.name)}:`;
  // All arrays are written with one `RowBytes`. It begins an array with a buffer a little larger than the previous
  // array, so the buffer seldom has to grow.
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

/**
 * @returns the parts that, written one after the other, form the elements of the column's array. Each row has one
 *   element, and every element begins with a comma.
 */
function elementParts(column: Column, cells: Cells, writeInstant: InstantWriter = (_bytes, at) => at): readonly Part[] {
  if (cells.kind === 'instants') {
    return [Buffer.from(',"'), partOf(column, cells, writeInstant, TEXTS), Buffer.from('"')];
  }
  return [Buffer.from(','), partOf(column, withNulls(cells, column), writeInstant, TEXTS)];
}

/** @returns labels as JSON text, with `null` for a missing label; returns cells of other kinds unchanged. */
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
