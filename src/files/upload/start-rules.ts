/** What a file is, by its first bytes as latin1 text: whether it can be what it claims (R-E4). */
import { type FileFormat, FileRefusal } from '../standard-file.ts';

export const ZIP_START = 'PK\x03\x04';
/** Old Office documents, and new ones with a password. */
export const COMPOUND_START = '\xd0\xcf\x11\xe0';
const UTF8_MARK = '\xef\xbb\xbf';

const NO_CSV: readonly (readonly [start: string, what: string])[] = [
  [ZIP_START, 'the file is not CSV: it is a zip archive, perhaps a workbook'],
  ['\x1f\x8b', 'the file is not CSV: it is gzip'],
  [COMPOUND_START, 'the file is not CSV: it is an old or encrypted Office document'],
  ['%PDF', 'the file is not CSV: it is a PDF'],
  ['\xff\xfe', 'the file must be UTF-8, it is UTF-16'],
  ['\xfe\xff', 'the file must be UTF-8, it is UTF-16'],
];

/** Bytes of the mark at the beginning that says UTF-8. */
export function markBytes(start: string): number {
  return start.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0;
}

/** @throws FileRefusal wrong_format, encrypted, empty_file. */
export function assertStart(format: FileFormat, start: string): void {
  if (format === 'csv') assertCsvStart(start);
  else assertXlsxStart(start);
}

function assertCsvStart(start: string): void {
  const foreign = NO_CSV.find(([mark]) => start.startsWith(mark));
  if (foreign) throw new FileRefusal('wrong_format', foreign[1]);
  // Further down they spoil the cells they are in.
  if (/^\s*[^\r\n]*\0/.test(start)) {
    throw new FileRefusal('wrong_format', 'the file is not CSV in UTF-8: its header holds NUL bytes');
  }
  if (start.slice(markBytes(start)).trim() === '') throw new FileRefusal('empty_file', 'the file is empty');
}

function assertXlsxStart(start: string): void {
  if (start.startsWith(ZIP_START)) return;
  if (start.startsWith(COMPOUND_START)) {
    const message = 'the workbook is encrypted or an old one (.xls); please save it as .xlsx without a password';
    throw new FileRefusal('encrypted', message);
  }
  throw new FileRefusal('wrong_format', 'the file is not an xlsx workbook: it is no zip archive');
}
