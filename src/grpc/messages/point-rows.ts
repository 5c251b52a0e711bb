/** Converts the points of several variables to one `PointRows` message, with all variables in the same columns. */
import { type Labels, NO_ID } from '../../points/dictionary.ts';
import type { PointChunk } from '../../points/point.ts';
import { codeTexts, toDoubleBytes, toInt64Bytes } from './columns.ts';

/** `PointRows` as the server encodes it, with its fixed-width columns as bytes (load-proto.ts). */
export interface PointRowsMessage {
  readonly variableIds: readonly number[];
  readonly dateMicros: Buffer;
  readonly values: Buffer;
  readonly versionTimestampMicros: Buffer;
  readonly versionCodes: readonly number[];
  readonly versions: readonly string[];
  readonly tagCodes: readonly number[];
  readonly tags: readonly string[];
  readonly unitIds: readonly number[];
}

/**
 * Builds one message from the chunks of several variables (R-J1).
 * @param unitOf returns the unit of a variable's values; null when the variable has no unit.
 */
export function pointRows(
  chunks: readonly PointChunk[],
  labels: Labels,
  unitOf: (variableId: number) => number | null,
): PointRowsMessage {
  const versions = codeTexts(joinIds(chunks.map(({ versionTagIds }) => versionTagIds)), labels.versionTag);
  const tags = codeTexts(joinIds(chunks.map(({ tagSetIds }) => tagSetIds)), labels.tags);
  const unitIds = repeated(chunks, (variableId) => unitOf(variableId) ?? NO_ID);
  return {
    variableIds: repeated(chunks, (variableId) => variableId),
    dateMicros: Buffer.concat(chunks.map(({ dates }) => toInt64Bytes(dates))),
    values: Buffer.concat(chunks.map(({ values }) => toDoubleBytes(values))),
    versionTimestampMicros: Buffer.concat(chunks.map(({ versionTimestamps }) => toInt64Bytes(versionTimestamps))),
    versionCodes: versions.codes,
    versions: versions.texts,
    tagCodes: tags.codes,
    tags: tags.texts,
    unitIds: unitIds.some((unitId) => unitId !== NO_ID) ? unitIds : [],
  };
}

/** @returns for each point, in order, what `pick` returns for the variable of the point. */
function repeated(chunks: readonly PointChunk[], pick: (variableId: number) => number): number[] {
  return chunks.flatMap(({ variableId, dates }) => new Array<number>(dates.length).fill(pick(variableId)));
}

function joinIds(columns: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(columns.reduce((length, column) => length + column.length, 0));
  let end = 0;
  for (const column of columns) {
    joined.set(column, end);
    end += column.length;
  }
  return joined;
}

/**
 * @returns the size of all VersionTags and tags of a message, in bytes. The number of points limits the size of every
 * other field, but not the size of these texts.
 */
export function textBytes({ versions, tags }: Pick<PointRowsMessage, 'versions' | 'tags'>): number {
  return [...versions, ...tags].reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}
