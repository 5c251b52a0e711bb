/** Reasons why a whole document cannot be read. The problem of a single row is reported for that row instead. */

export type RefusalCode =
  | 'malformed_document'
  | 'damaged_file'
  | 'wrong_format'
  | 'encrypted'
  | 'zip_bomb'
  | 'too_large'
  | 'empty_document'
  | 'internal_error';

/** The document cannot be read. The client receives `message`. */
export class DocumentRefusal extends Error {
  override readonly name = 'DocumentRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DocumentLimits {
  readonly maxRows: number;
  /** Maximum inflated size of a workbook, in bytes. */
  readonly maxInflatedBytes: number;
  /** Maximum ratio of the inflated size of a workbook to its compressed size. */
  readonly maxRatio: number;
}

/**
 * @param subject the words with which the message names the part of the document that could not be read.
 * @returns the reason why the document cannot be read; undefined when the document did not cause the error.
 */
export function toRefusal(error: unknown, subject = 'the document'): DocumentRefusal | undefined {
  if (error instanceof DocumentRefusal) return error;
  // V8 throws a RangeError when a string or a buffer is too long, or when values are nested too deeply.
  if (!(error instanceof RangeError)) return undefined;
  return new DocumentRefusal(
    'too_large',
    `${subject} needs more memory than an import may use, or is nested too deeply`,
  );
}
