/**
 * Finds the chunk tables of the hypertables. A DELETE on a hypertable locks and plans every chunk, also outside its bounds: with
 * 536 chunks it takes 1,077 locks and 75 ms for one row; on the chunk itself 2 locks and 1 ms (measured 2026-11).
 */
import type { Transaction } from '../../platform/database/database.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../../platform/dates/instant-rules.ts';
import type { Micros } from '../point.ts';
import { type Span, spanOf } from './chunk-rules.ts';

export type PointTable = 'point' | 'point_version';

export interface Chunk {
  readonly table: PointTable;
  /** Quoted name of the chunk's own table. */
  readonly name: string;
  /** Quoted name for statements. A compressed chunk is accessed through its hypertable. */
  readonly target: string;
  /**
   * Compression is enabled for the hypertable; a chunk can be compressed whenever no transaction locks `point_gate`.
   */
  readonly isCompressible: boolean;
  readonly isCompressed: boolean;
  /**
   * The chunk is compressed but marked as having uncompressed rows too; reads look for such rows only with this mark.
   */
  readonly isPartial: boolean;
  /** Rows may be inserted into the chunk's own table: it is not compressible, or `openChunks` has opened it. */
  readonly isOpen: boolean;
  readonly fromMicros: Micros;
  /** Exclusive. */
  readonly toMicros: Micros;
}

// sql/functions/point_chunks.sql reads TimescaleDB's catalogue.
const FIND_CHUNKS = `
  select table_name as "table", name, is_compressed as "isCompressed", is_partial as "isPartial",
         case when is_compressed then quote_ident(table_name) else name end as target,
         is_compressible as "isCompressible", not is_compressible as "isOpen",
         from_micros as "fromMicros", to_micros as "toMicros"
  from point_chunks()
  where from_micros < $2::int8 and to_micros > $1::int8
  order by table_name, from_micros`;

const ALL_DATES: Span = { fromMicros: MIN_DATE_MICROS, toMicros: MAX_DATE_MICROS + 1 };

/**
 * Finds the chunk tables that a statement must cover.
 * @param span may be infinite.
 * @returns the existing chunks of both tables that overlap the span, by table and date.
 */
export async function findChunks(transaction: Transaction, span = ALL_DATES): Promise<readonly Chunk[]> {
  const fromMicros = Math.max(span.fromMicros, ALL_DATES.fromMicros);
  const toMicros = Math.min(span.toMicros, ALL_DATES.toMicros);
  return (await transaction.query<Chunk>(FIND_CHUNKS, [fromMicros, toMicros])).rows;
}

/**
 * @returns the chunks of a table that overlap the chunk with that number, clipped to it: one, unless the chunk length was
 *   changed.
 */
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
 * @param chunks as `openChunks` returns them.
 * @returns the table to insert rows of a span into: the chunk if one covers the whole span, which is up to a fifth
 *   faster, or else the hypertable.
 */
export function insertTargetOf(chunks: readonly Chunk[], table: PointTable, { fromMicros, toMicros }: Span): string {
  const holding = chunks.find((chunk) => {
    return chunk.table === table && chunk.fromMicros <= fromMicros && chunk.toMicros >= toMicros;
  });
  return holding?.isOpen ? holding.name : table;
}
