/**
 * Writes a table as one JSON array with an object per variable: the members of its rows as arrays of equal length, ids as
 * they are. Arrays end before the next begins, so all columns of an object are held; OBJECT_ROWS bounds them.
 */
import { type CellTexts, instantWriters, type Part, partOf, RowBytes } from './row-bytes.ts';
import type { Batch, Cells, Column, InstantWriter, Table } from './table.ts';

/** Maximum rows of an object, about 10 MB of text; further rows of the variable follow in another object. */
export const OBJECT_ROWS = 100_000;

const TEXTS: CellTexts = { none: 'null', text: (text) => text };

/** Yields pieces of the array, each with whole objects. @param objectRows maximum rows of an object. */
export async function* writeJsonColumns(
  { columns, batches }: Table,
  objectRows = OBJECT_ROWS,
): AsyncGenerator<Uint8Array> {
  const writers = instantWriters(columns);
  let before = '[\n';
  let open: OpenObject | undefined;
  for await (const batch of batches) {
    const id = batch.cells[0]?.kind === 'constant' ? batch.cells[0].value : null;
    if (open && (open.id !== id || open.rowCount + batch.rowCount > objectRows)) {
      yield open.close(before);
      before = ',\n';
      open = undefined;
    }
    open ??= openObject(id, columns, writers);
    open.add(batch);
  }
  if (open) {
    yield open.close(before);
    before = '';
  }
  yield Buffer.from(before === '[\n' ? '[]' : ']');
}

interface OpenObject {
  readonly id: number | null;
  readonly rowCount: number;
  add(batch: Batch): void;
  /** @returns the object after a separator. */
  close(separator: string): Buffer;
}

/** Collects consecutive rows of one variable, each column in a buffer of its own. */
function openObject(id: number | null, columns: readonly Column[], writers: readonly InstantWriter[]): OpenObject {
  const members = columns.map((column, index) => openMember(column, writers[index]));
  let rowCount = 0;
  return {
    id,
    get rowCount() {
      return rowCount;
    },
    add: (batch) => {
      for (const [index, member] of members.entries()) member.add(batch.cells[index] ?? { kind: 'absent' }, batch);
      rowCount += batch.rowCount;
    },
    close: (separator) => {
      const pieces = members.flatMap((member) => member.close());
      const [first = Buffer.of(), ...others] = pieces;
      // Every member begins with a comma.
      return Buffer.concat([Buffer.from(`${separator}{`), first.subarray(1), ...others, Buffer.from('}')]);
    },
  };
}

/** @returns the writer of one member: a constant as it is, other cells as an array, nothing when no row has a value. */
function openMember(column: Column, writeInstant: InstantWriter | undefined) {
  const name = `,${JSON.stringify(column.name)}:`;
  const array = new RowBytes();
  let constant: number | null | undefined;
  let hasText = false;
  let isArray = false;
  return {
    add: (cells: Cells, { rowCount }: Batch): void => {
      if (cells.kind === 'absent') return;
      if (cells.kind === 'constant') {
        constant = cells.value;
        return;
      }
      isArray = true;
      hasText ||= cells.kind !== 'codes' || hasLabel(cells.ids, cells.textOf);
      array.writeRows(elementParts(column, cells, writeInstant), rowCount);
    },
    close: (): readonly Buffer[] => {
      if (constant !== undefined) return [Buffer.from(name + constant)];
      if (!isArray || !hasText) return [];
      return [Buffer.from(`${name}[`), array.take().subarray(1), Buffer.from(']')];
    },
  };
}

/** Parts of one element, with its comma. */
function elementParts(column: Column, cells: Cells, writeInstant: InstantWriter = (_bytes, at) => at): readonly Part[] {
  if (cells.kind === 'instants') {
    return [Buffer.from(',"'), partOf(column, cells, writeInstant, TEXTS), Buffer.from('"')];
  }
  return [Buffer.from(','), partOf(column, withNulls(cells, column), writeInstant, TEXTS)];
}

/** Labels as JSON, `null` where there is none. */
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
