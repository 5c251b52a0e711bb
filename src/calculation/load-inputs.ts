/** Reads what a script gets (R-H2): its inputs as columns, in one snapshot, and what they and the target are. */
import type { Queryable, Transaction } from '../platform/database.ts';
import { DomainError } from '../platform/errors.ts';
import { type Dictionary, type Labels, NO_ID } from '../points/dictionary.ts';
import { formatInstant } from '../points/instant-rules.ts';
import type { PointChunk, VersionChoice } from '../points/point.ts';
import { readPoints } from '../points/read-points.ts';
import { AGGREGATE, nameOf, QUANTITY_TYPE, TIME_PERIOD } from '../structure/enumerations.ts';
import { type Formula, type InputDeclaration, instantMicros } from './declaration.ts';
import type { CodedText, SandboxInput, SeriesColumns, VariableInfo } from './sandbox/sandbox-types.ts';
import { type ChangedDates, findWindow, type Window } from './windows.ts';

const MICROS_PER_SECOND = 1_000_000;
/** Greatest whole number R's integers hold: a second in January 2038. */
export const MAX_R_SECONDS = 2_147_483_647;

/** What a run record says of one input (R-H8). */
export interface InputRecord {
  readonly alias: string;
  readonly variableId: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly points: number;
  /** Greatest VersionTimestamp read: together with the window it says which state of the input was used. */
  readonly lastVersionTimestamp: string | null;
}

export interface LoadedInputs {
  readonly inputs: readonly SandboxInput[];
  readonly records: readonly InputRecord[];
}

/**
 * @param transaction a read-only, repeatable-read transaction begun after the run was claimed.
 * @param maxPoints most points to hold, over all inputs.
 * @throws DomainError when an input does not exist, or there are more points than that.
 */
export async function loadInputs(
  transaction: Transaction,
  dictionary: Dictionary,
  formula: Formula,
  changed: ChangedDates,
  maxPoints: number,
): Promise<LoadedInputs> {
  const variables = await findVariableInfos(
    transaction,
    formula.inputs.map(({ variableId }) => variableId),
  );
  const inputs: SandboxInput[] = [];
  const records: InputRecord[] = [];
  let pointCount = 0;
  for (const declared of formula.inputs) {
    const variable = variables.get(declared.variableId);
    if (!variable)
      throw new DomainError('not_found', `input ${declared.alias}: variable ${declared.variableId} does not exist`);
    const window = await findWindow(transaction, declared, changed, variable.sourceTimeZoneId ?? 'UTC');
    const chunks = await readInput(transaction, declared, window, maxPoints - pointCount);
    const labels = await dictionary.labelsOf(chunks, transaction);
    pointCount += countPoints(chunks);
    inputs.push({ alias: declared.alias, variable, series: toColumns(declared.alias, chunks, labels) });
    records.push(toRecord(declared, window, chunks));
  }
  return { inputs, records };
}

/** @param room points there is still room for. */
async function readInput(
  transaction: Transaction,
  declared: InputDeclaration,
  window: Window,
  room: number,
): Promise<readonly PointChunk[]> {
  const chunks: PointChunk[] = [];
  const selection = {
    variableIds: [declared.variableId],
    ...(window.fromMicros !== undefined && { fromMicros: window.fromMicros }),
    ...(window.toMicros !== undefined && { toMicros: window.toMicros, isToIncluded: true }),
    version: versionChoice(declared),
    order: 'ASC',
  } as const;
  for await (const chunk of readPoints(transaction, selection)) {
    chunks.push(chunk);
    if (countPoints(chunks) <= room) continue;
    throw new DomainError(
      'invalid_input',
      `the inputs have more points than a run may read, counted up to ${declared.alias}`,
    );
  }
  return chunks;
}

function countPoints(chunks: readonly PointChunk[]): number {
  return chunks.reduce((sum, { dates }) => sum + dates.length, 0);
}

/** `Variable` and `targetVariable` of R-H2, by id. */
export async function findVariableInfos(
  queryable: Queryable,
  variableIds: readonly number[],
): Promise<ReadonlyMap<number, VariableInfo>> {
  const { rows } = await queryable.query<{
    id: number;
    name: string;
    sourceId: number;
    granularity: number | null;
    timeBase: number | null;
    quantityType: number | null;
    aggregate: number | null;
    timeZoneId: string;
  }>(
    `select variable.id, variable.name, variable.source_id as "sourceId", variable.granularity,
            variable.granularity_time_base as "timeBase", variable.quantity_type as "quantityType",
            variable.aggregate, coalesce(source.time_zone_id, site.time_zone_id) as "timeZoneId"
     from variable join source on source.id = variable.source_id join site on site.id = source.site_id
     where variable.id = any($1::int[])`,
    [variableIds],
  );
  const infos = rows.map(({ timeBase, quantityType, aggregate, timeZoneId, ...row }): VariableInfo => {
    return {
      ...row,
      granularityTimeBase: nameOf(TIME_PERIOD, timeBase),
      quantityType: nameOf(QUANTITY_TYPE, quantityType),
      aggregate: nameOf(AGGREGATE, aggregate),
      sourceTimeZoneId: timeZoneId,
    };
  });
  return new Map(infos.map((info) => [info.id, info]));
}

function versionChoice({ version, asOf }: InputDeclaration): VersionChoice {
  const asOfMicros = instantMicros(asOf);
  return {
    ...(version && { versionTags: [version] }),
    ...(asOfMicros !== undefined && { asOfMicros }),
  };
}

/** R's integers hold seconds until January 2038; of several points within one second the last is kept (R-H2). */
function toColumns(alias: string, chunks: readonly PointChunk[], labels: Labels): SeriesColumns {
  const count = countPoints(chunks);
  const dates = new Int32Array(count);
  const values = new Float64Array(count);
  const versions = textCoder(count, labels.versionTag);
  const tags = textCoder(count, labels.tags);
  let size = 0;
  for (const chunk of chunks) {
    for (const [index, micros] of chunk.dates.entries()) {
      const seconds = Math.floor(micros / MICROS_PER_SECOND);
      if (Math.abs(seconds) > MAX_R_SECONDS) {
        throw new DomainError(
          'invalid_input',
          `input ${alias} has a date R's integers cannot hold: ${formatInstant(micros)}`,
        );
      }
      const isSameSecond = size > 0 && dates[size - 1] === seconds;
      const row = isSameSecond ? size - 1 : size;
      dates[row] = seconds;
      values[row] = chunk.values[index] ?? Number.NaN;
      versions.set(row, chunk.versionTagIds[index] ?? NO_ID);
      tags.set(row, chunk.tagSetIds[index] ?? NO_ID);
      size = row + 1;
    }
  }
  return {
    dates: dates.subarray(0, size),
    values: values.subarray(0, size),
    versions: versions.finish(size),
    tags: tags.finish(size),
  };
}

/** Ids of the dictionary → places in a table of the texts that occur; R knows none but the empty text. */
function textCoder(count: number, textOf: (id: number) => string | null) {
  const codes = new Int32Array(count);
  const codeOf = new Map<number, number>();
  return {
    set: (row: number, id: number): void => {
      const code = codeOf.get(id) ?? codeOf.size;
      codeOf.set(id, code);
      codes[row] = code;
    },
    finish: (size: number): CodedText => {
      return { codes: codes.subarray(0, size), texts: Array.from(codeOf.keys(), (id) => textOf(id) ?? '') };
    },
  };
}

function toRecord({ alias, variableId }: InputDeclaration, window: Window, chunks: readonly PointChunk[]): InputRecord {
  const lasts = chunks.map(({ versionTimestamps }) => versionTimestamps.reduce((a, b) => Math.max(a, b)));
  return {
    alias,
    variableId,
    from: window.fromMicros === undefined ? null : formatInstant(window.fromMicros),
    to: window.toMicros === undefined ? null : formatInstant(window.toMicros),
    points: countPoints(chunks),
    lastVersionTimestamp: lasts.length === 0 ? null : formatInstant(Math.max(...lasts)),
  };
}
