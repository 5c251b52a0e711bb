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

// One transaction writes a chunk. A small one to begin with, so that writing begins soon; then larger ones, since each
// transaction costs some 20 ms besides its rows.
const FIRST_CHUNK_ROWS = 30_000;
const CHUNK_ROWS = 90_000;

/** Whether the rows collected make a chunk. @param doneRows rows in chunks before. */
export function isChunk(collectedRows: number, doneRows: number): boolean {
  return collectedRows >= (doneRows === 0 ? FIRST_CHUNK_ROWS : CHUNK_ROWS);
}
