/**
 * Decodes the rows of COPY TO … BINARY into one typed array per column. A row consists of the head of its message
 * (`CopyOut`), the number of columns (2 bytes), and then the length (4 bytes) and content of each column. Columns are
 * never null, so all rows of a statement have the same length. Integers are big-endian. The first column is the
 * variable id.
 */
import { POSTGRES_EPOCH_MICROS } from '../../platform/dates/instant-rules.ts';
import { HEAD_BYTES } from './copy-out.ts';

/** Sizes of a column's content: 4 bytes for `int4`; 8 bytes for `int8`, `float8`, `timestamp` and `timestamptz`. */
export const FOUR_BYTES = 4;
export const EIGHT_BYTES = 8;

/** Byte offsets of the column contents in a row, and the length of a row. */
export interface RowLayout {
  readonly rowBytes: number;
  readonly offsets: readonly number[];
}

const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
const VARIABLE_ID = HEAD_BYTES + COUNT_BYTES + LENGTH_BYTES;
const TWO_32 = 2 ** 32;
// The difference between the epochs 1970 and 2000, split for the high and the low 32 bits of a date. A date is not
// converted as one double: for dates before 1714, the microseconds to 2000 exceed 2^53.
const EPOCH_HIGH = Math.floor(POSTGRES_EPOCH_MICROS / TWO_32);
const EPOCH_LOW = POSTGRES_EPOCH_MICROS - EPOCH_HIGH * TWO_32;

/**
 * Computes the layout of a statement's rows.
 * @param widths size of each column's content in bytes, in the order of the statement's columns. The first column is
 * the variable id.
 */
export function rowLayout(widths: readonly number[]): RowLayout {
  const offsets: number[] = [];
  let end = HEAD_BYTES + COUNT_BYTES;
  for (const width of widths) {
    offsets.push(end + LENGTH_BYTES);
    end += LENGTH_BYTES + width;
  }
  return { rowBytes: end, offsets };
}

/** A block of whole rows. The next block can reuse the buffer of this block. */
export interface RowBlock {
  readonly view: DataView;
  readonly rowCount: number;
  readonly layout: RowLayout;
}

/** Consecutive rows of one variable in a block; `end` is exclusive. */
export interface RowRun {
  readonly variableId: number;
  readonly start: number;
  readonly end: number;
}

/** Splits a block where the variable changes: each RowRun has consecutive rows of one variable. */
export function* runsOf({ view, rowCount, layout: { rowBytes } }: RowBlock): Generator<RowRun> {
  for (let start = 0; start < rowCount; ) {
    const variableId = view.getInt32(start * rowBytes + VARIABLE_ID);
    let end = start + 1;
    while (end < rowCount && view.getInt32(end * rowBytes + VARIABLE_ID) === variableId) end += 1;
    yield { variableId, start, end };
    start = end;
  }
}

/**
 * Decodes a column of `timestamp` or `timestamptz` into microseconds since 1970.
 * @throws {Error} when `column` is not an index of the layout's columns.
 */
export function readInstants(block: RowBlock, { start, end }: RowRun, column: number): Float64Array {
  const micros = new Float64Array(end - start);
  let offset = columnOffset(block, start, column);
  for (let row = 0; row < micros.length; row += 1, offset += block.layout.rowBytes) {
    const high = block.view.getInt32(offset) + EPOCH_HIGH;
    micros[row] = high * TWO_32 + (block.view.getUint32(offset + 4) + EPOCH_LOW);
  }
  return micros;
}

/** Decodes a column of `float8`. @throws {Error} when `column` is not an index of the layout's columns. */
export function readDoubles(block: RowBlock, { start, end }: RowRun, column: number): Float64Array {
  const values = new Float64Array(end - start);
  let offset = columnOffset(block, start, column);
  for (let row = 0; row < values.length; row += 1, offset += block.layout.rowBytes) {
    values[row] = block.view.getFloat64(offset);
  }
  return values;
}

/** Decodes a column of `int4`. @throws {Error} when `column` is not an index of the layout's columns. */
export function readIntegers(block: RowBlock, { start, end }: RowRun, column: number): Int32Array {
  const integers = new Int32Array(end - start);
  let offset = columnOffset(block, start, column);
  for (let row = 0; row < integers.length; row += 1, offset += block.layout.rowBytes) {
    integers[row] = block.view.getInt32(offset);
  }
  return integers;
}

function columnOffset({ layout }: RowBlock, row: number, column: number): number {
  const offset = layout.offsets[column];
  if (offset === undefined) throw new Error(`column ${column} is not in the row layout`);
  return row * layout.rowBytes + offset;
}
