/**
 * Finds the chunk tables of the hypertables. A DELETE on a hypertable locks and plans every chunk, even the chunks that
 * its condition excludes: with 536 chunks, deleting one row takes 1,077 locks and 75 ms. Deleting the row from the
 * chunk's own table takes 2 locks and 1 ms (measured 2026-11).
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
  /**
   * Quoted name of the table that statements read or delete from: the hypertable if the chunk is compressed, else
   * `name`. For inserts, see `insertTargetOf`.
   */
  readonly target: string;
  /**
   * True when compression is enabled for the hypertable of the chunk. The chunk may then be compressed at any time,
   * unless a transaction locks `point_gate`.
   */
  readonly isCompressible: boolean;
  readonly isCompressed: boolean;
  /**
   * True when a compressed chunk is marked as also having uncompressed rows. Without the mark, queries ignore these
   * rows.
   */
  readonly isPartial: boolean;
  /**
   * True when rows may be inserted into the chunk's own table: the chunk is not compressible, or
   * `openChunks` has opened it.
   */
  readonly isOpen: boolean;
  readonly fromMicros: Micros;
  /** End of the chunk, exclusive. */
  readonly toMicros: Micros;
}

// The function `point_chunks()` (sql/functions) reads TimescaleDB's catalogue.
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
 * Finds the chunks that can contain points of a span of dates.
 * @param span range of dates, whose bounds may be infinite.
 * @returns the chunks of `point` and `point_version` that overlap the span, ordered by table and date.
 */
export async function findChunks(transaction: Transaction, span = ALL_DATES): Promise<readonly Chunk[]> {
  const fromMicros = Math.max(span.fromMicros, ALL_DATES.fromMicros);
  const toMicros = Math.min(span.toMicros, ALL_DATES.toMicros);
  return (await transaction.query<Chunk>(FIND_CHUNKS, [fromMicros, toMicros])).rows;
}

/**
 * @returns the chunks of `table` that overlap the span of `chunkNumber`, clipped to the span. There is more than one
 *   only if a chunk was created with another length.
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
 * @param chunks chunks that `openChunks` has returned.
 * @returns the table into which rows of a span are inserted. If an open chunk covers the whole span, this is the
 * chunk's own table, because inserting into it is faster than inserting through the hypertable. Otherwise it is the
 * hypertable.
 */
export function insertTargetOf(chunks: readonly Chunk[], table: PointTable, { fromMicros, toMicros }: Span): string {
  const holding = chunks.find((chunk) => {
    return chunk.table === table && chunk.fromMicros <= fromMicros && chunk.toMicros >= toMicros;
  });
  return holding?.isOpen ? holding.name : table;
}
