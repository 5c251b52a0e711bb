/**
 * Chunks of the hypertables: the writer works chunk by chunk, so that its statements touch no others. Those of our time
 * are short; those of decades long past or far ahead long, so that the dates there can be make 263 chunks at most: dates
 * centuries apart, sent by mistake or not, take seconds to write once, and leave every other reader few chunks to plan.
 */
import type { Micros } from '../point.ts';

/** Length of a chunk of our time, as the migrations set it; chunks made before a change keep theirs. */
export const CHUNK_MICROS = 91 * 86_400_000_000;

/** Length of other chunks, in those of our time: twenty years, less a month. */
const LONG = 80;

/** Our time, 1989-12-06 to 2049-09-22, as numbers of chunks; both are begins of long ones. */
const [FIRST, END] = [LONG, 4 * LONG];

/** Dates from the first on, up to the second without it. */
export interface Span {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/** Number of the chunk a date falls into: where it begins, counted in chunks of our time from 1970-01-01 UTC. */
export function chunkOf(dateMicros: Micros): number {
  const number = Math.floor(dateMicros / CHUNK_MICROS);
  return isLong(number) ? Math.floor(number / LONG) * LONG : number;
}

/** Whether the chunk with that number lies outside of our time. */
function isLong(chunkNumber: number): boolean {
  return chunkNumber < FIRST || chunkNumber >= END;
}

/** Length of a chunk. */
export function lengthOf(chunkNumber: number): Micros {
  return isLong(chunkNumber) ? LONG * CHUNK_MICROS : CHUNK_MICROS;
}

/** Dates of the chunk with that number. */
export function spanOf(chunkNumber: number): Span {
  const fromMicros = chunkNumber * CHUNK_MICROS;
  return { fromMicros, toMicros: fromMicros + lengthOf(chunkNumber) };
}

/** From the first to the last of some chunks, in any order, at least one. */
export function spanOfAll(chunkNumbers: Iterable<number>): Span {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of chunkNumbers) {
    first = Math.min(first, number);
    last = Math.max(last, number);
  }
  return { fromMicros: spanOf(first).fromMicros, toMicros: spanOf(last).toMicros };
}
