/**
 * The tables behind the hypertables. A DELETE of a hypertable locks and plans every chunk there is, whatever its bounds:
 * with 536 chunks 1,077 locks and 75 ms for one row, where its chunk alone takes 2 locks and 1 ms (measured 2026-11).
 */
import type { Transaction } from '../../platform/database/database.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';
import { type Span, spanOf } from './chunk-rules.ts';

export type PointTable = 'point' | 'point_version';

export interface Chunk {
  readonly table: PointTable;
  /** Name to be written into SQL, quoted. Of a compressed chunk it is the hypertable, which alone knows its rows. */
  readonly target: string;
  /** Whether its hypertable compresses chunks: it may do so at any moment, and must be told of every row. */
  readonly isCompressible: boolean;
  readonly fromMicros: Micros;
  /** Exclusive. */
  readonly toMicros: Micros;
}

// The catalogue itself: timescaledb_information.chunks takes five times as long, which is half of a small write.
// The first bit of the status tells of a compressed chunk.
const FIND_CHUNKS = `
  select hypertable.table_name as "table",
         case when chunk.status & 1 = 1 then quote_ident(hypertable.table_name)
              else format('%I.%I', chunk.schema_name, chunk.table_name) end as target,
         hypertable.compression_state <> 0 as "isCompressible",
         slice.range_start as "fromMicros", slice.range_end as "toMicros"
  from _timescaledb_catalog.hypertable
  join _timescaledb_catalog.chunk on chunk.hypertable_id = hypertable.id
  join _timescaledb_catalog.chunk_constraint on chunk_constraint.chunk_id = chunk.id
  join _timescaledb_catalog.dimension_slice slice on slice.id = chunk_constraint.dimension_slice_id
  where hypertable.table_name in ('point', 'point_version') and not chunk.dropped
    and slice.range_start < $2::int8 and slice.range_end > $1::int8
  order by hypertable.table_name, slice.range_start`;

const ALL_DATES: Span = { fromMicros: MIN_DATE_MICROS, toMicros: MAX_DATE_MICROS + 1 };

/** The chunks there are that hold dates of a span, of both tables, in the order of their dates. The span may be infinite. */
export async function findChunks(transaction: Transaction, span = ALL_DATES): Promise<readonly Chunk[]> {
  const fromMicros = Math.max(span.fromMicros, ALL_DATES.fromMicros);
  const toMicros = Math.min(span.toMicros, ALL_DATES.toMicros);
  return (await transaction.query<Chunk>(FIND_CHUNKS, [fromMicros, toMicros])).rows;
}

/** Chunks of a table that hold dates of the chunk with that number: one, unless the length of chunks was changed. */
export function chunksOf(chunks: readonly Chunk[], table: PointTable, chunkNumber: number): readonly Chunk[] {
  const { fromMicros: from, toMicros: to } = spanOf(chunkNumber);
  return chunks
    .filter((chunk) => chunk.table === table && chunk.fromMicros < to && chunk.toMicros > from)
    .map((chunk) => ({
      ...chunk,
      fromMicros: Math.max(chunk.fromMicros, from),
      toMicros: Math.min(chunk.toMicros, to),
    }));
}

/**
 * Name of what rows of a span are inserted into: the chunk that holds them all, which takes up to a fifth less time than
 * its hypertable; else the hypertable.
 */
export function insertTargetOf(chunks: readonly Chunk[], table: PointTable, { fromMicros, toMicros }: Span): string {
  const holding = chunks.find((chunk) => {
    return chunk.table === table && chunk.fromMicros <= fromMicros && chunk.toMicros >= toMicros;
  });
  return holding && !holding.isCompressible ? holding.target : table;
}
