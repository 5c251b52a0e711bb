/**
 * Encodes which variable each reading of a write belongs to. A run stands for consecutive readings of one variable, or
 * of excluded variables (`LEFT_OUT`), as two varints:
 * - the variable id minus the variable id of the previous run, zigzag encoded
 * - the number of readings
 */
import { TUPLE_BYTES, variableIdOf } from '../copy-codec.ts';

/** Stands for the ids of excluded variables. Their readings are still counted, so that later positions stay correct. */
const LEFT_OUT = 0;

/** A range of positions in the list of a write's readings. `end` is exclusive. */
export interface Positions {
  readonly start: number;
  readonly end: number;
}

/**
 * Encodes which variable each reading of a write belongs to, so that `positionsOf` can find the readings of a variable.
 * @param batches the readings of the write, as COPY tuples.
 * @param isIncluded returns true for the variables whose readings `positionsOf` must find. The readings of all other
 * variables are encoded with the id `LEFT_OUT`.
 */
export function encodeRuns(batches: readonly Buffer[], isIncluded: (variableId: number) => boolean): Buffer {
  const runs = openRuns();
  let lastId: number | undefined;
  let written = LEFT_OUT;
  let count = 0;
  for (const tuples of batches) {
    for (let offset = 0; offset < tuples.length; offset += TUPLE_BYTES) {
      const variableId = variableIdOf(tuples, offset);
      if (variableId !== lastId) {
        const next = isIncluded(variableId) ? variableId : LEFT_OUT;
        if (next !== written && count > 0) {
          runs.add(written, count);
          count = 0;
        }
        [lastId, written] = [variableId, next];
      }
      count += 1;
    }
  }
  if (count > 0) runs.add(written, count);
  return runs.finish();
}

/** Encodes variables as if each variable had one reading. Only for a write whose readings all have the same origin. */
export function encodeVariables(variableIds: Iterable<number>): Buffer {
  const runs = openRuns();
  for (const variableId of [...new Set(variableIds)].sort((a, b) => a - b)) runs.add(variableId, 1);
  return runs.finish();
}

/** An encoded run consists of two varints (difference of ids, number of readings) of at most five bytes each. */
const MAX_RUN_BYTES = 10;

function openRuns() {
  let bytes = Buffer.allocUnsafe(256);
  let length = 0;
  let lastId = 0;
  const addVarint = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
      bytes[length] = (rest % 0x80) + 0x80;
      length += 1;
    }
    bytes[length] = rest;
    length += 1;
  };
  return {
    add: (variableId: number, count: number): void => {
      if (length + MAX_RUN_BYTES > bytes.length) bytes = Buffer.concat([bytes], 2 * bytes.length);
      const difference = variableId - lastId;
      addVarint(difference < 0 ? -2 * difference - 1 : 2 * difference);
      addVarint(count);
      lastId = variableId;
    },
    finish: (): Buffer => bytes.subarray(0, length),
  };
}

/** @returns the ranges of a variable's readings in the write, ascending; none when `runs` lacks the variable. */
export function positionsOf(runs: Uint8Array, variableId: number): readonly Positions[] {
  const found: Positions[] = [];
  let [offset, id, start] = [0, 0, 0];
  const readVarint = (): number => {
    let [value, factor] = [0, 1];
    for (; ; factor *= 0x80) {
      const byte = runs[offset] ?? 0;
      offset += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (offset < runs.length) {
    const zigzag = readVarint();
    id += zigzag % 2 === 1 ? -(zigzag + 1) / 2 : zigzag / 2;
    const end = start + readVarint();
    if (id === variableId) found.push({ start, end });
    start = end;
  }
  return found;
}
