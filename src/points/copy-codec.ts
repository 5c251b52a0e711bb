/**
 * Codec of points as COPY BINARY tuples. Every tuple has 62 bytes, so each column has a fixed place. A batch can
 * therefore be encoded once, when it is accepted; the writer of points later sets the VersionTimestamps in place. All
 * integers are big-endian. `4+` stands for the 4 bytes before the content of a column, which hold the length of the
 * content.
 *
 *   offset  bytes  content
 *        0      2  number of columns: 6
 *        2   4+ 8  date, microseconds since 2000-01-01 UTC
 *       14   4+ 8  value, IEEE 754
 *       26   4+ 8  VersionTimestamp, microseconds since 2000-01-01 UTC
 *       38   4+ 4  variable id
 *       46   4+ 4  VersionTag id, 0 when none
 *       54   4+ 4  tag set id, 0 when none
 */
import { POSTGRES_EPOCH_MICROS } from '../platform/dates/instant-rules.ts';
import type { Micros, PointEntry } from './point.ts';

export const TUPLE_BYTES = 62;
const DATE = 6;
const VALUE = 18;
const VERSION_TIMESTAMP = 30;
const VARIABLE_ID = 42;
const VERSION_TAG_ID = 50;
const TAG_SET_ID = 58;
const TWO_32 = 2 ** 32;
// The difference of the epochs is added or subtracted in two halves, the high and the low 32 bits. A single number
// would be inexact for dates before 1714, which are more than 2^53 microseconds away from 2000.
const EPOCH_HIGH = Math.floor(POSTGRES_EPOCH_MICROS / TWO_32);
const EPOCH_LOW = POSTGRES_EPOCH_MICROS - EPOCH_HIGH * TWO_32;

/** First and last bytes of a COPY BINARY stream. */
export const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

const TEMPLATE = tupleTemplate();

/**
 * Encodes points, in the order they are added, into a buffer of fixed capacity. VersionTimestamps are
 * zero until they are patched.
 */
export class TupleWriter {
  readonly #tuples: Buffer;
  readonly #view: DataView;
  #offset = 0;

  /**
   * @param capacity maximum number of tuples.
   * @param buffer memory to write into, at least `capacity` tuples long.
   */
  constructor(capacity: number, buffer: Buffer = Buffer.allocUnsafeSlow(capacity * TUPLE_BYTES)) {
    this.#tuples = buffer.fill(TEMPLATE, 0, capacity * TUPLE_BYTES);
    this.#view = viewOf(this.#tuples);
  }

  add(variableId: number, dateMicros: Micros, value: number, versionTagId: number, tagSetId: number): void {
    const view = this.#view;
    const offset = this.#offset;
    setMicros(view, offset + DATE, dateMicros);
    view.setFloat64(offset + VALUE, value);
    view.setInt32(offset + VARIABLE_ID, variableId);
    view.setInt32(offset + VERSION_TAG_ID, versionTagId);
    view.setInt32(offset + TAG_SET_ID, tagSetId);
    this.#offset = offset + TUPLE_BYTES;
  }

  /** @returns a view of the writer's buffer that contains the tuples added so far. */
  finish(): Buffer {
    return this.#tuples.subarray(0, this.#offset);
  }
}

/** Encodes points as COPY tuples, in the order given. */
export function encodeTuples(entries: readonly PointEntry[]): Buffer {
  const writer = new TupleWriter(entries.length);
  for (const { variableId, dateMicros, value, versionTagId, tagSetId } of entries) {
    writer.add(variableId, dateMicros, value, versionTagId, tagSetId);
  }
  return writer.finish();
}

/** Sets the same VersionTimestamp in every tuple, in place. */
export function patchVersionTimestamps(tuples: Buffer, versionTimestamp: Micros): void {
  const stamp = toVersionStamp(versionTimestamp);
  for (let offset = 0; offset < tuples.length; offset += TUPLE_BYTES) patchVersionTimestamp(tuples, offset, stamp);
}

/** Sets the VersionTimestamp of the tuple at the byte offset `offset`, in place. */
export function patchVersionTimestamp(tuples: Buffer, offset: number, stamp: VersionStamp): void {
  tuples.writeInt32BE(stamp.high, offset + VERSION_TIMESTAMP);
  tuples.writeUInt32BE(stamp.low, offset + VERSION_TIMESTAMP + 4);
}

/** The two 32-bit halves of a VersionTimestamp, which are computed once and written into many tuples. */
export interface VersionStamp {
  readonly high: number;
  readonly low: number;
}

/** Splits a VersionTimestamp into the halves that a tuple contains. @param versionTimestamp microseconds since 1970. */
export function toVersionStamp(versionTimestamp: Micros): VersionStamp {
  const bytes = Buffer.alloc(8);
  setMicros(viewOf(bytes), 0, versionTimestamp);
  return { high: bytes.readInt32BE(0), low: bytes.readUInt32BE(4) };
}

/** @returns the variable id of the tuple at the byte offset `offset`. */
export function variableIdOf(tuples: Buffer, offset: number): number {
  return tuples.readInt32BE(offset + VARIABLE_ID);
}

/** @returns the VersionTag id of the tuple at the byte offset `offset`; 0 when it has none. */
export function versionTagIdOf(tuples: Buffer, offset: number): number {
  return tuples.readInt32BE(offset + VERSION_TAG_ID);
}

/** Sets the VersionTag id of the tuple at the byte offset `offset` to 0, in place. */
export function clearVersionTag(tuples: Buffer, offset: number): void {
  tuples.writeInt32BE(0, offset + VERSION_TAG_ID);
}

/** Calls `visit` once per tuple, with the variable id, the date and the byte offset of the tuple. */
export function eachTuple(
  tuples: Buffer,
  visit: (variableId: number, dateMicros: Micros, offset: number) => void,
): void {
  const view = viewOf(tuples);
  for (let offset = 0; offset < tuples.length; offset += TUPLE_BYTES) {
    visit(view.getInt32(offset + VARIABLE_ID), getMicros(view, offset + DATE), offset);
  }
}

/**
 * @param tuples bytes as `encodeTuples` or `TupleWriter.finish` returns them.
 * @returns the ids of the variables in the tuples.
 */
export function variableIdsOf({ buffer, byteOffset, byteLength }: Uint8Array): ReadonlySet<number> {
  const ids = new Set<number>();
  let last: number | undefined;
  eachTuple(Buffer.from(buffer, byteOffset, byteLength), (variableId) => {
    if (variableId !== last) ids.add(variableId);
    last = variableId;
  });
  return ids;
}

function tupleTemplate(): Buffer {
  const template = Buffer.alloc(TUPLE_BYTES);
  template.writeInt16BE(6, 0);
  for (const column of [DATE, VALUE, VERSION_TIMESTAMP]) template.writeInt32BE(8, column - 4);
  for (const column of [VARIABLE_ID, VERSION_TAG_ID, TAG_SET_ID]) template.writeInt32BE(4, column - 4);
  return template;
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** Writes an instant as two 32-bit halves. For a million rows, this is about ten times faster than writing BigInts. */
function setMicros(view: DataView, offset: number, micros: Micros): void {
  const high = Math.floor(micros / TWO_32);
  const low = micros - high * TWO_32 - EPOCH_LOW;
  view.setInt32(offset, high - EPOCH_HIGH - (low < 0 ? 1 : 0));
  view.setUint32(offset + 4, low < 0 ? low + TWO_32 : low);
}

function getMicros(view: DataView, offset: number): Micros {
  return (view.getInt32(offset) + EPOCH_HIGH) * TWO_32 + (view.getUint32(offset + 4) + EPOCH_LOW);
}
