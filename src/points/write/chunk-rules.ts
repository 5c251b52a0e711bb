/**
 * Bounds of the hypertables' chunks. The writer moves and deletes stored rows chunk by chunk. Chunks from 1989 to 2049
 * are 91 days long; earlier and later chunks are about twenty years long. So all valid dates fit into 263 chunks, which
 * are few enough for other queries to stay fast.
 */
import type { Micros } from '../point.ts';

/**
 * Length of a short chunk: the chunk interval that the migrations set in the database. A chunk that was created with
 * another length keeps that length.
 */
export const CHUNK_MICROS = 91 * 86_400_000_000;

/** Length of a long chunk, as a multiple of the length of a short chunk. A long chunk spans almost twenty years. */
const LONG = 80;

/**
 * The short chunks have the numbers from FIRST to END (exclusive), for the dates from 1989-12-07 to 2049-09-23
 * (exclusive). FIRST and END are multiples of LONG.
 */
const [FIRST, END] = [LONG, 4 * LONG];

/** Half-open range of dates: `fromMicros` inclusive, `toMicros` exclusive. */
export interface Span {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

/**
 * @returns the chunk number of the chunk that contains a date: the distance from 1970-01-01 UTC to the start of the
 * chunk, as a multiple of the length of a short chunk.
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
 * @param chunkNumbers numbers of one or more chunks, in any order.
 * @returns the range of dates from the start of the earliest chunk to the end of the latest chunk.
 */
export function spanOfAll(chunkNumbers: Iterable<number>): Span {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of chunkNumbers) {
    first = Math.min(first, number);
    last = Math.max(last, number);
  }
  return { fromMicros: spanOf(first).fromMicros, toMicros: spanOf(last).toMicros };
}
