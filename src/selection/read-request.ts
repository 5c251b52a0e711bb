/** The query of `GET /data` and the body of `POST /data` (R-G1, R-G2): the same names, leniently read (R-A3). */

import { MOMENT_RULE, parseMoment } from '../platform/dates/date-rules.ts';
import { DomainError } from '../platform/errors.ts';
import { type Place, parseMembers, placeError } from '../platform/http/input-place.ts';
import { parsePaging } from '../platform/http/paging.ts';
import {
  type Query,
  queryChoice,
  queryEnumeration,
  queryFlag,
  queryIds,
  queryInteger,
} from '../platform/http/query-string.ts';
import type { Fill } from '../points/buckets/bucket.ts';
import type { CivilDuration, Micros } from '../points/point.ts';
import { AGGREGATE, type Aggregate, GRANULARITY, type Granularity } from '../structure/catalogue/enumerations.ts';
import { findTimeZone, localClock, startOfDay } from '../structure/catalogue/time-zones.ts';
import { CURRENT, DURATION_RULE, parseDuration, parseRelative, RELATIVE_RULE } from './duration-rules.ts';
import type { ReadQuery, TagPair } from './read-query.ts';
import type { VersionRequest } from './resolve-version.ts';
import type { PlaceOf, ReadRequest } from './selection.ts';

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

/** @throws DomainError invalid_input naming every parameter that is wrong, and both of two that contradict each other. */
export function parseReadRequest(query: ReadQuery): RestReadRequest {
  const { period, version, paging, buckets, ...members } = parseMembers({
    variableIds: () => parseVariableIds(query),
    sourceId: () => queryInteger(query, 'sourceId', 1),
    period: () => parsePeriod(query),
    version: () => parseVersion(query),
    unitId: () => queryInteger(query, 'unitId', 1),
    order: () => queryChoice(query, 'pagingOrder', ['ASC', 'DESC']) ?? 'ASC',
    paging: () => parsePaging(query),
    level: () => queryChoice(query, 'displayLevel', ['Normal', 'ValueVariableDate']) ?? 'Normal',
    timeZoneId: () => parseTimeZone(query.find('timeZoneId'), query.placeOf('timeZoneId')),
    buckets: () => parseBuckets(query),
  });
  return { ...members, ...period, ...version, ...paging, ...buckets, placeOf: query.placeOf };
}

/** `variableId` and `variableIds`, each once. @throws DomainError invalid_input. */
export function parseVariableIds(query: Query): readonly number[] {
  return [...new Set([...queryIds(query, 'variableId'), ...queryIds(query, 'variableIds')])];
}

function parseVersion(query: ReadQuery): Omit<VersionRequest, 'timeZoneId'> {
  const version = parseMembers({
    versionTags: () => parseVersionTags(query, 'version'),
    asOfMicros: () => parseInstant(query, 'asOf'),
    relative: () => parseRelativeVersion(query.find('relativeVersion'), query.placeOf('relativeVersion')),
    horizon: () => parseHorizon(query.find('horizon'), query.placeOf('horizon')),
    tags: () => parseTags(query),
    isEveryVersion: () => queryChoice(query, 'versions', ['all', 'latest']) === 'all',
  });
  if (query.find('asOf') !== undefined && query.find('relativeVersion') !== undefined) throw twoStates(query.placeOf);
  return version;
}

function parseBuckets(query: Query): Omit<BucketRequest, 'timeZoneId'> {
  const buckets = parseMembers<Omit<BucketRequest, 'timeZoneId'>>({
    granularity: () => queryEnumeration(query, 'granularity', GRANULARITY) ?? 'Raw',
    aggregate: () => queryEnumeration(query, 'aggregation', AGGREGATE),
    fill: () => queryChoice(query, 'fill', ['none', 'previous', 'linear', 'null']) ?? 'none',
    minCount: () => queryInteger(query, 'minCount', 1),
  });
  assertBuckets(buckets, query.placeOf);
  return buckets;
}

/** @throws DomainError invalid_input for gap filling or completeness of raw points: they have no axis. */
export function assertBuckets(
  { granularity, fill, minCount }: Omit<BucketRequest, 'timeZoneId'>,
  placeOf: PlaceOf,
): void {
  if (granularity === 'Raw' && fill !== 'none') {
    throw contradiction(placeOf, ['fill', 'granularity'], 'raw points have no buckets that could be empty');
  }
  if (granularity === 'Raw' && minCount !== undefined) {
    throw contradiction(placeOf, ['minCount', 'granularity'], 'raw points are not counted in buckets');
  }
}

/** `from`, `to` and whether that is taken in. @throws DomainError invalid_input. */
export function parsePeriod(query: Query): Pick<ReadRequest, 'fromMicros' | 'toMicros' | 'isToIncluded'> {
  return parseMembers({
    fromMicros: () => parseInstant(query, 'from'),
    toMicros: () => parseInstant(query, 'to'),
    isToIncluded: () => queryFlag(query, 'includeToBoundary'),
  });
}

/** VersionTags given by repetition; an empty one is none. */
export function parseVersionTags(query: Query, name: string): readonly string[] {
  return query.all(name).filter((tag) => tag !== '');
}

/** @throws DomainError invalid_input for what is no time zone. */
export function parseTimeZone(name: string | undefined, place: Place): string | undefined {
  if (name === undefined) return undefined;
  const timeZoneId = findTimeZone(name);
  if (timeZoneId !== undefined) return timeZoneId;
  throw placeError(place, `must be an IANA or Windows time zone, got ${JSON.stringify(name)}`);
}

/**
 * A date without a zone is on the clock of the parameter `timeZoneId`, else UTC; a date alone is the first instant of
 * that day there.
 * @throws DomainError invalid_input naming the parameter.
 */
export function parseInstant(query: Query, name: string): Micros | undefined {
  const text = query.find(name);
  if (text === undefined) return undefined;
  // An unescaped + of an offset arrives as a blank.
  const moment = parseMoment(text.replace(/ (\d{2}:?\d{2})$/, '+$1'));
  if (!moment) throw placeError(query.placeOf(name), `${MOMENT_RULE}, got ${JSON.stringify(text)}`);
  const { micros, isLocal, isDay } = moment;
  // What is no zone is told where that parameter is parsed.
  const timeZoneId = isLocal ? findTimeZone(query.find('timeZoneId') ?? '') : undefined;
  if (timeZoneId === undefined) return micros;
  return isDay ? startOfDay(timeZoneId)(micros) : localClock(timeZoneId)(micros).micros;
}

/** The error for an instant together with a relative version. */
export function twoStates(placeOf: PlaceOf): DomainError {
  return contradiction(placeOf, ['asOf', 'relativeVersion'], 'both say which state is meant');
}

/** The error for two parameters that cannot both be meant. */
function contradiction(placeOf: PlaceOf, names: readonly [string, string], why: string): DomainError {
  const places = names.map((name) => placeOf(name));
  const subjects = places.map(({ subject }) => subject).join(' and ');
  const details = places.map(({ path }) => ({ path, message: why }));
  return new DomainError('invalid_input', `${subjects} contradict each other: ${why}`, details);
}

/**
 * @returns undefined for `Current` too: the latest is what is read anyway.
 * @throws DomainError invalid_input.
 */
export function parseRelativeVersion(text: string | undefined, place: Place): CivilDuration | undefined {
  if (text === undefined) return undefined;
  const relative = parseRelative(text);
  if (relative === undefined) throw placeError(place, `${RELATIVE_RULE}, got ${JSON.stringify(text)}`);
  return relative === CURRENT ? undefined : relative;
}

/** @throws DomainError invalid_input for what is no duration. */
export function parseHorizon(text: string | undefined, place: Place): CivilDuration | undefined {
  if (text === undefined) return undefined;
  const horizon = parseDuration(text);
  if (horizon === undefined) throw placeError(place, `${DURATION_RULE}, got ${JSON.stringify(text)}`);
  return horizon;
}

/** `key:value`, the first colon splits: values may hold colons, keys only in a body's object. */
function parseTags(query: ReadQuery): readonly TagPair[] {
  const pairs = query.all('tags').flatMap((text, index): readonly TagPair[] => {
    if (text === '') return [];
    const colon = text.indexOf(':');
    if (colon < 1) throw placeError(query.placeOf('tags', index), `must be key:value, got ${JSON.stringify(text)}`);
    return [[text.slice(0, colon), text.slice(colon + 1)]];
  });
  return [...pairs, ...query.tagPairs];
}
