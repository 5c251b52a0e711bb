/**
 * The cursor of a watch: the reader's place in every variable, as bytes that mean nothing to clients. It says of itself all
 * there is to know, so it outlives processes and the database's restarts.
 *
 *   byte 0      1: this format
 *   varints     number of variables, greatest VersionTimestamp, then for each variable by ascending id:
 *               distance of the id from the one before; 0 where nothing was seen, else 1 + how far its VersionTimestamp lies
 *               before the greatest; then, where something was seen, 0 for all dates, 1 or 2 for up to one since or before
 *               1970, and that date's distance from then
 *   4 bytes     CRC-32 of all before, little-endian
 */
import { crc32 } from 'node:zlib';
import type { ChangePosition } from '../../points/read/read-changes.ts';

const FORMAT = 1;
const CRC_BYTES = 4;
const MAX_ID = 2 ** 31 - 1;

/** Nothing was seen. */
export const AT_BEGINNING: ChangePosition = {
  versionTimestamp: Number.NEGATIVE_INFINITY,
  dateMicros: Number.POSITIVE_INFINITY,
};

export function encodeCursor(places: ReadonlyMap<number, ChangePosition>): Buffer {
  const entries = [...places].sort(([a], [b]) => a - b);
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

/** @returns undefined for what is no cursor. */
export function decodeCursor(cursor: Uint8Array): ReadonlyMap<number, ChangePosition> | undefined {
  const bytes = Buffer.from(cursor.buffer, cursor.byteOffset, cursor.byteLength);
  const end = bytes.length - CRC_BYTES;
  if (end < 1 || bytes[0] !== FORMAT || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined;
  const read = varintReader(bytes.subarray(1, end));
  const places = new Map<number, ChangePosition>();
  const [count, greatest] = [read(), read()];
  let id = 0;
  for (let entry = 0; entry < count; entry += 1) {
    id += read();
    const before = read();
    const place = before === 0 ? AT_BEGINNING : { versionTimestamp: greatest + 1 - before, dateMicros: readDate(read) };
    // Behind the end of the bytes a number is none.
    if (!(id <= MAX_ID) || Number.isNaN(place.versionTimestamp) || Number.isNaN(place.dateMicros)) return undefined;
    places.set(id, place);
  }
  return places;
}

const [ALL, SINCE_1970, BEFORE_1970] = [0, 1, 2] as const;

// As a distance from 1970: from the first of all dates it could be more than a number holds exactly.
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

/** Seven bits a byte, the lowest first; the highest bit says that more follow. Up to 2^53. */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Each call gives the next number, NaN behind the end. */
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
