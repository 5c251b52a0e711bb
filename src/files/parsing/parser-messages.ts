/**
 * Messages between the parser process and the ingester. The parser asks the ingester for parts of the file, and for the
 * ids of variables, VersionTags and tag sets; the parser itself never accesses the database.
 */

import type { StoredPart } from '../../platform/database/stored-parts.ts';
import type { Labels } from '../../points/label-rules.ts';
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import type { Target, Unresolved } from '../../push/resolve-targets.ts';
import type { FileFormat, FileLimits, FilePosition, RefusalCode, RowError, RowWarning } from '../standard-file.ts';
import type { ChunkRange } from './chunk-window.ts';
import type { LabelIds } from './label-table.ts';

/** Tells the parser process which file to parse, and from which position. */
export interface ParseOrder {
  readonly format: FileFormat;
  readonly sizeBytes: number;
  readonly partBytes: number;
  readonly limits: FileLimits;
  readonly from: FilePosition;
}

/**
 * The combinations of identifiers, and the combinations of VersionTag and tags, that the ingester shall resolve. The
 * parser numbers the combinations; `id` is this number.
 */
export interface ResolveRequest {
  readonly targets: readonly { readonly id: number; readonly identifiers: TargetIdentifiers }[];
  readonly labels: readonly { readonly id: number; readonly labels: Labels }[];
}

/** Answer to a request for targets and labels, in the order of the request. */
export interface ResolveAnswer {
  readonly targets: readonly { readonly id: number; readonly target: Target | Unresolved }[];
  readonly labels: readonly { readonly id: number; readonly ids: LabelIds }[];
}

/** Rows that are written in one transaction. */
export interface ParsedChunk {
  /** The rows as tuples in the format of COPY. The next chunk reuses the memory of these tuples. */
  readonly tuples: Uint8Array;
  /** Row number (see `RowError`) of the first row with a valid date and value; 0 when the chunk has no such row. */
  readonly firstRow: number;
  /** Number of valid rows, including rows that repeat a date. */
  readonly ingested: number;
  readonly errors: readonly RowError[];
  readonly warnings: readonly RowWarning[];
  readonly warningCount: number;
  /** Position in the file after the rows of this chunk. */
  readonly position: FilePosition;
  /** Whether this is the last chunk of the file. */
  readonly isLast: boolean;
}

export type ToParser =
  | { readonly kind: 'parse'; readonly order: ParseOrder }
  | { readonly kind: 'part'; readonly index: number; readonly part: StoredPart }
  | { readonly kind: 'resolved'; readonly answer: ResolveAnswer }
  | { readonly kind: 'written' };

export type FromParser =
  | { readonly kind: 'wantPart'; readonly index: number }
  | { readonly kind: 'header'; readonly ignored: readonly string[] }
  | { readonly kind: 'resolve'; readonly request: ResolveRequest }
  | { readonly kind: 'chunk'; readonly range: ChunkRange; readonly chunk: Omit<ParsedChunk, 'tuples'> }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  /** A bug or a fault of the machine, with the code of the error, if any. The state of the process is unknown. */
  | { readonly kind: 'failed'; readonly reason: string; readonly code: string | undefined };
