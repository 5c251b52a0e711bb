/**
 * Tables, which are the input of every format writer. A table holds the rows of an answer as columns. It is read once,
 * batch by batch.
 */
import type { Micros } from '../../points/point.ts';

export interface Column {
  readonly name: string;
  /** `id`: an integer; `text`: any text; `json`: JSON text. */
  readonly kind: 'id' | 'number' | 'instant' | 'text' | 'json';
  /** Zone in which instants are written; absent for UTC. */
  readonly timeZoneId?: string;
}

/** The cells of one column in one batch. */
export type Cells =
  /** A column without any value in this batch; a JSON row then omits the column's member. */
  | { readonly kind: 'absent' }
  /** One id for all rows; null when they have none. */
  | { readonly kind: 'constant'; readonly value: number | null }
  /** Numbers; NaN stands for a missing value. */
  | { readonly kind: 'numbers'; readonly values: Float64Array }
  /** Instants in microseconds since 1970-01-01 UTC. */
  | { readonly kind: 'instants'; readonly values: Float64Array }
  /**
   * Labels (VersionTags or tags): texts by id. A row whose text is null has no label; a JSON row then omits the
   * column's member.
   */
  | { readonly kind: 'codes'; readonly ids: Int32Array; readonly textOf: (id: number) => string | null };

export interface Batch {
  readonly rowCount: number;
  /** The cells of each column of the table, in the order of the columns. */
  readonly cells: readonly Cells[];
}

export interface Table {
  readonly columns: readonly Column[];
  /** The rows in batches of at least one row. */
  readonly batches: AsyncGenerator<Batch>;
  /**
   * Returns the metadata of the answer, for formats that have metadata. Call it after the first batch has been read, or
   * at the end of a table without rows.
   */
  readonly metadata?: () => ReadonlyMap<string, string>;
}

/** Writes an instant as ASCII text into `bytes` at offset `at`. @returns the offset after the text. */
export type InstantWriter = (bytes: Uint8Array, at: number, micros: Micros) => number;
