/** Parses the query of `read` or `count`: variables, then clauses in any order, each at most once. */
import { Temporal } from 'temporal-polyfill';
import { parseDuration, parseInstant } from './instants.ts';
import { instant, label, nextIsVariable, tagPairs, texts, variableName, wholeNumber } from './rows.ts';
import {
  AGGREGATES,
  type Aggregation,
  BUCKETS,
  FILLS,
  type Horizon,
  type KnownAt,
  type Period,
  type Query,
} from './syntax.ts';
import { type Cursor, show } from './tokens.ts';

type Clauses = { -readonly [Name in keyof Omit<Query, 'variables' | 'choice'>]?: Query[Name] } & {
  -readonly [Name in keyof Query['choice']]?: Query['choice'][Name];
};

/** Parses the tokens of a query before `->`; `->` itself is left for the caller. */
export function query(cursor: Cursor): Query {
  const variables = [variableName(cursor)];
  while (nextIsVariable(cursor)) variables.push(variableName(cursor));
  const clauses: Clauses = {};
  while (cursor.next().text !== '->') addClause(cursor, clauses);
  const {
    knownAt,
    horizon,
    versionTags,
    tags,
    isEvery = false,
    isToIncluded = false,
    order = 'asc',
    ...rest
  } = clauses;
  const choice = {
    isEvery,
    ...(knownAt && { knownAt }),
    ...(horizon && { horizon }),
    ...(versionTags && { versionTags }),
    ...(tags && { tags }),
  };
  return { variables, choice, isToIncluded, order, ...rest };
}

function addClause(cursor: Cursor, clauses: Clauses): void {
  const name = show(cursor.next());
  const found = readClause(cursor) ?? cursor.fail(`a clause of a read or -> was expected, got ${name}`);
  const double = Object.keys(found).find((member) => Object.hasOwn(clauses, member));
  if (double !== undefined) cursor.fail(`${name} is a clause that this read already has`);
  Object.assign(clauses, found);
}

/** @returns the members that the next clause adds to the query; undefined when the next token begins no clause. */
function readClause(cursor: Cursor): Clauses | undefined {
  if (cursor.takes('latest')) return { isEvery: false };
  if (cursor.takes('every')) return { isEvery: true };
  if (cursor.takes('asof')) return { knownAt: knownAt(cursor) };
  if (cursor.takes('relative')) return { knownAt: relative(cursor) };
  if (cursor.takes('horizon')) return { horizon: horizon(cursor) };
  if (cursor.takes('version')) return { versionTags: texts(cursor, 'version') };
  if (cursor.takes('tags')) return { tags: tagPairs(cursor) };
  if (cursor.takes('from')) return { fromMicros: instant(cursor, 'from') };
  if (cursor.takes('to')) return to(cursor);
  if (cursor.takes('order')) return { order: oneOf(cursor, 'order', ['asc', 'desc']) };
  if (cursor.takes('page')) return { page: page(cursor) };
  return AGGREGATES.some((aggregate) => aggregate === cursor.next().text)
    ? { aggregation: aggregation(cursor) }
    : undefined;
}

/** Parses `[from instant] [to instant [inclusive]]`. */
export function period(cursor: Cursor): Period {
  const fromMicros = cursor.takes('from') ? instant(cursor, 'from') : undefined;
  const end = cursor.takes('to') ? to(cursor) : { isToIncluded: false };
  return { ...(fromMicros !== undefined && { fromMicros }), ...end };
}

function to(cursor: Cursor): { toMicros: number; isToIncluded: boolean } {
  return { toMicros: instant(cursor, 'to'), isToIncluded: cursor.takes('inclusive') };
}

function page(cursor: Cursor): { number: number; size: number } {
  const number = wholeNumber(cursor, 'page', 0);
  cursor.due('of');
  return { number, size: wholeNumber(cursor, 'the size of a page', 1) };
}

function knownAt(cursor: Cursor): KnownAt {
  const isBefore = cursor.takes('before');
  const micros = parseInstant(cursor.next().text);
  if (micros === undefined) return { kind: 'label', label: label(cursor), isBefore };
  if (isBefore) cursor.fail('before must be followed by the name of a write');
  cursor.take();
  return { kind: 'instant', micros };
}

/** Parses a version relative to an instant, such as `last 3 days now 2026-03-01T00:00Z in UTC`. */
function relative(cursor: Cursor): KnownAt {
  const words: string[] = [];
  while (!cursor.takes('now')) words.push(cursor.text('relative … now'));
  const nowMicros = instant(cursor, 'now');
  return { kind: 'relative', text: words.join(' '), nowMicros, timeZoneId: zone(cursor) };
}

function horizon(cursor: Cursor): Horizon {
  const duration = cursor.word('horizon', 'an ISO 8601 duration', (word) => (parseDuration(word) ? word : undefined));
  return { duration, timeZoneId: zone(cursor) };
}

/** Parses an aggregation such as `sum by day in Europe/Brussels fill previous mincount 2`. */
function aggregation(cursor: Cursor): Aggregation {
  const aggregate = oneOf(cursor, 'an aggregate', AGGREGATES);
  cursor.due('by');
  const bucket = oneOf(cursor, 'a bucket', BUCKETS);
  const timeZoneId = zone(cursor);
  const fill = cursor.takes('fill') ? oneOf(cursor, 'fill', FILLS) : 'none';
  const minCount = cursor.takes('mincount') ? wholeNumber(cursor, 'mincount', 1) : 1;
  return { aggregate, bucket, timeZoneId, fill, minCount };
}

/** Parses an optional `in` with an IANA zone. @returns the zone; UTC when there is no `in`. */
function zone(cursor: Cursor): string {
  return cursor.takes('in') ? cursor.word('a time zone', 'an IANA time zone', findZone) : 'UTC';
}

function findZone(name: string): string | undefined {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name) && name;
  } catch {
    return undefined;
  }
}

function oneOf<Name extends string>(cursor: Cursor, what: string, names: readonly Name[]): Name {
  return cursor.word(what, `one of ${names.join(', ')}`, (word) => names.find((name) => name === word));
}
