/** The words of this room: what a Standard File is made of, what may be wrong with a row, and with a file as a whole. */

/** What a file claims to be. */
export type FileFormat = 'csv' | 'xlsx';

/** Why a row was not ingested. The words are stable. */
export type RowErrorCode =
  | 'malformed_row'
  | 'invalid_date'
  | 'invalid_value'
  | 'invalid_identifier'
  | 'invalid_version'
  | 'invalid_tags'
  | 'target_not_found'
  | 'target_ambiguous';

/** A row that was not ingested. */
export interface RowError {
  /** As a spreadsheet numbers rows: the header is row 1. */
  readonly row: number;
  readonly code: RowErrorCode;
  /** Every reason found, the first one gave the code. */
  readonly message: string;
}

/** A row whose local date met a change of the clock; it was ingested (R-D4). */
export interface RowWarning {
  readonly row: number;
  readonly code: 'ambiguous_local_date' | 'skipped_local_date';
  readonly message: string;
}

/** Where reading goes on after a crash: everything before is ingested or reported (R-E5). */
export interface FilePosition {
  /** Of a CSV: where the next record begins. Of a workbook: the share that was read, for progress only. */
  readonly bytes: number;
  /** Rows below the header that are done. */
  readonly rows: number;
  /** Number of the last row that is done, as in `RowError`. */
  readonly rowNumber: number;
}

export const START: FilePosition = { bytes: 0, rows: 0, rowNumber: 0 };

export interface FileLimits {
  readonly maxRows: number;
  /** Inflated content of a workbook. */
  readonly maxInflatedBytes: number;
  /** Inflated by compressed bytes of a workbook. */
  readonly maxRatio: number;
}

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

/** The file as a whole cannot be read, or not further. The message is for the one who sent it. */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
