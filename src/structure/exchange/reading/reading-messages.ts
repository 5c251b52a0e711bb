/**
 * Messages between the importer and the reader process, which reads a document. The reader process has no database, so
 * it asks the importer for the parts of the document.
 */
import type { StoredPart } from '../../../platform/database/stored-parts.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import type { ListName } from '../document/kinds.ts';
import type { StagedRow } from '../document/parse-row.ts';
import type { DocumentLimits, RefusalCode } from './document-refusal.ts';

export type DocumentFormat = 'json' | 'xlsx';

/** Format, size and limits of the document that the reader process must read. */
export interface ReadingOrder {
  readonly format: DocumentFormat;
  readonly sizeBytes: number;
  readonly partBytes: number;
  readonly limits: DocumentLimits;
}

/** Rows that the reader process sends to the importer, in the order of the document. */
export interface StagedBatch {
  readonly rows: readonly StagedRow[];
  readonly problems: readonly ErrorDetail[];
  /** Number of rows read so far, including those with problems. */
  readonly rowCount: number;
  /** Number of bytes of the document read so far. */
  readonly bytes: number;
}

/** The report about a document. The reader process sends this report after all rows of the document. */
export interface DocumentNote {
  /** Letter of each column of a workbook, by sheet name and column name; empty for a JSON document. */
  readonly columns: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Unknown members and columns of rows, such as `sites.colour`; at most the first 100. */
  readonly ignored: readonly string[];
  readonly counts: Readonly<Record<ListName, number>>;
}

export type ToReader =
  | { readonly kind: 'read'; readonly order: ReadingOrder }
  | { readonly kind: 'part'; readonly index: number; readonly part: StoredPart }
  | { readonly kind: 'stored' };

export type FromReader =
  | { readonly kind: 'wantPart'; readonly index: number }
  | { readonly kind: 'batch'; readonly batch: StagedBatch }
  | { readonly kind: 'end'; readonly note: DocumentNote }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  /** A bug: the state of the process is unknown. */
  | { readonly kind: 'failed'; readonly reason: string };
