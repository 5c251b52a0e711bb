/** Rows of points as JSON (R-G3), written chunk by chunk. */
import type { AggregateChunk } from '../points/aggregate-points.ts';
import type { Dictionary, Labels } from '../points/dictionary.ts';
import { formatInstant, formatLocalInstant } from '../points/instant-rules.ts';
import type { Micros, PointChunk } from '../points/point.ts';
import { zoneOffset } from '../structure/time-zones.ts';
import type { RowLevel } from './read-request.ts';
import type { ReadVariable } from './selection.ts';

export interface RowFormat {
  readonly level: RowLevel;
  readonly timeZoneId: string | undefined;
  readonly variables: ReadonlyMap<number, ReadVariable>;
}

/** Pieces of one JSON array of `{variableId, date, rawValue, unitId, version?, versionTimestamp?, tags?}`. */
export function jsonRows(
  chunks: AsyncIterable<PointChunk>,
  dictionary: Dictionary,
  format: RowFormat,
): AsyncGenerator<string> {
  const formatDate = dateFormatter(format.timeZoneId);
  return jsonArray(chunks, async (chunk) => {
    const labels = await dictionary.labelsOf([chunk]);
    return Array.from(chunk.dates, (_, index) => row(chunk, labels, index, format, formatDate));
  });
}

/** Pieces of one JSON array of `{variableId, date, sumValue, unitId}`, the value under the member of its aggregate. */
export function jsonAggregates(chunks: AsyncIterable<AggregateChunk>, format: RowFormat): AsyncGenerator<string> {
  const formatDate = dateFormatter(format.timeZoneId);
  return jsonArray(chunks, ({ variableId, aggregate, dates, values }) =>
    Array.from(dates, (date, index) => {
      // NaN, no value, is null in JSON.
      const value = `"${aggregate}Value":${JSON.stringify(values[index])}`;
      const unit = format.level === 'ValueVariableDate' ? '' : `,${unitMember(variableId, format)}`;
      return `{"variableId":${variableId},"date":"${formatDate(date)}",${value}${unit}}`;
    }),
  );
}

async function* jsonArray<Chunk>(
  chunks: AsyncIterable<Chunk>,
  toRows: (chunk: Chunk) => readonly string[] | Promise<readonly string[]>,
): AsyncGenerator<string> {
  let separator = '[';
  for await (const chunk of chunks) {
    yield separator + (await toRows(chunk)).join(',\n');
    separator = ',\n';
  }
  yield separator === '[' ? '[]' : ']';
}

function unitMember(variableId: number, { variables }: RowFormat): string {
  return `"unitId":${variables.get(variableId)?.unitId ?? null}`;
}

function row(
  chunk: PointChunk,
  labels: Labels,
  index: number,
  format: RowFormat,
  formatDate: (micros: Micros) => string,
): string {
  const { variableId } = chunk;
  const date = formatDate(chunk.dates[index] ?? 0);
  const start = `{"variableId":${variableId},"date":"${date}","rawValue":${JSON.stringify(chunk.values[index])}`;
  if (format.level === 'ValueVariableDate') return `${start}}`;
  const version = labels.versionTag(chunk.versionTagIds[index] ?? 0);
  const tags = labels.tags(chunk.tagSetIds[index] ?? 0);
  const parts = [
    unitMember(variableId, format),
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
