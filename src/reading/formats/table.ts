/**
 * Rows on their way to a reader, as columns: what every format (JSON, CSV, Arrow) writes. A table is read once, batch by
 * batch, so that memory does not grow with it.
 */
import type { Micros } from '../../points/point.ts';

export interface Column {
  readonly name: string;
  /** `id`: a whole number; `text`: any text; `json`: text that is JSON itself. */
  readonly kind: 'id' | 'number' | 'instant' | 'text' | 'json';
  /** Of an instant: it is written on this zone's clock; absent is UTC. */
  readonly timeZoneId?: string;
}

/** The cells of one column in one batch. */
export type Cells =
  /** Nothing at all: a JSON row leaves the member out. */
  | { readonly kind: 'absent' }
  /** One id for all rows. */
  | { readonly kind: 'constant'; readonly value: number | null }
  /** Numbers; NaN: no value. */
  | { readonly kind: 'numbers'; readonly values: Float64Array }
  /** Instants in microseconds since 1970-01-01 UTC. */
  | { readonly kind: 'instants'; readonly values: Float64Array }
  /** Texts by id; where there is none a JSON row leaves the member out. */
  | { readonly kind: 'codes'; readonly ids: Int32Array; readonly textOf: (id: number) => string | null };

export interface Batch {
  readonly rowCount: number;
  /** As many as the table has columns, in their order. */
  readonly cells: readonly Cells[];
}

export interface Table {
  readonly columns: readonly Column[];
  /** Batches of at least one row. */
  readonly batches: AsyncGenerator<Batch>;
}

/** Writes an instant as ASCII text into `bytes` from `at` on. @returns the place after it. */
export type InstantWriter = (bytes: Uint8Array, at: number, micros: Micros) => number;
