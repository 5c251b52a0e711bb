/** What the parsers read from and write to; both ends live in the parser's thread. */
import type { FileFormat, FileLimits, FilePosition } from '../standard-file.ts';
import type { RowCollector } from './row-collector.ts';

/** The bytes of a stored file. */
export interface FileSource {
  readonly format: FileFormat;
  readonly sizeBytes: number;
  /** Every part but the last has this many bytes. */
  readonly partBytes: number;
  /** @param index from 0. */
  readPart(index: number): Promise<Uint8Array>;
}

/** Takes the rows when there are enough of them, and those left at the end. Waits until there is room for more. */
export type EmitRows = (collector: RowCollector, position: FilePosition, isLast: boolean) => Promise<void>;

/** What the header said. */
export interface HeaderNote {
  readonly ignored: readonly string[];
}

export interface ParseJob {
  readonly source: FileSource;
  readonly limits: FileLimits;
  /** Where an earlier run stopped. */
  readonly from: FilePosition;
  readonly onHeader: (note: HeaderNote) => void;
  readonly emit: EmitRows;
}

/** How many rows make a chunk: it is written in one transaction, which costs some 20 ms besides its rows. */
export interface ChunkRows {
  /** Of the first chunk: writing should begin soon. */
  readonly first: number;
  readonly most: number;
}

// CSV is read four times as fast as it is written: the first chunk alone is waited for.
export const CSV_CHUNKS: ChunkRows = { first: 30_000, most: 90_000 };
// A workbook is read no faster than it is written: chunks that double keep both at work, and the last one is not long.
export const XLSX_CHUNKS: ChunkRows = { first: 10_000, most: 60_000 };

/** Whether the rows collected make a chunk. @param doneRows rows in chunks before. */
export function isChunk({ first, most }: ChunkRows, collectedRows: number, doneRows: number): boolean {
  return collectedRows >= Math.min(most, Math.max(first, doneRows));
}
