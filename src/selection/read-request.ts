/**
 * Parses the query of `GET /data` and the body of `POST /data` (R-G1, R-G2). Both have the same parameters, and both
 * are read leniently (R-A3).
 */
import type { ParsedMoment } from '../platform/dates/date-rules.ts';
import { DomainError } from '../platform/errors.ts';
import { parseMembers } from '../platform/http/input-location.ts';
import { toPaging } from '../platform/http/paging.ts';
import type { QueryValues } from '../platform/http/query.ts';
import type { Fill } from '../points/buckets/bucket.ts';
import type { Micros } from '../points/point.ts';
import type { Aggregate, Granularity } from '../structure/catalogue/enumerations.ts';
import { localClock, startOfDay } from '../structure/catalogue/time-zones.ts';
import { durationOf, FORMAT_QUERY, type PERIOD, READ_QUERY } from './read-parameters.ts';
import { sourceOfBody, type TagPair } from './read-query.ts';
import type { VersionRequest } from './resolve-version.ts';
import type { LocationOf, ReadName, ReadRequest } from './selection.ts';

/**
 * Decides which members a row has. `Columns` has the members of `Normal`, but in JSON one object holds many rows of a
 * variable: each id is a single value, and each other member is an array with one value per row.
 */
export type RowLevel = 'Normal' | 'ValueVariableDate' | 'Columns';

/** How points are aggregated. */
export interface BucketRequest {
  readonly granularity: Granularity;
  /** Aggregate function; undefined for the default aggregate of each variable. */
  readonly aggregate: Aggregate | undefined;
  readonly fill: Fill;
  readonly minCount: number | undefined;
  /** Zone whose civil time delimits the buckets; undefined for UTC. */
  readonly timeZoneId: string | undefined;
}

export interface RestReadRequest extends ReadRequest, BucketRequest {
  readonly level: RowLevel;
  /** Format of the answer; undefined when the header `Accept` decides. */
  readonly format: Given['format'];
  /** Zone of the dates in the answer and of civil buckets; undefined for UTC. */
  readonly timeZoneId: string | undefined;
}

type Given = ReturnType<typeof READ_QUERY.parse>;

/**
 * Parses the query of `GET /data` (R-G1).
 * @throws {DomainError} invalid_input; this one error lists all invalid parameters.
 */
export function parseReadQuery(address: string): Zoned<RestReadRequest> {
  const given = READ_QUERY.parse(address);
  return inDateZone(given, (zone) => toReadRequest(given, READ_QUERY.locationOf, [], zone));
}

/**
 * Parses `POST /data` (R-G1). `format` in the URL takes precedence over `format` in the body (R-A13).
 * @throws {DomainError} invalid_input. The error lists all invalid members. Exception: a value in `tags` that is not a
 *   string, or an invalid `format` in the URL, is listed alone.
 */
export function parseReadBody(address: string, body: unknown): Zoned<RestReadRequest> {
  const source = sourceOfBody(body);
  const { format } = FORMAT_QUERY.parse(address);
  const members = READ_QUERY.read(source);
  const given = { ...members, format: format ?? members.format };
  return inDateZone(given, (zone) => toReadRequest(given, source.locationOf, source.tagPairs, zone));
}

/** A parsed request whose dates without a zone are not yet converted to instants (R-A11). */
export interface Zoned<Request> {
  /** Value of `timeZoneId`; undefined when it is not given. */
  readonly zone: string | undefined;
  /** True when the request has a date without a zone. */
  readonly hasLocalDates: boolean;
  readonly sourceIds: readonly number[];
  readonly variableIds: readonly number[];
  /**
   * @returns the request with its dates as instants. A date without a zone is in `zone`, or in UTC when `zone` is
   * undefined.
   * @throws {DomainError} invalid_input when two parameters contradict each other.
   */
  readonly in: (zone: string | undefined) => Request;
}

/** @param given the parsed parameters of the request, with each date as a `ParsedMoment`. */
export function inDateZone<Request>(
  given: Readonly<Record<string, unknown>> & { readonly timeZoneId: string | undefined },
  request: (zone: string | undefined) => Request,
): Zoned<Request> {
  const { timeZoneId: zone, variableIds, variableId = variableIds, sourceIds = [] } = given;
  const hasLocalDates = Object.values(given).some((value) => (value as Partial<ParsedMoment> | undefined)?.isLocal);
  const ids = { variableIds: variableId as readonly number[], sourceIds: sourceIds as readonly number[] };
  return { zone, hasLocalDates, ...ids, in: request };
}

/** @throws {DomainError} invalid_input when two parameters contradict each other. */
function toReadRequest(
  given: Given,
  locationOf: LocationOf,
  tagPairs: readonly TagPair[],
  zone: string | undefined,
): RestReadRequest {
  const { sourceIds, unitId, pagingOrder: order, displayLevel: level, timeZoneId, format } = given;
  const { version, buckets } = parseMembers({
    version: () => toVersion(given, locationOf, tagPairs, zone),
    buckets: () => toBuckets(given, locationOf),
  });
  const variableIds = [...new Set(given.variableIds)];
  const members = { variableIds, sourceIds, unitId, order, level, timeZoneId, format };
  return { ...members, ...toPeriod(given, zone), ...version, ...toPaging(given), ...buckets, locationOf: locationOf };
}

function toVersion(
  { version, asOf, relativeVersion, horizon, versions, tags }: Given,
  locationOf: LocationOf,
  tagPairs: readonly TagPair[],
  zone: string | undefined,
): Omit<VersionRequest, 'timeZoneId'> {
  if (asOf !== undefined && relativeVersion !== undefined) throw twoStates(locationOf);
  return {
    versionTags: version,
    asOfMicros: toMicros(asOf, zone),
    relative: durationOf(relativeVersion),
    horizon,
    tags: [...tags, ...tagPairs],
    isEveryVersion: versions === 'all',
  };
}

function toBuckets(
  { granularity, aggregation: aggregate, fill, minCount }: Given,
  locationOf: LocationOf,
): Omit<BucketRequest, 'timeZoneId'> {
  const buckets = { granularity, aggregate, fill, minCount };
  assertBuckets(buckets, locationOf);
  return buckets;
}

/**
 * Refuses `fill` and `minCount` for a read of raw points, which have no buckets (R-G1).
 * @throws {DomainError} invalid_input.
 */
export function assertBuckets(
  { granularity, fill, minCount }: Omit<BucketRequest, 'timeZoneId'>,
  locationOf: LocationOf,
): void {
  if (granularity === 'Raw' && fill !== 'none') {
    throw contradiction(locationOf, ['fill', 'granularity'], 'gap filling needs a granularity other than Raw');
  }
  if (granularity === 'Raw' && minCount !== undefined) {
    throw contradiction(locationOf, ['minCount', 'granularity'], 'a minimum count needs a granularity other than Raw');
  }
}

/** Converts `from`, `to` and `includeToBoundary` to a period (R-G1). */
export function toPeriod(
  { from, to, includeToBoundary: isToIncluded }: QueryValues<typeof PERIOD>,
  zone: string | undefined,
): Pick<ReadRequest, 'fromMicros' | 'toMicros' | 'isToIncluded'> {
  return { fromMicros: toMicros(from, zone), toMicros: toMicros(to, zone), isToIncluded };
}

/**
 * Converts a moment to an instant (R-A11, R-G1). A moment without a zone is in `zone`, or in UTC when `zone` is
 * undefined. A date without a time is the first instant of that day.
 * @throws {RangeError} when `moment` has no zone and `zone` is given but is not the name of a known time zone.
 */
export function toMicros(moment: ParsedMoment | undefined, zone: string | undefined): Micros | undefined {
  if (!moment?.isLocal || zone === undefined) return moment?.micros;
  const { micros, isDay } = moment;
  return isDay ? startOfDay(zone)(micros) : localClock(zone)(micros).micros;
}

/** @returns the invalid_input error for `asOf` together with `relativeVersion`. */
export function twoStates(locationOf: LocationOf): DomainError {
  return contradiction(
    locationOf,
    ['asOf', 'relativeVersion'],
    'these two parameters both choose the state to read; give only one of them',
  );
}

/** @returns the invalid_input error for two parameters that exclude each other, with a detail for each. */
function contradiction(locationOf: LocationOf, names: readonly [ReadName, ReadName], why: string): DomainError {
  const locations = names.map((name) => locationOf(name));
  const subjects = locations.map(({ subject }) => subject).join(' and ');
  const details = locations.map(({ path }) => ({ path, message: why }));
  return new DomainError('invalid_input', `${subjects} contradict each other: ${why}`, details);
}
