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

/** Takes the rows when there are enough of them, and at the end. Waits until there is room for more. */
export type EmitRows = (collector: RowCollector, position: FilePosition) => Promise<void>;

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

/** Rows that make a chunk: one transaction writes it. */
export const CHUNK_ROWS = 50_000;
