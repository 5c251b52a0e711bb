/**
 * Codec of watch cursors: opaque bytes with the reader's position in every variable. VersionTimestamps and dates are
 * microseconds since 1970. The parts of a cursor, in order:
 *
 *   byte 0      format, always 1
 *   varint      number of variables
 *   varint      greatest VersionTimestamp of all positions
 *   varints     for each variable, by ascending id: the difference from the previous id, then the position
 *   4 bytes     CRC-32 of all bytes before it, little-endian
 *
 * The position AT_BEGINNING is the varint 0. Any other position is the varint 1 + (greatest VersionTimestamp -
 * VersionTimestamp of the position), then the date of the position. The date infinity is 0. Any other date is 1 (in or
 * after 1970) or 2 (before 1970), then the distance from the start of 1970.
 */
import { crc32 } from 'node:zlib';
import { MAX_INT4 } from '../platform/limits.ts';
import type { ChangePosition } from '../points/read/read-changes.ts';

const FORMAT = 1;
const CRC_BYTES = 4;

/** Position of a reader that has received no point of a variable. */
export const AT_BEGINNING: ChangePosition = {
  versionTimestamp: Number.NEGATIVE_INFINITY,
  dateMicros: Number.POSITIVE_INFINITY,
};

/** Encodes a reader's positions as a cursor (R-J1). @param positions the reader's position in each variable, by id. */
export function encodeCursor(positions: ReadonlyMap<number, ChangePosition>): Buffer {
  const entries = [...positions].sort(([a], [b]) => a - b);
  let greatest = 0;
  for (const [, { versionTimestamp }] of entries) greatest = Math.max(greatest, versionTimestamp);
  const bytes = [FORMAT];
  writeVarint(bytes, entries.length);
  writeVarint(bytes, greatest);
  let lastId = 0;
  for (const [id, { versionTimestamp, dateMicros }] of entries) {
    writeVarint(bytes, id - lastId);
    lastId = id;
    if (versionTimestamp === Number.NEGATIVE_INFINITY) {
      writeVarint(bytes, 0);
      continue;
    }
    writeVarint(bytes, 1 + greatest - versionTimestamp);
    writeDate(bytes, dateMicros);
  }
  const content = Buffer.from(bytes);
  const checked = Buffer.concat([content, Buffer.alloc(CRC_BYTES)]);
  checked.writeUInt32LE(crc32(content), content.length);
  return checked;
}

/** @returns the positions by variable id; undefined when the bytes are not a cursor. */
export function decodeCursor(cursor: Uint8Array): ReadonlyMap<number, ChangePosition> | undefined {
  const bytes = Buffer.from(cursor.buffer, cursor.byteOffset, cursor.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < 1 || bytes[0] !== FORMAT || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined;
  const read = varintReader(bytes.subarray(1, end));
  const positions = new Map<number, ChangePosition>();
  const [count, greatest] = [read(), read()];
  let id = 0;
  for (let entry = 0; entry < count; entry += 1) {
    id += read();
    const before = read();
    const position =
      before === 0 ? AT_BEGINNING : { versionTimestamp: greatest + 1 - before, dateMicros: readDate(read) };
    // Reading past the end gives NaN, so an incomplete position is refused.
    if (!(id <= MAX_INT4) || Number.isNaN(position.versionTimestamp) || Number.isNaN(position.dateMicros))
      return undefined;
    positions.set(id, position);
  }
  return positions;
}

const [ALL, SINCE_1970, BEFORE_1970] = [0, 1, 2] as const;

// Writes the distance from 1970, because the distance from the first storable date could exceed 2^53.
function writeDate(bytes: number[], dateMicros: number): void {
  if (dateMicros === Number.POSITIVE_INFINITY) {
    bytes.push(ALL);
    return;
  }
  bytes.push(dateMicros < 0 ? BEFORE_1970 : SINCE_1970);
  writeVarint(bytes, Math.abs(dateMicros));
}

function readDate(read: () => number): number {
  const kind = read();
  if (kind === ALL) return Number.POSITIVE_INFINITY;
  return kind === BEFORE_1970 ? -read() : read();
}

/**
 * Writes a value up to 2^53 as LEB128: seven bits per byte, lowest first; the high bit is set when more bytes follow.
 */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** @returns a function that reads the next number at each call; at the end of the bytes it returns NaN. */
function varintReader(bytes: Uint8Array): () => number {
  let at = 0;
  return () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at];
      at += 1;
      if (byte === undefined) return Number.NaN;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
}
