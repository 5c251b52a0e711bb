/** How a CSV is written, found from its beginning: its line ends and its delimiter (R-E2). */
import { countKnown } from '../parsing/columns-rules.ts';
import type { Dialect } from './record-scanner.ts';

const DELIMITERS = [',', ';', '\t'] as const;
/** A date, a value, and what identifies a variable. */
const LEAST_COLUMNS = 3;

/** @param text the beginning of the file, without its mark; the header is its first line that is not blank. */
export function findDialect(text: string): Dialect {
  const newline = text.includes('\n') && !endsInReturn(text) ? '\n' : '\r';
  const header = text.split(newline, 1000).find((line) => line.trim() !== '') ?? '';
  const [best] = [...DELIMITERS].sort((a, b) => rank(header, b) - rank(header, a));
  return { delimiter: best ?? ',', newline };
}

/** Old Macintosh line ends, though cells hold others: a header that is whole ends in a return of its own. */
function endsInReturn(text: string): boolean {
  const [, header = ''] = /^\s*([^\r\n]+)\r+(?![\r\n])/.exec(text) ?? [];
  return DELIMITERS.some((delimiter) => countKnown(namesOf(header, delimiter)) >= LEAST_COLUMNS);
}

function rank(header: string, delimiter: string): number {
  const names = namesOf(header, delimiter);
  return countKnown(names) * 1e6 + names.length;
}

function namesOf(header: string, delimiter: string): readonly string[] {
  return header.replaceAll('"', '').split(delimiter);
}
