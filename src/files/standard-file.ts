/**
 * Types shared by upload, parsing and processing: formats, positions, limits, row errors and warnings, and refusals of
 * a whole file.
 */

/**
 * The file name or content type decides the format; the first bytes of the file must match the format
 * (`upload/file-signature.ts`).
 */
export type FileFormat = 'csv' | 'xlsx';

/** A file of the kind `Attachment` is kept as uploaded and never parsed. */
export type FileKind = 'StandardFile' | 'Attachment';

/** Why a row was rejected. Clients rely on these codes. */
export type RowErrorCode =
  | 'malformed_row'
  | 'invalid_date'
  | 'invalid_value'
  | 'invalid_identifier'
  | 'invalid_version'
  | 'invalid_tags'
  | 'target_not_found'
  | 'target_ambiguous';

/** A row that was rejected, with the reason. */
export interface RowError {
  /** Row number as in a spreadsheet: the first row of the file, usually the header, is row 1. */
  readonly row: number;
  readonly code: RowErrorCode;
  /** One or more reasons; `code` is the code of the first reason. */
  readonly message: string;
}

/** Maximum number of warnings that are shown for one file; further warnings are only counted (R-D4). */
export const MAX_WARNINGS = 100;

/**
 * A warning about an ingested row whose local date is ambiguous or skipped at a clock change (R-D4), or about rows that
 * were not written because their dates are rolled up.
 */
export interface RowWarning {
  readonly row: number;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date' | 'rolled_up_date';
  readonly message: string;
}

/** Position at which the next attempt resumes reading. All earlier rows are ingested or rejected (R-E5). */
export interface FilePosition {
  /** CSV: byte offset of the next record. Workbook: bytes read, an estimate for progress only. */
  readonly bytes: number;
  /** Number of rows between the header and this position; empty rows do not count. */
  readonly rows: number;
  /** Row number (see `RowError`) of the last row that was read. In a CSV, this may be a blank line. */
  readonly rowNumber: number;
}

/** Position at the start of the file, before the header. */
export const START: FilePosition = { bytes: 0, rows: 0, rowNumber: 0 };

/** Limits of one file, from the configuration (R-E4). */
export interface FileLimits {
  /** Maximum number of rows below the header. */
  readonly maxRows: number;
  /** Maximum inflated size of a workbook, in bytes. */
  readonly maxInflatedBytes: number;
  /** Maximum ratio of inflated to compressed bytes of a workbook. */
  readonly maxRatio: number;
}

/** Why a whole file failed. Clients rely on these codes. */
export type RefusalCode =
  | 'empty_file'
  | 'wrong_format'
  | 'encrypted'
  | 'damaged_file'
  | 'zip_bomb'
  | 'missing_column'
  | 'duplicate_column'
  | 'too_many_rows'
  | 'too_large'
  | 'internal_error';

/** Thrown for a file that cannot or must not be read. Clients see the message. */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Advice for a file that exhausts the memory of its parser. */
export const SPLIT_ADVICE = 'split it into several files or, if it is a workbook, send it as CSV';
/** Message of the error code too_large when a string or buffer is too long, or a buffer finds no free memory. */
export const TOO_LARGE = `the file needs too much memory; ${SPLIT_ADVICE}`;
