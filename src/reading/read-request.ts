/** The query of `GET /data` and the body of `POST /data` (R-G1, R-G2): the same names, leniently read (R-A3). */
import { DomainError } from '../platform/errors.ts';
import { parsePaging } from '../platform/paging.ts';
import {
  type Query,
  queryChoice,
  queryEnumeration,
  queryError,
  queryFlag,
  queryIds,
  queryInteger,
} from '../platform/query-string.ts';
import { DATE_RULE, parseDate } from '../points/date-rules.ts';
import type { CivilDuration, Micros } from '../points/point.ts';
import type { Fill } from '../points/read/bucket.ts';
import { AGGREGATE, type Aggregate, GRANULARITY, type Granularity } from '../structure/enumerations.ts';
import { findTimeZone, localClock } from '../structure/time-zones.ts';
import { CURRENT, DURATION_RULE, parseDuration, parseRelative, RELATIVE_RULE } from './duration-rules.ts';
import type { ReadQuery, TagPair } from './read-query.ts';
import type { ReadRequest } from './selection.ts';

/** Which members a row has. */
export type RowLevel = 'Normal' | 'ValueVariableDate';

/** How points are put into buckets. */
export interface BucketRequest {
  readonly granularity: Granularity;
  /** Undefined takes each variable's own. */
  readonly aggregate: Aggregate | undefined;
  readonly fill: Fill;
  readonly minCount: number | undefined;
  /** Civil buckets are bounded on this zone's clock; undefined is UTC. */
  readonly timeZoneId: string | undefined;
}

export interface RestReadRequest extends ReadRequest, BucketRequest {
  readonly level: RowLevel;
  /** Dates are written on this zone's clock too. */
  readonly timeZoneId: string | undefined;
}

/** @throws DomainError invalid_input naming the parameter, or both where two contradict each other. */
export function parseReadRequest(query: ReadQuery): RestReadRequest {
  const timeZoneId = parseTimeZone(query.find('timeZoneId'));
  const asOfMicros = parseInstant(query, 'asOf', timeZoneId);
  const relative = parseRelativeVersion(query.find('relativeVersion'));
  if (query.find('asOf') !== undefined && query.find('relativeVersion') !== undefined) throw twoStates();
  const { limit, offset } = parsePaging(query);
  return {
    variableIds: [...new Set([...queryIds(query, 'variableId'), ...queryIds(query, 'variableIds')])],
    sourceId: queryInteger(query, 'sourceId', 1),
    ...parsePeriod(query, timeZoneId),
    isToIncluded: queryFlag(query, 'includeToBoundary'),
    versionTags: parseVersionTags(query, 'version'),
    asOfMicros,
    relative,
    horizon: parseHorizon(query.find('horizon')),
    tags: parseTags(query),
    isEveryVersion: queryChoice(query, 'versions', ['all', 'latest']) === 'all',
    unitId: queryInteger(query, 'unitId', 1),
    order: queryChoice(query, 'pagingOrder', ['ASC', 'DESC']) ?? 'ASC',
    limit,
    offset,
    level: queryChoice(query, 'displayLevel', ['Normal', 'ValueVariableDate']) ?? 'Normal',
    timeZoneId,
    ...parseBuckets(query),
  };
}

function parseBuckets(query: Query): Omit<BucketRequest, 'timeZoneId'> {
  const buckets = {
    granularity: queryEnumeration(query, 'granularity', GRANULARITY) ?? 'Raw',
    aggregate: queryEnumeration(query, 'aggregation', AGGREGATE),
    fill: queryChoice(query, 'fill', ['none', 'previous', 'linear', 'null']) ?? 'none',
    minCount: queryInteger(query, 'minCount', 1),
  };
  assertBuckets(buckets);
  return buckets;
}

/** @throws DomainError invalid_input for gap filling or completeness of raw points: they have no axis. */
export function assertBuckets({ granularity, fill, minCount }: Omit<BucketRequest, 'timeZoneId'>): void {
  if (granularity === 'Raw' && fill !== 'none') {
    throw contradiction('fill', 'granularity', 'raw points have no buckets that could be empty');
  }
  if (granularity === 'Raw' && minCount !== undefined) {
    throw contradiction('minCount', 'granularity', 'raw points are not counted in buckets');
  }
}

/** `from` and `to`. @throws DomainError invalid_input. */
export function parsePeriod(
  query: Query,
  timeZoneId: string | undefined,
): { readonly fromMicros: Micros | undefined; readonly toMicros: Micros | undefined } {
  return { fromMicros: parseInstant(query, 'from', timeZoneId), toMicros: parseInstant(query, 'to', timeZoneId) };
}

/** VersionTags given by repetition; an empty one is none. */
export function parseVersionTags(query: Query, name: string): readonly string[] {
  return query.all(name).filter((tag) => tag !== '');
}

/** @throws DomainError invalid_input for what is no time zone. */
export function parseTimeZone(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const timeZoneId = findTimeZone(name);
  if (timeZoneId !== undefined) return timeZoneId;
  throw queryError('timeZoneId', `must be an IANA or Windows time zone, got ${JSON.stringify(name)}`);
}

/**
 * A date without a zone is on the clock of `timeZoneId`, else UTC.
 * @throws DomainError invalid_input naming the parameter.
 */
export function parseInstant(query: Query, name: string, timeZoneId: string | undefined): Micros | undefined {
  const text = query.find(name);
  if (text === undefined) return undefined;
  // An unescaped + of an offset arrives as a blank.
  const date = parseDate(text.replace(/ (\d{2}:?\d{2})$/, '+$1'));
  if (!date) throw queryError(name, `${DATE_RULE}, got ${JSON.stringify(text)}`);
  return date.isLocal && timeZoneId !== undefined ? localClock(timeZoneId)(date.micros).micros : date.micros;
}

/** The error for an instant together with a relative version. */
export function twoStates(): DomainError {
  return contradiction('asOf', 'relativeVersion', 'both say which state is meant');
}

/** The error for two parameters that cannot both be meant. */
function contradiction(name: string, other: string, why: string): DomainError {
  const details = [name, other].map((it) => ({ path: `query.${it}`, message: why }));
  return new DomainError('invalid_input', `${name} and ${other} contradict each other: ${why}`, details);
}

/**
 * @returns undefined for `Current` too: the latest is what is read anyway.
 * @throws DomainError invalid_input.
 */
export function parseRelativeVersion(text: string | undefined): CivilDuration | undefined {
  if (text === undefined) return undefined;
  const relative = parseRelative(text);
  if (relative === undefined) throw queryError('relativeVersion', `${RELATIVE_RULE}, got ${JSON.stringify(text)}`);
  return relative === CURRENT ? undefined : relative;
}

/** @throws DomainError invalid_input for what is no duration. */
export function parseHorizon(text: string | undefined): CivilDuration | undefined {
  if (text === undefined) return undefined;
  const horizon = parseDuration(text);
  if (horizon === undefined) throw queryError('horizon', `${DURATION_RULE}, got ${JSON.stringify(text)}`);
  return horizon;
}

/** `key:value`, the first colon splits: values may hold colons, keys only in a body's object. */
function parseTags(query: ReadQuery): readonly TagPair[] {
  const given = query.all('tags').filter((text) => text !== '');
  const pairs = given.map((text): TagPair => {
    const colon = text.indexOf(':');
    if (colon < 1) throw queryError('tags', `must be key:value, got ${JSON.stringify(text)}`);
    return [text.slice(0, colon), text.slice(colon + 1)];
  });
  return [...pairs, ...query.tagPairs];
}
