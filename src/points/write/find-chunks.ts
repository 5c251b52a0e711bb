/**
 * The tables behind the hypertables. A DELETE of a hypertable locks and plans every chunk there is, whatever its bounds:
 * with 536 chunks 1,077 locks and 75 ms for one row, where its chunk alone takes 2 locks and 1 ms (measured 2026-11).
 */
import type { Transaction } from '../../platform/database.ts';
import type { Micros } from '../point.ts';
import { CHUNK_MICROS } from './chunk-rules.ts';

export type PointTable = 'point' | 'point_version';

export interface Chunk {
  readonly table: PointTable;
  /** Name to be written into SQL, quoted. Of a compressed chunk it is the hypertable, which alone knows its rows. */
  readonly target: string;
  readonly fromMicros: Micros;
  /** Exclusive. */
  readonly toMicros: Micros;
}

const FIND_CHUNKS = `
  select hypertable_name as "table",
         case when is_compressed then quote_ident(hypertable_name)
              else format('%I.%I', chunk_schema, chunk_name) end as target,
         (extract(epoch from range_start) * 1000000)::int8 as "fromMicros",
         (extract(epoch from range_end) * 1000000)::int8 as "toMicros"
  from timescaledb_information.chunks
  where hypertable_name in ('point', 'point_version')
  order by hypertable_name, range_start`;

/** All chunks there are, in the order of their dates. */
export async function findChunks(transaction: Transaction): Promise<readonly Chunk[]> {
  return (await transaction.query<Chunk>(FIND_CHUNKS)).rows;
}

/** Chunks of a table that hold dates of the chunk with that number: one, unless the length of chunks was changed. */
export function chunksOf(chunks: readonly Chunk[], table: PointTable, chunkNumber: number): readonly Chunk[] {
  const [from, to] = [chunkNumber * CHUNK_MICROS, (chunkNumber + 1) * CHUNK_MICROS];
  return chunks
    .filter((chunk) => chunk.table === table && chunk.fromMicros < to && chunk.toMicros > from)
    .map((chunk) => ({
      ...chunk,
      fromMicros: Math.max(chunk.fromMicros, from),
      toMicros: Math.min(chunk.toMicros, to),
    }));
}
