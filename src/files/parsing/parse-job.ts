/** Input and output of a parser (`csv/`, `xlsx/`) in its thread, and the sizes of chunks. */
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

/** Takes the collected rows as a chunk; resolves once the collector may take more. @param position after these rows. */
export type EmitRows = (collector: RowCollector, position: FilePosition, isLast: boolean) => Promise<void>;

/** Findings in the header. */
export interface HeaderNote {
  /** Names of columns that the parser does not know and ignores. */
  readonly ignored: readonly string[];
}

/** A file that a parser process parses. */
export interface ParseJob {
  readonly source: FileSource;
  readonly limits: FileLimits;
  /** Where an earlier attempt stopped; `START` for the first. */
  readonly from: FilePosition;
  readonly onHeader: (note: HeaderNote) => void;
  readonly emit: EmitRows;
}

/** Rows per chunk. A chunk is one transaction, which costs about 20 ms besides its rows. */
export interface ChunkRows {
  /** Rows of the first chunk; small, so that writing starts early. */
  readonly first: number;
  readonly max: number;
}

/** CSV is read four times as fast as it is written, so the writer only waits for the first chunk. */
export const CSV_CHUNKS: ChunkRows = { first: 30_000, max: 90_000 };
/** A workbook is read as fast as it is written: chunks that double keep both threads busy. */
export const XLSX_CHUNKS: ChunkRows = { first: 10_000, max: 60_000 };

/** Whether the collected rows fill a chunk: chunks double from `first` to `max`. @param doneRows rows in earlier chunks. */
export function isChunk({ first, max }: ChunkRows, collectedRows: number, doneRows: number): boolean {
  return collectedRows >= Math.min(max, Math.max(first, doneRows));
}

/**
 * Requires that the file stays within its limit of rows.
 * @param rows rows below the header so far.
 * @throws {FileRefusal} too_many_rows beyond the limit (R-E4).
 */
export function assertRowCount(rows: number, { maxRows }: FileLimits): void {
  if (rows <= maxRows) return;
  throw new FileRefusal('too_many_rows', `the file must have at most ${maxRows} rows; earlier rows are ingested`);
}
