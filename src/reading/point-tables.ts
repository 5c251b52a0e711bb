/** Builds the rows of points and aggregates (R-G3), independently of the format. */

import type { AggregateChunk, AggregateFunction } from '../points/buckets/bucket.ts';
import type { Dictionary } from '../points/dictionary.ts';
import type { PointChunk, ValueChunk } from '../points/point.ts';
import { type HistoryNotice, historyMetadata } from '../selection/history-notice.ts';
import type { RowLevel } from '../selection/read-request.ts';
import type { ReadVariable } from '../selection/selection.ts';
import type { Batch, Cells, Column, Table } from './formats/table.ts';

export interface RowShape {
  readonly level: RowLevel;
  readonly timeZoneId: string | undefined;
  readonly variables: ReadonlyMap<number, ReadVariable>;
  /**
   * Lists the history cuts and the rollups that concern the read (R-F9). The notice is complete before the read returns
   * its first row.
   */
  readonly notice: HistoryNotice;
}

const UNIT: Column = { name: 'unitId', kind: 'id' };

const VALUE: Column = { name: 'rawValue', kind: 'number' };

/** @returns rows of `variableId, date, rawValue, unitId, version, versionTimestamp, tags` (R-G3). */
export function pointTable(chunks: AsyncIterable<PointChunk>, dictionary: Dictionary, shape: RowShape): Table {
  const columns: readonly Column[] = [
    ...rowStart(shape),
    VALUE,
    UNIT,
    { name: 'version', kind: 'text' },
    { name: 'versionTimestamp', kind: 'instant' },
    { name: 'tags', kind: 'json' },
  ];
  const toBatch = async (chunk: PointChunk): Promise<Batch> => {
    const cells = [...valueCells(chunk), ...(await labelCells(chunk, dictionary, shape))];
    return { rowCount: chunk.dates.length, cells };
  };
  return { columns, batches: batchesOf(chunks, toBatch), metadata: () => historyMetadata(shape.notice) };
}

/** @returns rows of `variableId, date, rawValue`, for the level `ValueVariableDate` (R-G3). */
export function valueTable(chunks: AsyncIterable<ValueChunk>, shape: RowShape): Table {
  const toBatch = (chunk: ValueChunk): Batch => ({ rowCount: chunk.dates.length, cells: valueCells(chunk) });
  const columns = [...rowStart(shape), VALUE];
  return { columns, batches: batchesOf(chunks, toBatch), metadata: () => historyMetadata(shape.notice) };
}

/**
 * Builds the rows of aggregates (R-G3).
 * @param functionOf aggregate function of each variable.
 * @returns rows with the columns `variableId`, `date`, one column for each function in use (`sumValue`, `avgValue`, …),
 * and `unitId`. A row has a value only in the column of its variable's function. The level `ValueVariableDate` has no
 * column `unitId`.
 */
export function aggregateTable(
  chunks: AsyncIterable<AggregateChunk>,
  functionOf: (variableId: number) => AggregateFunction,
  shape: RowShape,
): Table {
  const functions = [...new Set([...shape.variables.keys()].map(functionOf))];
  const values: readonly Column[] = functions.map((name) => ({ name: `${name}Value`, kind: 'number' }));
  const isNormal = shape.level !== 'ValueVariableDate';
  const columns: readonly Column[] = [...rowStart(shape), ...values, ...(isNormal ? [UNIT] : [])];
  const toBatch = async (chunk: AggregateChunk): Promise<Batch> => {
    const members = functions.map((name): Cells => {
      return name === chunk.aggregate ? { kind: 'numbers', values: chunk.values } : { kind: 'absent' };
    });
    const cells = [...startCells(chunk), ...members, ...(isNormal ? [unitCells(chunk.variableId, shape)] : [])];
    return { rowCount: chunk.dates.length, cells };
  };
  return { columns, batches: batchesOf(chunks, toBatch), metadata: () => historyMetadata(shape.notice) };
}

function rowStart({ timeZoneId }: RowShape): readonly Column[] {
  return [
    { name: 'variableId', kind: 'id' },
    { name: 'date', kind: 'instant', ...(timeZoneId !== undefined && { timeZoneId }) },
  ];
}

function valueCells(chunk: ValueChunk): readonly Cells[] {
  return [...startCells(chunk), { kind: 'numbers', values: chunk.values }];
}

function startCells({ variableId, dates }: Pick<ValueChunk, 'variableId' | 'dates'>): readonly Cells[] {
  return [
    { kind: 'constant', value: variableId },
    { kind: 'instants', values: dates },
  ];
}

function unitCells(variableId: number, { variables }: RowShape): Cells {
  return { kind: 'constant', value: variables.get(variableId)?.unitId ?? null };
}

async function labelCells(chunk: PointChunk, dictionary: Dictionary, shape: RowShape): Promise<readonly Cells[]> {
  const labels = await dictionary.labelsOf([chunk]);
  return [
    unitCells(chunk.variableId, shape),
    { kind: 'codes', ids: chunk.versionTagIds, textOf: labels.versionTag },
    { kind: 'instants', values: chunk.versionTimestamps },
    { kind: 'codes', ids: chunk.tagSetIds, textOf: labels.tags },
  ];
}

async function* batchesOf<Chunk>(
  chunks: AsyncIterable<Chunk>,
  toBatch: (chunk: Chunk) => Batch | Promise<Batch>,
): AsyncGenerator<Batch> {
  for await (const chunk of chunks) yield toBatch(chunk);
}
