/** Rows of points as JSON (R-G3), written chunk by chunk. */
import { formatInstant, formatLocalInstant } from '../points/instant-rules.ts';
import type { Micros, PointChunk } from '../points/point.ts';
import { zoneOffset } from '../structure/time-zones.ts';
import type { RowLevel } from './read-request.ts';

export interface RowFormat {
  readonly level: RowLevel;
  readonly timeZoneId: string | undefined;
  readonly unitIds: ReadonlyMap<number, number | null>;
}

/** Pieces of one JSON array of `{variableId, date, rawValue, unitId, version?, versionTimestamp?, tags?}`. */
export async function* jsonRows(chunks: AsyncIterable<PointChunk>, format: RowFormat): AsyncGenerator<string> {
  const formatDate = dateFormatter(format.timeZoneId);
  let separator = '[';
  for await (const chunk of chunks) {
    const rows = Array.from(chunk.dates, (_, index) => row(chunk, index, format, formatDate));
    yield separator + rows.join(',\n');
    separator = ',\n';
  }
  yield separator === '[' ? '[]' : ']';
}

function row(chunk: PointChunk, index: number, format: RowFormat, formatDate: (micros: Micros) => string): string {
  const { variableId } = chunk;
  const date = formatDate(chunk.dates[index] ?? 0);
  const start = `{"variableId":${variableId},"date":"${date}","rawValue":${JSON.stringify(chunk.values[index])}`;
  if (format.level === 'ValueVariableDate') return `${start}}`;
  const version = chunk.versionTags[index];
  const tags = chunk.tags[index];
  const parts = [
    `"unitId":${format.unitIds.get(variableId) ?? null}`,
    version ? `"version":${JSON.stringify(version)}` : '',
    `"versionTimestamp":"${formatInstant(chunk.versionTimestamps[index] ?? 0)}"`,
    tags ? `"tags":${tags}` : '',
  ];
  return `${start},${parts.filter((part) => part !== '').join(',')}}`;
}

function dateFormatter(timeZoneId: string | undefined): (micros: Micros) => string {
  if (timeZoneId === undefined) return formatInstant;
  const offsetAt = zoneOffset(timeZoneId);
  return (micros) => formatLocalInstant(micros, offsetAt(micros));
}
