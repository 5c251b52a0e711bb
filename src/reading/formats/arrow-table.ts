/**
 * Writes a table as an Arrow IPC stream: a sequence of record batches. Small `Batch` objects share a record batch. Ids
 * and texts are indexes into a dictionary. A record batch with new values gets a new dictionary, because a single
 * dictionary would grow with the answer.
 */
import {
  AsyncByteQueue,
  type Data,
  Dictionary,
  Field,
  Float64,
  Int16,
  Int32,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  type Vector,
} from 'apache-arrow';
import type { Batch, Cells, Column, Table } from './table.ts';

const TWO_32 = 2 ** 32;

/** Sink of the Arrow writer; `take` returns the bytes written since the last call. */
class Pieces extends AsyncByteQueue {
  #pieces: Uint8Array[] = [];

  override write(bytes: ArrayBufferLike | ArrayBufferView): void {
    this.#pieces.push(toBytes(bytes));
  }

  take(): Buffer {
    const taken = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return taken;
  }
}

/** A record batch is complete as soon as it has this number of rows. */
const MIN_ROWS = 4096;
/**
 * Maximum number of rows of a record batch or a `Batch`. Every index into a dictionary then fits into a signed integer
 * of 16 bits.
 */
const MAX_ROWS = 2 ** 15 - 1;

/** Yields a chunk of bytes per record batch, then a chunk that ends the stream. The first chunk contains the schema. */
export async function* writeArrow({ columns, batches, metadata }: Table): AsyncGenerator<Uint8Array> {
  const encoders = columns.map(columnEncoder);
  const sink = new Pieces();
  const writer = new RecordBatchStreamWriter({ autoDestroy: false });
  let schema: Schema | undefined;
  const begin = (): Schema => {
    const fields = encoders.map(({ field }) => field);
    schema = new Schema(fields, new Map(metadata?.()));
    writer.reset(sink, schema);
    return schema;
  };
  for await (const group of groupsOf(batches)) {
    writer.write(toRecordBatch(schema ?? begin(), group, encoders));
    yield sink.take();
  }
  if (!schema) begin();
  writer.finish();
  yield sink.take();
}

/** Yields groups of successive `Batch` objects of a table. Each group becomes one record batch. */
async function* groupsOf(batches: AsyncIterable<Batch>): AsyncGenerator<readonly Batch[]> {
  let group: Batch[] = [];
  let rowCount = 0;
  for await (const batch of batches) {
    if (group.length > 0 && rowCount + batch.rowCount > MAX_ROWS) {
      yield group;
      [group, rowCount] = [[], 0];
    }
    group.push(batch);
    rowCount += batch.rowCount;
    if (rowCount < MIN_ROWS) continue;
    yield group;
    [group, rowCount] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/**
 * One column of an Arrow record batch, in parts. A record batch joins one or more `Batch` objects (table.ts). Each
 * `Batch` provides one part of the column.
 */
interface Parts {
  readonly rowCount: number;
  readonly parts: readonly { readonly cells: Cells; readonly rowCount: number }[];
}

/**
 * Encodes a column. `encode` may reuse the memory of its last result, so each result must be written before the next
 * call.
 */
interface ColumnEncoder {
  readonly field: Field;
  readonly encode: (column: Parts) => Data;
}

function columnEncoder({ name, kind, timeZoneId = 'UTC' }: Column): ColumnEncoder {
  switch (kind) {
    case 'id':
      return dictionaryEncoder(name, new Int32(), toIds, idVector);
    case 'number': {
      const type = new Float64();
      return { field: new Field(name, type, true), encode: (column) => encodeNumbers(type, column) };
    }
    case 'instant': {
      const type = new TimestampMicrosecond(timeZoneId);
      const toInt64 = int64Converter();
      const encode = (column: Parts): Data => {
        return makeData({ type, length: column.rowCount, nullCount: 0, data: toInt64(columnValues(column, 0)) });
      };
      return { field: new Field(name, type, true), encode };
    }
    case 'text':
    case 'json':
      return dictionaryEncoder(name, new Utf8(), toTexts, textVector);
  }
}

function toRecordBatch(schema: Schema, group: readonly Batch[], encoders: readonly ColumnEncoder[]): RecordBatch {
  const length = group.reduce((sum, { rowCount }) => sum + rowCount, 0);
  const children = encoders.map(({ encode }, index) => {
    const parts = group.map(({ cells, rowCount }) => ({ cells: cells[index] ?? ABSENT, rowCount }));
    return encode({ rowCount: length, parts });
  });
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }));
}

const ABSENT: Cells = { kind: 'absent' };

function encodeNumbers(type: Float64, column: Parts): Data {
  const data = columnValues(column, Number.NaN);
  const length = column.rowCount;
  if (areFinite(data)) return makeData({ type, length, nullCount: 0, data });
  return makeData({ type, length, ...validity(length, (row) => Number.isFinite(data[row])), data });
}

function areFinite(values: Float64Array): boolean {
  for (let row = 0; row < values.length; row++) if (!Number.isFinite(values[row] as number)) return false;
  return true;
}

/** Concatenates the numbers or instants of all parts. When a part has no values, its rows get `none`. */
function columnValues({ rowCount, parts }: Parts, none: number): Float64Array {
  const [only] = parts;
  const valuesOf = (cells: Cells) => (cells.kind === 'numbers' || cells.kind === 'instants' ? cells.values : undefined);
  const own = only && parts.length === 1 ? valuesOf(only.cells) : undefined;
  if (own) return own;
  const joined = new Float64Array(rowCount).fill(none);
  let at = 0;
  for (const part of parts) {
    joined.set(valuesOf(part.cells) ?? [], at);
    at += part.rowCount;
  }
  return joined;
}

/**
 * Cells of a column, with an integer key for each distinct value. `keys` is one key for all rows, or an array with one
 * key per row. `valueAt` returns the value that a key stands for.
 */
interface Keyed<Value> {
  readonly keys: number | Int32Array;
  readonly valueAt: (key: number) => Value | null;
}

function toIds(cells: Cells): Keyed<number> {
  if (cells.kind !== 'constant' || cells.value === null) return { keys: NO_KEY, valueAt: () => null };
  return { keys: cells.value, valueAt: (key) => key };
}

function toTexts(cells: Cells): Keyed<string> {
  return cells.kind === 'codes' ? { keys: cells.ids, valueAt: cells.textOf } : { keys: NO_KEY, valueAt: () => null };
}

const NO_KEY = -1;
const NULL_CODE = -1;

/**
 * Encodes one column with a dictionary. Keeps the dictionary for the next record batches, until a record batch has a
 * value that the dictionary lacks.
 */
function dictionaryEncoder<Value, Type extends Int32 | Utf8>(
  name: string,
  valueType: Type,
  toKeyed: (cells: Cells) => Keyed<Value>,
  toVector: (values: readonly Value[]) => Vector<Type>,
): ColumnEncoder {
  const type = new Dictionary(valueType, new Int16());
  let codeOf = new Map<number, number>();
  let dictionary = toVector([]);
  let memory = new Int16Array(0);
  const replaceDictionary = (columns: readonly Keyed<Value>[]): void => {
    const values: Value[] = [];
    codeOf = new Map();
    for (const { keys, valueAt } of columns) {
      for (const key of distinctOf(keys)) {
        if (codeOf.has(key)) continue;
        const value = valueAt(key);
        codeOf.set(key, value === null ? NULL_CODE : values.push(value) - 1);
      }
    }
    dictionary = toVector(values);
  };
  const encode = ({ rowCount, parts }: Parts): Data => {
    const columns = parts.map(({ cells }) => toKeyed(cells));
    const isKnown = columns.every(({ keys }) => distinctOf(keys).every((key) => codeOf.has(key)));
    if (!isKnown) replaceDictionary(columns);
    if (dictionary.length === 0) {
      const nullBitmap = new Uint8Array(Math.ceil(rowCount / 8));
      const data = new Int16Array(rowCount);
      return makeData({ type, length: rowCount, nullCount: rowCount, nullBitmap, data, dictionary });
    }
    if (memory.length < rowCount) memory = new Int16Array(rowCount);
    const codes = memory.subarray(0, rowCount);
    writeCodes(codes, columns, parts, codeOf);
    if (!codes.includes(NULL_CODE)) return makeData({ type, length: rowCount, nullCount: 0, data: codes, dictionary });
    const nulls = validity(rowCount, (row) => codes[row] !== NULL_CODE);
    const data = codes.map((code) => Math.max(code, 0));
    return makeData({ type, length: rowCount, ...nulls, data, dictionary });
  };
  return { field: new Field(name, type, true), encode };
}

/** Writes the dictionary code of every row. */
function writeCodes(
  codes: Int16Array,
  columns: readonly Keyed<unknown>[],
  parts: Parts['parts'],
  codeOf: ReadonlyMap<number, number>,
): void {
  let at = 0;
  for (const [index, { keys }] of columns.entries()) {
    const count = parts[index]?.rowCount ?? 0;
    if (typeof keys === 'number') codes.fill(codeOf.get(keys) ?? NULL_CODE, at, at + count);
    else fillCodes(codes, at, keys, codeOf);
    at += count;
  }
}

/** @returns the distinct keys, in the order of their first row. */
function distinctOf(keys: number | Int32Array): readonly number[] {
  if (typeof keys === 'number') return [keys];
  const distinct = new Set<number>();
  let last: number | undefined;
  for (let row = 0; row < keys.length; row++) {
    const key = keys[row] as number;
    if (key !== last) distinct.add(key);
    last = key;
  }
  return [...distinct];
}

/**
 * Writes the code of each key into `codes`. Looks up the code only when the key differs from the key of the row before,
 * because adjacent rows usually have the same key.
 */
function fillCodes(codes: Int16Array, start: number, keys: Int32Array, codeOf: ReadonlyMap<number, number>): void {
  let lastKey: number | undefined;
  let lastCode = NULL_CODE;
  for (let row = 0; row < keys.length; row++) {
    const key = keys[row] as number;
    if (key !== lastKey) [lastKey, lastCode] = [key, codeOf.get(key) ?? NULL_CODE];
    codes[start + row] = lastCode;
  }
}

function idVector(ids: readonly number[]): Vector<Int32> {
  return makeVector(makeData({ type: new Int32(), length: ids.length, nullCount: 0, data: Int32Array.from(ids) }));
}

/** Builds the vector from buffers, because the builders of apache-arrow take ten times as long. */
function textVector(texts: readonly string[]): Vector<Utf8> {
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) {
    valueOffsets[index + 1] = (valueOffsets[index] ?? 0) + Buffer.byteLength(text);
  }
  const data = Buffer.from(texts.join(''));
  return makeVector(makeData({ type: new Utf8(), length: texts.length, nullCount: 0, valueOffsets, data }));
}

/** Builds the validity bitmap of a column: one bit per row, least significant first. */
function validity(
  rowCount: number,
  hasValue: (row: number) => boolean,
): { readonly nullBitmap: Uint8Array; readonly nullCount: number } {
  const nullBitmap = new Uint8Array(Math.ceil(rowCount / 8));
  let nullCount = 0;
  for (let row = 0; row < rowCount; row++) {
    if (hasValue(row)) nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7));
    else nullCount++;
  }
  return { nullBitmap, nullCount };
}

/**
 * @returns a function that converts integers below 2^53 to 64-bit integers without a BigInt per value. All results of
 * the function share memory, because new memory for each record batch makes V8 collect garbage more often.
 */
function int64Converter(): (values: Float64Array) => BigInt64Array {
  let halves = new Int32Array(0);
  return (values) => {
    if (halves.length < values.length * 2) halves = new Int32Array(values.length * 2);
    for (let index = 0; index < values.length; index++) {
      const value = values[index] ?? 0;
      const high = Math.floor(value / TWO_32);
      halves[index * 2] = value - high * TWO_32;
      halves[index * 2 + 1] = high;
    }
    return new BigInt64Array(halves.buffer, 0, values.length);
  };
}

function toBytes(bytes: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
