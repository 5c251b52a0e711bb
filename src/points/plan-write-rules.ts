/**
 * Decides which rows may be appended unseen and which must be merged. A variable's rows are appended when their dates
 * strictly ascend from beyond its high-water mark: then no stored date and no repeat can be among them. Otherwise all
 * its rows are merged, in order.
 */
import { eachTuple } from './copy-codec.ts';
import type { Micros, WrittenRange } from './point.ts';

export interface WritePlan {
  /** Tuples to COPY straight into the hypertable; only known variables. */
  readonly append: readonly Buffer[];
  /** Tuples to stage and merge, in their order. */
  readonly merge: readonly Buffer[];
  /** What changes, per known variable; none of an unknown one. */
  readonly ranges: readonly WrittenRange[];
}

interface VariableRows {
  lastMicros: Micros;
  isAppend: boolean;
  fromMicros: Micros;
  toMicros: Micros;
  count: number;
}

/** Ids of the variables in a batch, ascending. */
export function variablesOf(batches: readonly Buffer[]): readonly number[] {
  const ids = new Set<number>();
  for (const tuples of batches) eachTuple(tuples, (variableId) => ids.add(variableId));
  return [...ids].sort((a, b) => a - b);
}

/**
 * @param batches COPY tuples in the order they were accepted.
 * @param highWaterMarks greatest stored date per known variable, -Infinity when none; rows of others are left out.
 */
export function planWrite(batches: readonly Buffer[], highWaterMarks: ReadonlyMap<number, Micros>): WritePlan {
  const variables = new Map<number, VariableRows>();
  for (const [variableId, lastMicros] of highWaterMarks) {
    variables.set(variableId, { lastMicros, isAppend: true, fromMicros: Infinity, toMicros: -Infinity, count: 0 });
  }
  let hasUnknown = false;
  for (const tuples of batches) {
    eachTuple(tuples, (variableId, dateMicros) => {
      const rows = variables.get(variableId);
      if (rows) note(rows, dateMicros);
      else hasUnknown = true;
    });
  }
  const written = [...variables].filter(([, rows]) => rows.count > 0);
  const ranges = written.map(([variableId, { fromMicros, toMicros, count }]) => {
    return { variableId, fromMicros, toMicros, count };
  });
  if (!hasUnknown && written.every(([, rows]) => rows.isAppend)) return { append: batches, merge: [], ranges };
  return { ...split(batches, variables), ranges };
}

function note(rows: VariableRows, dateMicros: Micros): void {
  if (dateMicros <= rows.lastMicros) rows.isAppend = false;
  rows.lastMicros = dateMicros;
  if (dateMicros < rows.fromMicros) rows.fromMicros = dateMicros;
  if (dateMicros > rows.toMicros) rows.toMicros = dateMicros;
  rows.count += 1;
}

function split(
  batches: readonly Buffer[],
  variables: ReadonlyMap<number, VariableRows>,
): Pick<WritePlan, 'append' | 'merge'> {
  const append: Buffer[] = [];
  const merge: Buffer[] = [];
  for (const tuples of batches) {
    let runStart = 0;
    let runTarget: Buffer[] | undefined;
    const endRun = (end: number): void => {
      if (runTarget && end > runStart) runTarget.push(tuples.subarray(runStart, end));
      runStart = end;
    };
    eachTuple(tuples, (variableId, _dateMicros, offset) => {
      const rows = variables.get(variableId);
      const target = rows && (rows.isAppend ? append : merge);
      if (target !== runTarget) endRun(offset);
      runTarget = target;
    });
    endRun(tuples.length);
  }
  return { append, merge };
}
