/** Splits a chunk of points into parts, so that the labels of each part fit into one gRPC message. */
import { type Labels, NO_ID } from './dictionary.ts';
import type { PointChunk } from './point.ts';

// Maximum number of bytes of the distinct labels in a message with several points. The other columns take less than
// 2 MiB, so such a message stays below 4 MiB, the default limit of clients.
const MAX_TEXT_BYTES = 2 << 20;

/**
 * Splits a chunk into parts whose distinct labels have at most MAX_TEXT_BYTES bytes in total. A part with a single
 * point can have more.
 */
export function* partsOf(chunk: PointChunk, labels: Labels): Generator<PointChunk> {
  let start = 0;
  for (const end of endsOfParts(chunk, labels)) {
    yield partOf(chunk, start, end);
    start = end;
  }
}

/** @returns the total length, in bytes, of the distinct labels of a chunk. */
export function textBytesOf(chunk: PointChunk, labels: Labels): number {
  const addRow = textCounter(chunk, labels).addRow;
  let bytes = 0;
  for (let row = 0; row < chunk.dates.length; row += 1) bytes += addRow(row);
  return bytes;
}

/**
 * Creates a counter of text bytes that counts each distinct label once. `addRow` returns the number of bytes that a row
 * adds; `forget` resets the counter.
 */
function textCounter({ versionTagIds, tagSetIds }: PointChunk, labels: Labels) {
  const columns = [
    { ids: versionTagIds, textOf: labels.versionTag, seen: new Set<number>() },
    { ids: tagSetIds, textOf: labels.tags, seen: new Set<number>() },
  ];
  return {
    addRow: (row: number): number =>
      columns.reduce((sum, { ids, textOf, seen }) => sum + newBytes(ids[row] ?? NO_ID, textOf, seen), 0),
    forget: () => {
      for (const { seen } of columns) seen.clear();
    },
  };
}

function* endsOfParts(chunk: PointChunk, labels: Labels): Generator<number> {
  const { addRow, forget } = textCounter(chunk, labels);
  let bytes = 0;
  let start = 0;
  for (let row = 0; row < chunk.dates.length; row += 1) {
    bytes += addRow(row);
    if (bytes <= MAX_TEXT_BYTES || row === start) continue;
    yield row;
    start = row;
    forget();
    bytes = addRow(row);
  }
  yield chunk.dates.length;
}

/** Returns the size in bytes of a label that was not seen before, otherwise 0. */
function newBytes(id: number, textOf: (id: number) => string | null, seen: Set<number>): number {
  if (id === NO_ID || seen.has(id)) return 0;
  seen.add(id);
  return Buffer.byteLength(textOf(id) ?? '');
}

function partOf(chunk: PointChunk, start: number, end: number): PointChunk {
  return {
    variableId: chunk.variableId,
    dates: chunk.dates.subarray(start, end),
    values: chunk.values.subarray(start, end),
    versionTimestamps: chunk.versionTimestamps.subarray(start, end),
    versionTagIds: chunk.versionTagIds.subarray(start, end),
    tagSetIds: chunk.tagSetIds.subarray(start, end),
  };
}
