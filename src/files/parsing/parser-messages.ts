/** What the parser's thread and the ingester tell each other. The thread asks and waits; it never touches the database. */
import type { Labels } from '../../points/label-rules.ts';
import type { TargetIdentifiers } from '../../push/body/push-element.ts';
import type { Target, Unresolved } from '../../push/resolve-targets.ts';
import type { FileFormat, FileLimits, FilePosition, RefusalCode, RowError, RowWarning } from '../standard-file.ts';
import type { StoredPart } from '../upload/stored-parts.ts';
import type { LabelIds } from './label-table.ts';

/** A file to be parsed. */
export interface ParseOrder {
  readonly format: FileFormat;
  readonly sizeBytes: number;
  readonly partBytes: number;
  readonly limits: FileLimits;
  readonly from: FilePosition;
}

/** Combinations that were met for the first time. */
export interface ResolveRequest {
  readonly targets: readonly { readonly id: number; readonly identifiers: TargetIdentifiers }[];
  readonly labels: readonly { readonly id: number; readonly labels: Labels }[];
}

export interface ResolveAnswer {
  readonly targets: readonly { readonly id: number; readonly target: Target | Unresolved }[];
  readonly labels: readonly { readonly id: number; readonly ids: LabelIds }[];
}

/** Rows that are written in one transaction, with where reading stands after them. */
export interface ParsedChunk {
  /** In memory shared with the parser's thread, which uses it again once the chunk is written. */
  readonly tuples: Uint8Array;
  readonly ingested: number;
  readonly errors: readonly RowError[];
  readonly warnings: readonly RowWarning[];
  readonly warningCount: number;
  readonly position: FilePosition;
  /** The file ends with it. */
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
  | { readonly kind: 'chunk'; readonly chunk: ParsedChunk }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };
