/** Checks that the first bytes of a file, as latin1 text, match its format (R-E4). */
import { type FileFormat, FileRefusal } from '../standard-file.ts';

export const ZIP_START = 'PK\x03\x04';
/** First bytes of an OLE compound file: an Office document from before 2007, or a newer one with a password. */
export const COMPOUND_START = '\xd0\xcf\x11\xe0';
/** The check of the format of a file reads at most this number of bytes from the start of the file. */
export const SIGNATURE_BYTES = 4096;
const UTF8_MARK = '\xef\xbb\xbf';

const NOT_CSV: readonly (readonly [start: string, what: string])[] = [
  [ZIP_START, 'the file must be CSV, got a zip archive, perhaps an xlsx workbook'],
  [
    '\x1f\x8b',
    'the file must be CSV, got gzip; to compress the upload, gzip the request body and send the header Content-Encoding: gzip',
  ],
  [COMPOUND_START, 'the file must be CSV, got an Office document that is encrypted or in an old format such as .xls'],
  ['%PDF', 'the file must be CSV, got a PDF'],
  ['\xff\xfe', 'the file must be UTF-8, got UTF-16'],
  ['\xfe\xff', 'the file must be UTF-8, got UTF-16'],
];

/** Returns the length in bytes of the UTF-8 byte order mark; 0 when `start` has none (R-E2). */
export function markBytes(start: string): number {
  return start.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0;
}

/**
 * Checks that the first bytes of a file match its format (R-E4).
 * @param start the first `SIGNATURE_BYTES` bytes of the file as latin1 text, or the whole file if it is shorter. For a
 * workbook, fewer bytes are enough.
 * @throws {FileRefusal} wrong_format, encrypted, empty_file.
 */
export function assertSignature(format: FileFormat, start: string): void {
  if (format === 'csv') assertCsvStart(start);
  else assertXlsxStart(start);
}

function assertCsvStart(start: string): void {
  const foreign = NOT_CSV.find(([mark]) => start.startsWith(mark));
  if (foreign) throw new FileRefusal('wrong_format', foreign[1]);
  // Refuses the whole file for a NUL in the header (the first line that is not blank), as far as `start` contains the
  // header. A NUL in a later line rejects at most the row of this line.
  if (/^\s*[^\r\n]*\0/.test(start)) {
    throw new FileRefusal('wrong_format', 'the file must be CSV in UTF-8, but its header contains NUL bytes');
  }
  if (start === '') throw new FileRefusal('empty_file', 'the file is empty');
  if (start.slice(markBytes(start)).trim() === '') {
    const message = `the header must begin in the first ${SIGNATURE_BYTES} bytes of the file, got only white space`;
    throw new FileRefusal('empty_file', message);
  }
}

function assertXlsxStart(start: string): void {
  if (start.startsWith(ZIP_START)) return;
  if (start.startsWith(COMPOUND_START)) {
    const message = 'the workbook is encrypted or in the old format .xls; save it as .xlsx without a password';
    throw new FileRefusal('encrypted', message);
  }
  throw new FileRefusal('wrong_format', 'the file must be an xlsx workbook, but it is not a zip archive');
}
