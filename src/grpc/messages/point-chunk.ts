/** Chunks of points as `PointChunk` messages: fixed-width columns as little-endian bytes, texts as codes. */
import type { AggregateChunk, AggregateFunction } from '../../points/buckets/bucket.ts';
import type { Labels } from '../../points/dictionary.ts';
import type { PointChunk } from '../../points/point.ts';
import { partsOf } from '../../points/split-chunk.ts';
import type { Aggregate } from '../../structure/catalogue/enumerations.ts';
import { codeTexts, toDoubleBytes, toInt64Bytes } from './columns.ts';

/** `PointChunk` as the server encodes it: see load-proto.ts. */
export interface PointChunkMessage {
  readonly variableId: number;
  readonly dateMicros: Buffer;
  readonly values: Buffer;
  readonly versionTimestampMicros: Buffer;
  readonly versionCodes: readonly number[];
  readonly versions: readonly string[];
  readonly tagCodes: readonly number[];
  readonly tags: readonly string[];
  readonly aggregate: `AGGREGATE_${Aggregate | 'UNSPECIFIED'}`;
  readonly unitId?: number;
}

/**
 * Yields the chunk as one message, or as several messages when the distinct labels of the chunk exceed 2 MiB.
 * @param unitId id of the unit of the values; null when the variable has no unit.
 */
export function* pointMessages(chunk: PointChunk, labels: Labels, unitId: number | null): Generator<PointChunkMessage> {
  for (const part of partsOf(chunk, labels)) yield pointMessage(part, labels, unitId);
}

function pointMessage(chunk: PointChunk, labels: Labels, unitId: number | null): PointChunkMessage {
  const versions = codeTexts(chunk.versionTagIds, labels.versionTag);
  const tags = codeTexts(chunk.tagSetIds, labels.tags);
  return {
    variableId: chunk.variableId,
    dateMicros: toInt64Bytes(chunk.dates),
    values: toDoubleBytes(chunk.values),
    versionTimestampMicros: toInt64Bytes(chunk.versionTimestamps),
    versionCodes: versions.codes,
    versions: versions.texts,
    tagCodes: tags.codes,
    tags: tags.texts,
    aggregate: 'AGGREGATE_UNSPECIFIED',
    ...(unitId !== null && { unitId }),
  };
}

const AGGREGATES = {
  sum: 'AGGREGATE_SUM',
  min: 'AGGREGATE_MIN',
  max: 'AGGREGATE_MAX',
  avg: 'AGGREGATE_AVG',
  count: 'AGGREGATE_COUNT',
  variance: 'AGGREGATE_VAR',
  stdev: 'AGGREGATE_STDEV',
} as const satisfies Record<AggregateFunction, PointChunkMessage['aggregate']>;

/** @returns a message with the buckets of one variable; the version columns of the message are empty. */
export function aggregateMessage(chunk: AggregateChunk, unitId: number | null): PointChunkMessage {
  return {
    variableId: chunk.variableId,
    dateMicros: toInt64Bytes(chunk.dates),
    values: toDoubleBytes(chunk.values),
    versionTimestampMicros: Buffer.alloc(0),
    ...{ versionCodes: [], versions: [], tagCodes: [], tags: [] },
    aggregate: AGGREGATES[chunk.aggregate],
    ...(unitId !== null && { unitId }),
  };
}
