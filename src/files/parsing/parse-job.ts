/** Input and output of the parsers of both formats (`csv/`, `xlsx/`), and the sizes of chunks. */
import { type FileFormat, type FileLimits, type FilePosition, FileRefusal } from '../standard-file.ts';
import type { RowCollector } from './row-collector.ts';

/** Random access to the content of a stored file. */
export interface FileSource {
  readonly format: FileFormat;
  readonly sizeBytes: number;
  /** Every part but the last has this many bytes. */
  readonly partBytes: number;
  /** Reads a part of the file. @param index index of the part, from 0. */
  readPart(index: number): Promise<Uint8Array>;
}

/**
 * Function that receives the collected rows as a chunk. It resolves when rows may be added to the collector again.
 * @param position position in the file directly after the collected rows.
 */
export type EmitRows = (collector: RowCollector, position: FilePosition, isLast: boolean) => Promise<void>;

/** The parser's report about the header. */
export interface HeaderNote {
  /** Names of columns that the parser does not know and ignores. */
  readonly ignored: readonly string[];
}

/** A file that a parser process parses. */
export interface ParseJob {
  readonly source: FileSource;
  readonly limits: FileLimits;
  /** Position after the last chunk that was written; `START` when no chunk was written. */
  readonly from: FilePosition;
  readonly onHeader: (note: HeaderNote) => void;
  readonly emit: EmitRows;
}

/**
 * Numbers of rows that fill a chunk. Each chunk is written in a transaction of its own, whose commit waits for the
 * disk, so larger chunks mean fewer waits.
 */
export interface ChunkRows {
  /** Minimum number of rows of the first chunk. It is small, so that writing starts early. */
  readonly first: number;
  readonly max: number;
}

/**
 * Parsing CSV is faster than writing its rows to the database. So the writer waits only for the first chunk; each
 * later chunk is ready before the writer needs it.
 */
export const CSV_CHUNKS: ChunkRows = { first: 30_000, max: 90_000 };
/**
 * Parsing a workbook is slower than parsing CSV. With a smaller first chunk, the database gets its first rows sooner.
 */
export const XLSX_CHUNKS: ChunkRows = { first: 10_000, max: 60_000 };

/**
 * Returns true when the collected rows fill a chunk. The required number of rows grows from `first` to `max`.
 * @param doneRows number of rows in earlier chunks of this attempt.
 */
export function isChunk({ first, max }: ChunkRows, collectedRows: number, doneRows: number): boolean {
  return collectedRows >= Math.min(max, Math.max(first, doneRows));
}

/**
 * Requires that the file stays within its limit of rows.
 * @param rows number of rows between the header and the current position, including rows of earlier attempts.
 * @throws {FileRefusal} too_many_rows when `rows` exceeds the limit (R-E4).
 */
export function assertRowCount(rows: number, { maxRows }: FileLimits): void {
  if (rows <= maxRows) return;
  throw new FileRefusal(
    'too_many_rows',
    `the file must have at most ${maxRows} rows, but has more; rows counted as ingested are kept; send the remaining rows in another file`,
  );
}
