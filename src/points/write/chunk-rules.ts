/**
 * Bounds of the hypertables' chunks; the writer runs its statements chunk by chunk. Chunks from 1989 to 2049 are 91
 * days long; earlier and later chunks are about twenty years long. All valid dates fit into 263 chunks, so a batch with
 * dates centuries apart cannot slow down other queries.
 */
import type { Micros } from '../point.ts';

/**
 * Length of a short chunk, which the migrations set. A chunk that was created with another length keeps that length.
 */
export const CHUNK_MICROS = 91 * 86_400_000_000;

/** Number of short chunks in a long chunk, which is almost twenty years long. */
const LONG = 80;

/**
 * Range of the short chunks, 1989-12-07 to 2049-09-23 (exclusive), as chunk numbers; both
 * numbers are multiples of LONG.
 */
const [FIRST, END] = [LONG, 4 * LONG];

/** Half-open range of dates: `fromMicros` inclusive, `toMicros` exclusive. */
export interface Span {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/**
 * @returns the number of the chunk that contains a date: the number of short chunks from 1970-01-01 UTC
 * to the start of the chunk.
 */
export function chunkOf(dateMicros: Micros): number {
  const number = Math.floor(dateMicros / CHUNK_MICROS);
  return isLong(number) ? Math.floor(number / LONG) * LONG : number;
}

/** Returns true for a chunk number outside the range of short chunks. */
function isLong(chunkNumber: number): boolean {
  return chunkNumber < FIRST || chunkNumber >= END;
}

/** @returns the length of a chunk in microseconds. */
export function lengthOf(chunkNumber: number): Micros {
  return isLong(chunkNumber) ? LONG * CHUNK_MICROS : CHUNK_MICROS;
}

/** @returns the range of dates of a chunk. */
export function spanOf(chunkNumber: number): Span {
  const fromMicros = chunkNumber * CHUNK_MICROS;
  return { fromMicros, toMicros: fromMicros + lengthOf(chunkNumber) };
}

/**
 * @param chunkNumbers at least one, in any order.
 * @returns the span from the first to the last chunk.
 */
export function spanOfAll(chunkNumbers: Iterable<number>): Span {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of chunkNumbers) {
    first = Math.min(first, number);
    last = Math.max(last, number);
  }
  return { fromMicros: spanOf(first).fromMicros, toMicros: spanOf(last).toMicros };
}
