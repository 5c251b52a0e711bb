/** How a CSV is written, found from its beginning: its line ends and its delimiter (R-E2). */
import { countKnown } from '../columns-rules.ts';
import type { Dialect } from './record-scanner.ts';

const DELIMITERS = [',', ';', '\t'] as const;

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
