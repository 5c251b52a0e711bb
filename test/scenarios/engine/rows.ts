/** Parses rows of scenario files: pushed readings, script results and expectations. */
import { formatInstant, parseDuration, parseInstant, toInstant, toMicros } from './instants.ts';
import type {
  ExpectedRow,
  ExpectedVersion,
  Moment,
  Reading,
  ScriptOutput,
  ScriptRow,
  SourcePosition,
  Tags,
} from './syntax.ts';
import { type Cursor, END_OF_LINE, show } from './tokens.ts';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NO_FINITE = ['NaN', 'Infinity', '-Infinity'];
const MAX_REPEATS = 10_000;

export const INSTANT_RULE = 'an instant such as 2026-03-01, 2026-03-01T14:00 or 2026-03-01T15:00+01:00';

const isName = (word: string) => /^[A-Z][A-Za-z0-9_]*$/.test(word);
const isLabel = (word: string) => /^[a-z][a-z0-9-]*$/.test(word) && word !== 'before';

export function variableName(cursor: Cursor): string {
  return cursor.word('a variable', 'named with a capital letter', (word) => (isName(word) ? word : undefined));
}

export function nextIsVariable({ next }: Cursor): boolean {
  return next().kind === 'word' && isName(next().text);
}

export function instant(cursor: Cursor, what: string): number {
  return cursor.word(what, INSTANT_RULE, parseInstant);
}

/** Parses a name that a scenario gives to a write. The name must be in lower case. */
export function label(cursor: Cursor): string {
  return cursor.word('a moment', 'an instant or a name in small letters', (word) => (isLabel(word) ? word : undefined));
}

export function moment(cursor: Cursor): Moment {
  const micros = parseInstant(cursor.next().text);
  if (micros === undefined) return { kind: 'label', label: label(cursor) };
  cursor.take();
  return { kind: 'instant', micros };
}

export function wholeNumber(cursor: Cursor, what: string, min: number): number {
  return cursor.word(what, `a whole number from ${min}`, (word) => {
    return /^\d{1,7}$/.test(word) && Number(word) >= min ? Number(word) : undefined;
  });
}

/** Parses one or more `key=value`. */
export function tagPairs(cursor: Cursor): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  do {
    const key = cursor.text('a tag');
    cursor.due('=');
    pairs.push([key, cursor.text(`tag ${key}`)]);
  } while (cursor.next(1).text === '=' && cursor.next(1).kind === 'mark');
  return pairs;
}

/**
 * Parses a list of rows. A list in braces may span several lines; its rows are separated by `;` or line ends. A list
 * without braces ends at the end of the line; its rows are separated by `;`.
 */
export function rows<Row>(cursor: Cursor, row: () => readonly Row[]): readonly Row[] {
  const all: Row[] = [];
  const isBlock = cursor.takes('{');
  for (;;) {
    if (isBlock) cursor.skipLineEnds();
    if (isBlock && cursor.takes('}')) return all;
    all.push(...row());
    if (cursor.takes(';')) continue;
    if (!isBlock) return all;
    if (cursor.next().text !== '}') cursor.due(END_OF_LINE);
  }
}

interface DatedValue<Value> {
  readonly dateMicros: number;
  readonly value: Value;
}

/** Parses `<date> <value>` as one row, or `<date> step <duration> times <n> <value> [up <difference>]` as n rows. */
function datedValues<Value extends number | null>(
  cursor: Cursor,
  value: () => Value,
): readonly DatedValue<Value | number>[] {
  const first = instant(cursor, 'a date');
  if (!cursor.takes('step')) return [{ dateMicros: first, value: value() }];
  const step = cursor.word('step', 'an ISO 8601 duration', parseDuration);
  cursor.due('times');
  const times = wholeNumber(cursor, 'times', 1);
  if (times > MAX_REPEATS) cursor.fail(`times must be at most ${MAX_REPEATS}, got ${times}`);
  const start = value();
  const difference = cursor.takes('up') ? finiteNumber(cursor) : 0;
  const dates = [toInstant(first).toZonedDateTimeISO('UTC')];
  while (dates.length < times) dates.push(...dates.slice(-1).map((date) => date.add(step)));
  return dates.map((date, position) => {
    return { dateMicros: toMicros(date.toInstant()), value: start === null ? start : start + difference * position };
  });
}

function finiteNumber(cursor: Cursor): number {
  return cursor.word('a value', 'a number', (word) => (NUMBER.test(word) ? Number(word) : undefined));
}

/** Parses a value that an R script returns. The value may be NaN, Infinity or -Infinity. */
function writtenNumber(cursor: Cursor): number {
  return NO_FINITE.includes(cursor.next().text) ? Number(cursor.take().text) : finiteNumber(cursor);
}

/** Parses `version text` and `tags k=v …`, in any order, each at most once. */
export function labelsOf(cursor: Cursor): { version?: string; tags?: Tags } {
  const labels: { version?: string; tags?: Tags } = {};
  for (;;) {
    if (labels.version === undefined && cursor.takes('version')) labels.version = cursor.text('version');
    else if (!labels.tags && cursor.takes('tags')) labels.tags = Object.fromEntries(tagPairs(cursor));
    else return labels;
  }
}

export function readings(cursor: Cursor): readonly Reading[] {
  if (cursor.next().text !== '{') cursor.fail(`{ and the readings were expected, got ${show(cursor.next())}`);
  return rows(cursor, () => {
    const values = datedValues(cursor, () => finiteNumber(cursor));
    const labels = labelsOf(cursor);
    return values.map((value) => ({ ...value, ...labels }));
  });
}

/**
 * Parses the output that a scenario states for a script: rows, and optionally a whole column of versions or tags, which
 * overrides the versions or tags of the rows.
 */
export function scriptOutput(cursor: Cursor): ScriptOutput {
  if (cursor.next().text !== '{') cursor.fail(`{ and the rows of the script were expected, got ${show(cursor.next())}`);
  const columns: { versionColumn?: readonly string[]; tagsColumn?: readonly string[] } = {};
  const all = rows(cursor, () => {
    if (!cursor.takes('column')) return scriptRows(cursor);
    const name = cursor.word('a column', 'version or tags', (word) =>
      ['version', 'tags'].includes(word) ? word : undefined,
    );
    columns[name === 'version' ? 'versionColumn' : 'tagsColumn'] = texts(cursor, name);
    return [];
  });
  return { rows: all, ...columns };
}

function scriptRows(cursor: Cursor): readonly ScriptRow[] {
  const values = datedValues(cursor, () => writtenNumber(cursor));
  const cells = cellsOf(cursor);
  return values.map((value) => ({ ...value, ...cells }));
}

/** Parses one or more texts separated by commas. */
export function texts(cursor: Cursor, what: string): readonly string[] {
  const all = [cursor.text(what)];
  while (cursor.takes(',')) all.push(cursor.text(what));
  return all;
}

/**
 * Parses the labels of a row that a script returns. Unlike `labelsOf`, it accepts `cell "…"` in place of `tags`. The
 * quoted text is the Tags cell exactly as the script wrote it.
 */
function cellsOf(cursor: Cursor): { version?: string; tags?: string } {
  const { version, tags } = labelsOf(cursor);
  const cell = !tags && cursor.takes('cell') ? cursor.text('cell') : tags && JSON.stringify(tags);
  return { ...(version !== undefined && { version }), ...(cell !== undefined && { tags: cell }) };
}

/** Parses the expectation after `->`: `none` or rows. */
export function expectedRows(cursor: Cursor, variables: readonly string[]): readonly ExpectedRow[] {
  if (cursor.takes('none')) return [];
  return rows(cursor, () => {
    const position = cursor.position();
    const variable = variables.length > 1 ? variableName(cursor) : (variables[0] ?? '');
    const value = () => (cursor.takes('none') ? null : finiteNumber(cursor));
    const values = datedValues(cursor, value);
    const labels = expectedLabels(cursor);
    return values.map((row) => ({ position: position, variable, ...row, ...labels }));
  });
}

function expectedLabels(cursor: Cursor): { version: string | null; tags?: Tags; moment?: Moment } {
  const { version = null, tags } = labelsOf(cursor);
  const found = tags ?? (cursor.takes('untagged') ? {} : undefined);
  const at = cursor.takes('at') ? moment(cursor) : undefined;
  return { version, ...(found && { tags: found }), ...(at && { moment: at }) };
}

/** Parses a listing of versions: `none`, or rows `(version V1 | unnamed) count n [first moment] [last moment]`. */
export function expectedVersions(cursor: Cursor): readonly ExpectedVersion[] {
  if (cursor.takes('none')) return [];
  return rows(cursor, () => {
    const position: SourcePosition = cursor.position();
    const version = cursor.takes('unnamed') ? null : named(cursor);
    cursor.due('count');
    const count = wholeNumber(cursor, 'count', 0);
    const first = cursor.takes('first') ? moment(cursor) : undefined;
    const last = cursor.takes('last') ? moment(cursor) : undefined;
    return [{ position: position, version, count, ...(first && { first }), ...(last && { last }) }];
  });
}

function named(cursor: Cursor): string {
  cursor.due('version');
  return cursor.text('version');
}

export function formatTags(tags: Tags): string {
  const quote = (text: string) => (/^[A-Za-z0-9_.:+-]+$/.test(text) ? text : JSON.stringify(text));
  const keys = Object.keys(tags).sort();
  return keys.map((key) => `${quote(key)}=${quote(tags[key] ?? '')}`).join(' ');
}

export function formatMoment(moment: Moment): string {
  return moment.kind === 'label' ? moment.label : formatInstant(moment.micros);
}
