/** How a CSV is written, found from its beginning: whether it is one, its line ends, its delimiter (R-E2). */
import { countKnown } from '../columns-rules.ts';
import { FileRefusal } from '../standard-file.ts';
import type { Dialect } from './record-scanner.ts';

const DELIMITERS = [',', ';', '\t'] as const;
const UTF8_MARK = '\xef\xbb\xbf';
const OTHER_MARKS: readonly (readonly [string, string])[] = [
  ['\xff\xfe', 'UTF-16'],
  ['\xfe\xff', 'UTF-16'],
];
const FOREIGN: readonly (readonly [string, string])[] = [
  ['PK\x03\x04', 'a zip archive, perhaps a workbook'],
  ['\x1f\x8b', 'gzip'],
  ['\xd0\xcf\x11\xe0', 'an old or encrypted Office document'],
  ['%PDF', 'a PDF'],
];
const SNIFFED = 4096;

/** Bytes of the mark at the beginning that says UTF-8. */
export function markBytes(start: string): number {
  return start.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0;
}

/**
 * Refuses what is no CSV in UTF-8.
 * @param start the first bytes of the file as latin1.
 * @throws FileRefusal wrong_format, empty_file.
 */
export function assertCsv(start: string): void {
  const foreign = FOREIGN.find(([mark]) => start.startsWith(mark));
  if (foreign) throw new FileRefusal('wrong_format', `the file is not CSV: it is ${foreign[1]}`);
  const other = OTHER_MARKS.find(([mark]) => start.startsWith(mark));
  if (other) throw new FileRefusal('wrong_format', `the file must be UTF-8, it is ${other[1]}`);
  // Further down they spoil the cells they are in.
  if (/^\s*[^\r\n]*\0/.test(start.slice(0, SNIFFED))) {
    throw new FileRefusal('wrong_format', 'the file is not CSV in UTF-8: its header holds NUL bytes');
  }
  if (start.slice(markBytes(start)).trim() === '') throw new FileRefusal('empty_file', 'the file is empty');
}

/** @param text the beginning of the file, without its mark; the header is its first line that is not blank. */
export function findDialect(text: string): Dialect {
  const newline = text.includes('\n') ? '\n' : '\r';
  const header = text.split(newline, 1000).find((line) => line.trim() !== '') ?? '';
  const unquoted = header.replaceAll('"', '');
  const rank = (delimiter: string) => {
    const names = unquoted.split(delimiter);
    return countKnown(names) * 1e6 + names.length;
  };
  const [best] = [...DELIMITERS].sort((a, b) => rank(b) - rank(a));
  return { delimiter: best ?? ',', newline };
}
