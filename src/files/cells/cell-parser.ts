/**
 * Parses the text of a cell as date, number, id or tags (§2, R-E3). For dates and numbers in their usual form,
 * `plain-cell-scanner.ts` returns the same values faster.
 */
import { type ParsedDate, parseDate } from '../../platform/dates/date-rules.ts';
import { MAX_INT4, MAX_SHOWN } from '../../platform/limits.ts';
import { MAX_TAG_VALUE, MAX_TAGS, MAX_VERSION, type Tags } from '../../points/label-rules.ts';

/** Start of the message for an invalid date. */
export const FILE_DATE_RULE =
  'date must be from 1700 to 2199, as yyyy-MM-ddTHH:mm:ss with or without a zone, or as epoch milliseconds of 12 or 13 digits';

const [ZERO, SPACE] = [0x30, 0x20];

/**
 * Parses the date of a row, in any format that a push accepts (R-A11): the formats of §2, and further formats that
 * spreadsheets and data frames use.
 * @returns undefined for a format that a push does not accept, such as dd/MM/yyyy, and for a date outside 1700 to 2199.
 */
export function parseFileDate(text: string): ParsedDate | undefined {
  return parseDate(text);
}

/**
 * Parses a finite number, optionally with a decimal point or an exponent (§2).
 * @returns NaN for anything else, such as 1e999 or 1,5.
 */
export function parseFileNumber(text: string): number {
  const trimmed = text.trim();
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return Number.NaN;
  // Refuses an empty text, 0x1f, 0b1 and 0o7, all of which `Number` accepts.
  const second = trimmed.charCodeAt(1) | SPACE;
  const isOtherBase = trimmed.charCodeAt(0) === ZERO && (second === 0x78 || second === 0x62 || second === 0x6f);
  return isOtherBase || trimmed === '' ? Number.NaN : value;
}

/** Parses an id from 0 to 2147483647; 12.0 counts as 12 (§2). @returns undefined for anything else. */
export function parseFileId(text: string): number | undefined {
  const trimmed = text.trim();
  const id = /^\d{1,10}(\.0+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  return id <= MAX_INT4 ? id : undefined;
}

/**
 * Parses labels such as `quality:estimated|period:high`; the first colon of a label ends its key (§2).
 * @returns the tags, or a message when the text is invalid.
 */
export function parseFileTags(text: string): Tags | string {
  const labels = text
    .split('|')
    .map((label) => label.trim())
    .filter((label) => label !== '');
  if (labels.length > MAX_TAGS) return `tags must have at most ${MAX_TAGS} labels, got ${labels.length}`;
  const entries: [string, string][] = [];
  for (const label of labels) {
    const colon = label.indexOf(':');
    const key = label.slice(0, Math.max(colon, 0)).trim();
    const value = label.slice(colon + 1).trim();
    if (key === '') return `tags must be labels of the form key:value, separated by |, got ${show(label)}`;
    if (key.length > MAX_VERSION || value.length > MAX_TAG_VALUE) {
      return `tags must have keys of at most ${MAX_VERSION} characters and values of at most ${MAX_TAG_VALUE} characters`;
    }
    entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** @returns the text of a cell in quotes, cut to 60 characters, for a message; `nothing` for an empty text. */
export function show(text: string): string {
  if (text === '') return 'nothing';
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
