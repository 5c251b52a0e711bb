/**
 * Plans a write: which rows to store, and at which dates the database possibly has rows already. Executes no SQL. If
 * the dates of a variable do not strictly ascend, settle-rows-rules.ts selects the rows to store.
 */

import { eachTuple, TUPLE_BYTES, versionTagIdOf } from '../copy-codec.ts';
import type { Micros, WrittenRange } from '../point.ts';
import { chunkOf, type Span, spanOf } from './chunk-rules.ts';
import {
  addRange,
  type ChunkRanges,
  type ChunkRangesByNumber,
  getOrAdd,
  openRangeWriter,
  type RangeTarget,
  type RangeWriter,
} from './date-ranges-rules.ts';
import { type DateRows, type SettledRows, settleRows } from './settle-rows-rules.ts';
import { type Series, surveyRows, type VariableSurvey } from './survey-rows-rules.ts';

/** Result of a write for one variable: the written range and the new write state of the variable. */
export interface WrittenSeries extends WrittenRange {
  /** VersionTimestamp of the first row stored for each date. Each further row of a date gets one microsecond more. */
  readonly firstVersionTimestamp: Micros;
  readonly lastVersionTimestamp: Micros;
  readonly hasHistory: boolean;
  readonly lastVersionTagId: number;
  readonly versionBound: number;
  /** True when the write stores only one version per date and all dates are after the high-water mark. */
  readonly isAppend: boolean;
}

export interface WritePlan {
  /** Tuples for `point`, at most one per variable and date. */
  readonly current: readonly Buffer[];
  /** Tuples for `point_version`: rows superseded by later rows of this write. */
  readonly earlier: readonly Buffer[];
  /** By chunk number: the dates that may already be stored, and the dates that get several versions. */
  readonly chunks: ReadonlyMap<number, ChunkRanges>;
  /** The variables that exist and have rows in the write, each once. */
  readonly written: readonly WrittenSeries[];
}

// Maximum `versionBound` after a write that adds versions, so that the bound fits into its column. This maximum changes
// no result: the bound is compared only with version limits, which are far lower.
const MAX_VERSION_BOUND = 1_000_000;

/** The variables and chunks of a write. */
export interface WriteTargets {
  /** Ids of the variables, ascending. */
  readonly variableIds: readonly number[];
  readonly chunkNumbers: ReadonlySet<number>;
}

/** Finds the variables and chunks of a write. @param batches COPY tuples. */
export function targetsOf(batches: readonly Buffer[]): WriteTargets {
  const ids = new Set<number>();
  const chunkNumbers = new Set<number>();
  let lastId: number | undefined;
  let chunk: Span = { fromMicros: 0, toMicros: 0 };
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros) => {
      if (variableId !== lastId) ids.add(variableId);
      lastId = variableId;
      if (dateMicros >= chunk.fromMicros && dateMicros < chunk.toMicros) return;
      const number = chunkOf(dateMicros);
      chunkNumbers.add(number);
      chunk = spanOf(number);
    });
  }
  return { variableIds: [...ids].sort((a, b) => a - b), chunkNumbers };
}

/**
 * Plans a write by the rules of §9.2 (R-F1 to R-F4).
 *
 * @param batches COPY tuples in the order in which they take effect. Their VersionTimestamps are set in place. The
 *   VersionTags of variables that are not versioned are cleared in place.
 * @param series by variable id: what the plan must know about each variable. The caller has locked these variables.
 *   Rows of other variables are dropped.
 * @param now lowest VersionTimestamp that the write may assign, in microseconds since 1970.
 */
export function planWrite(batches: readonly Buffer[], series: ReadonlyMap<number, Series>, now: Micros): WritePlan {
  const { variables, hasUnknown } = surveyRows(batches, series, now);
  const unordered = new Map([...variables].filter(([, { isOrdered }]) => !isOrdered));
  const settled = settleAll(batches, unordered);
  const chunks: ChunkRangesByNumber = new Map();
  findRanges(batches, variables, chunks);
  for (const [variableId, variable] of unordered) {
    const rows = settled.get(variableId);
    if (rows) addSettledRanges(chunks, variable, rows);
  }
  const areAllTaken = !hasUnknown && unordered.size === 0;
  const isTaken = (variableId: number) => variables.get(variableId)?.isOrdered === true;
  const ordered = areAllTaken ? batches : [takeTuples(batches, isTaken)];
  return {
    current: [...ordered, Buffer.concat([...settled.values()].map(({ current }) => current))].filter(isFilled),
    earlier: [Buffer.concat([...settled.values()].map(({ earlier }) => earlier))].filter(isFilled),
    chunks,
    written: [...variables.values()].map((variable) => {
      return toWritten(variable, settled.get(variable.series.variableId)?.maxKept ?? 1);
    }),
  };
}

const isFilled = (tuples: Buffer) => tuples.length > 0;

/**
 * Finds the dates that may already be stored, and groups them into date ranges with equal steps. Leaves
 * out variables whose dates do not strictly ascend.
 */
function findRanges(
  batches: readonly Buffer[],
  variables: ReadonlyMap<number, VariableSurvey>,
  chunks: ChunkRangesByNumber,
): void {
  const writers = new Map<number, RangeWriter>();
  for (const [variableId, variable] of variables) {
    if (!variable.isOrdered || variable.fromMicros > variable.series.maxDateMicros) continue;
    writers.set(variableId, openRangeWriter(chunks, toRangeTarget(variable, 1)));
  }
  if (writers.size === 0) return;
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros, offset) => {
      const writer = writers.get(variableId);
      if (!writer || dateMicros > (variables.get(variableId)?.series.maxDateMicros ?? 0)) return;
      writer.add(dateMicros, versionTagIdOf(tuples, offset));
    });
  }
  for (const writer of writers.values()) writer.end();
}

function addSettledRanges(
  chunks: ChunkRangesByNumber,
  variable: VariableSurvey,
  { dates, maxKept }: SettledRows,
): void {
  const target = toRangeTarget(variable, maxKept);
  const writer = openRangeWriter(chunks, target);
  const isStored = ({ dateMicros }: DateRows) => dateMicros <= variable.series.maxDateMicros;
  for (const rows of dates) {
    if (isStored(rows) || rows.earlierTagIds.length > 0) writer.add(rows.dateMicros, rows.versionTagId);
  }
  writer.end();
  for (const { dateMicros, earlierTagIds } of dates.filter(isStored)) {
    for (const tagId of earlierTagIds.filter((id) => mayBeStored(variable.series, id))) {
      const ranges = getOrAdd(chunks, chunkOf(dateMicros));
      addRange(ranges.replaced, target, dateMicros, dateMicros, 0, tagId);
      if (variable.series.isHistoryCut) addRange(ranges.exposed, target, dateMicros, dateMicros, 0, tagId);
    }
  }
}

const REPLACED = ['replaced'] as const;
const REPLACED_AND_EXPOSED = ['replaced', 'exposed'] as const;

function toRangeTarget(variable: VariableSurvey, maxKept: number): RangeTarget {
  const { series } = variable;
  const { variableId, isVersioned, versionLimit, hasHistory } = series;
  const isLimited = boundAfter(variable, maxKept) > versionLimit;
  return {
    variableId,
    versionLimit,
    setsFor: (versionTagId) => {
      if (!isVersioned) return hasHistory ? ['overwritten', 'forgotten'] : ['overwritten'];
      const sets: (keyof ChunkRanges)[] = ['superseded'];
      if (mayBeStored(series, versionTagId)) sets.push(...(series.isHistoryCut ? REPLACED_AND_EXPOSED : REPLACED));
      if (isLimited) sets.push('limited');
      return sets;
    },
  };
}

function mayBeStored({ lastVersionTagId }: Series, versionTagId: number): boolean {
  return versionTagId !== 0 && versionTagId <= lastVersionTagId;
}

function toWritten(variable: VariableSurvey, maxKept: number): WrittenSeries {
  const { series, fromMicros, toMicros, count } = variable;
  return {
    variableId: series.variableId,
    fromMicros,
    toMicros,
    count,
    firstVersionTimestamp: variable.versionTimestamp,
    lastVersionTimestamp: variable.versionTimestamp + maxKept - 1,
    hasHistory: series.hasHistory || (series.isVersioned && addsVersions(variable, maxKept)),
    lastVersionTagId: Math.max(series.lastVersionTagId, variable.maxVersionTagId),
    versionBound: boundAfter(variable, maxKept),
    isAppend: fromMicros > series.maxDateMicros && maxKept === 1,
  };
}

function boundAfter(variable: VariableSurvey, maxKept: number): number {
  const { isVersioned, versionBound } = variable.series;
  if (!isVersioned || !addsVersions(variable, maxKept)) return Math.max(versionBound, 1);
  return Math.min(versionBound + maxKept, MAX_VERSION_BOUND);
}

function addsVersions({ fromMicros, series }: VariableSurvey, maxKept: number): boolean {
  return fromMicros <= series.maxDateMicros || maxKept > 1;
}

/**
 * Applies `settleRows` to the rows of each variable in `variables`.
 * @param variables the variables whose dates do not strictly ascend.
 */
function settleAll(
  batches: readonly Buffer[],
  variables: ReadonlyMap<number, VariableSurvey>,
): ReadonlyMap<number, SettledRows> {
  const settled = new Map<number, SettledRows>();
  if (variables.size === 0) return settled;
  const rows = new Map<number, { readonly tuples: Buffer; readonly dates: Micros[] }>();
  for (const [id, { count }] of variables) rows.set(id, { tuples: Buffer.alloc(count * TUPLE_BYTES), dates: [] });
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros, offset) => {
      const own = rows.get(variableId);
      if (!own) return;
      tuples.copy(own.tuples, own.dates.length * TUPLE_BYTES, offset, offset + TUPLE_BYTES);
      own.dates.push(dateMicros);
    });
  }
  for (const [id, { series, versionTimestamp }] of variables) {
    const own = rows.get(id);
    if (own) settled.set(id, settleRows(own, series.isVersioned, versionTimestamp));
  }
  return settled;
}

/** Copies the tuples of the selected variables, in order. */
function takeTuples(batches: readonly Buffer[], isTaken: (variableId: number) => boolean): Buffer {
  const taken = Buffer.allocUnsafe(batches.reduce((bytes, tuples) => bytes + tuples.length, 0));
  let length = 0;
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, _dateMicros, offset) => {
      if (isTaken(variableId)) length += tuples.copy(taken, length, offset, offset + TUPLE_BYTES);
    });
  }
  return taken.subarray(0, length);
}
