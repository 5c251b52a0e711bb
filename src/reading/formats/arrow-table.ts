/**
 * Writes a table as an Arrow IPC stream, one record batch per batch. Texts are dictionary-encoded. A batch with texts that
 * are not in the last dictionary sends a replacement (allowed in streams, not in files), because a growing dictionary would
 * grow with the answer.
 */
import {
  AsyncByteQueue,
  type Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
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

/** Sink that returns written bytes synchronously. */
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

/** Yields one piece per batch; the schema is in the first piece. */
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
  for await (const batch of batches) {
    writer.write(toRecordBatch(schema ?? begin(), batch, encoders));
    yield sink.take();
  }
  if (!schema) begin();
  writer.finish();
  yield sink.take();
}

interface ColumnEncoder {
  readonly field: Field;
  readonly encode: (cells: Cells, rowCount: number) => Data;
}

function columnEncoder({ name, kind, timeZoneId = 'UTC' }: Column): ColumnEncoder {
  switch (kind) {
    case 'id': {
      const type = new Int32();
      return { field: new Field(name, type, true), encode: (cells, rowCount) => encodeIds(type, cells, rowCount) };
    }
    case 'number': {
      const type = new Float64();
      return { field: new Field(name, type, true), encode: (cells, rowCount) => encodeNumbers(type, cells, rowCount) };
    }
    case 'instant': {
      const type = new TimestampMicrosecond(timeZoneId);
      return { field: new Field(name, type, true), encode: (cells, rowCount) => encodeInstants(type, cells, rowCount) };
    }
    case 'text':
    case 'json': {
      const encoder = textEncoder();
      return { field: new Field(name, encoder.type, true), encode: encoder.encode };
    }
  }
}

function toRecordBatch(schema: Schema, { rowCount, cells }: Batch, encoders: readonly ColumnEncoder[]): RecordBatch {
  const children = encoders.map(({ encode }, index) => encode(cells[index] ?? { kind: 'absent' }, rowCount));
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children }),
  );
}

function encodeIds(type: Int32, cells: Cells, rowCount: number): Data {
  if (cells.kind !== 'constant' || cells.value === null) return allNull(type, new Int32Array(rowCount));
  return makeData({ type, length: rowCount, nullCount: 0, data: new Int32Array(rowCount).fill(cells.value) });
}

function encodeNumbers(type: Float64, cells: Cells, rowCount: number): Data {
  if (cells.kind !== 'numbers') return allNull(type, new Float64Array(rowCount));
  const { nullBitmap, nullCount } = validity(rowCount, (row) => Number.isFinite(cells.values[row]));
  return makeData({ type, length: rowCount, nullCount, ...(nullCount > 0 && { nullBitmap }), data: cells.values });
}

function encodeInstants(type: TimestampMicrosecond, cells: Cells, rowCount: number): Data {
  if (cells.kind !== 'instants') return allNull(type, new BigInt64Array(rowCount));
  return makeData({ type, length: rowCount, nullCount: 0, data: toInt64(cells.values) });
}

/** Encodes the texts of one column; keeps the dictionary sent last. */
function textEncoder() {
  const type = new Dictionary(new Utf8(), new Int32());
  let codeOf = new Map<number, number>();
  let dictionary = textVector([]);
  const replaceDictionary = (ids: Int32Array, textOf: (id: number) => string | null): void => {
    const texts: string[] = [];
    codeOf = new Map();
    for (const id of ids) {
      if (codeOf.has(id)) continue;
      const text = textOf(id);
      codeOf.set(id, text === null ? -1 : texts.push(text) - 1);
    }
    dictionary = textVector(texts);
  };
  const encode = (cells: Cells, rowCount: number): Data => {
    const { ids, textOf } = cells.kind === 'codes' ? cells : { ids: new Int32Array(rowCount), textOf: () => null };
    if (!ids.every((id) => codeOf.has(id))) replaceDictionary(ids, textOf);
    const codes = ids.map((id) => codeOf.get(id) ?? -1);
    const { nullBitmap, nullCount } = validity(rowCount, (row) => (codes[row] ?? -1) >= 0);
    const data = codes.map((code) => Math.max(code, 0));
    return makeData({ type, length: rowCount, nullCount, ...(nullCount > 0 && { nullBitmap }), data, dictionary });
  };
  return { type, encode };
}

/** Built from buffers: the builders of apache-arrow take ten times as long. */
function textVector(texts: readonly string[]): Vector<Utf8> {
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) {
    valueOffsets[index + 1] = (valueOffsets[index] ?? 0) + Buffer.byteLength(text);
  }
  const data = Buffer.from(texts.join(''));
  return makeVector(makeData({ type: new Utf8(), length: texts.length, nullCount: 0, valueOffsets, data }));
}

function allNull(type: DataType, data: Int32Array | Float64Array | BigInt64Array): Data {
  const nullBitmap = new Uint8Array(Math.ceil(data.length / 8));
  return makeData({
    type: type as Int32,
    length: data.length,
    nullCount: data.length,
    nullBitmap,
    data: data as Int32Array,
  });
}

/** Validity bitmap: one bit per row, least significant first. */
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

/** Converts integers below 2^53 to 64 bits without a BigInt per value. */
function toInt64(values: Float64Array): BigInt64Array {
  const halves = new Int32Array(values.length * 2);
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    const high = Math.floor(value / TWO_32);
    halves[index * 2] = value - high * TWO_32;
    halves[index * 2 + 1] = high;
  }
  return new BigInt64Array(halves.buffer);
}

function toBytes(bytes: ArrayBufferLike | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
