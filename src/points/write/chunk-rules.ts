/** Chunks of the hypertables: the writer works chunk by chunk, so that its statements touch no others. */
import type { Micros } from '../point.ts';

/** Length of a chunk, as the migrations set it; chunks made before a change keep theirs. */
export const CHUNK_MICROS = 91 * 86_400_000_000;

/** Number of the chunk a date falls into; chunks are counted from 1970-01-01 UTC. */
export function chunkOf(dateMicros: Micros): number {
  return Math.floor(dateMicros / CHUNK_MICROS);
}
