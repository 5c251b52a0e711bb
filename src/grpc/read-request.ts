/**
 * Converts decoded gRPC requests to a ReadRequest (R-G1, R-G2, R-J1). REST uses the same type, so `selection/` applies
 * the same rules to both interfaces. Errors name the fields of the proto.
 */
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../platform/dates/instant-rules.ts';
import { type InputLocation, locationError, parseMembers } from '../platform/http/input-location.ts';
import { type Paging, toPaging as toPage } from '../platform/http/paging.ts';
import type { Micros } from '../points/point.ts';
import { parseHorizon, parseRelativeVersion, parseTimeZone } from '../selection/read-parameters.ts';
import { assertBuckets, type BucketRequest, twoStates } from '../selection/read-request.ts';
import type { VersionRequest } from '../selection/resolve-version.ts';
import type { ReadRequest } from '../selection/selection.ts';
import type { Aggregate, Granularity } from '../structure/catalogue/enumerations.ts';

/**
 * Fields shared by requests for points, as proto-loader decodes them. If a client omits an `optional` field, the
 * decoded object lacks the member. If a client omits any other field, the member has the default value of the field.
 */
export interface SelectionMessage {
  readonly variableIds: readonly number[];
  readonly sourceId?: number;
  readonly fromMicros?: number;
  readonly toMicros?: number;
  readonly includeToBoundary: boolean;
  readonly versions: readonly string[];
  readonly asOfMicros?: number;
  readonly relativeVersion?: string;
  readonly horizon?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly everyVersion: boolean;
  readonly timeZoneId?: string;
  readonly unitId?: number;
}

export interface ReadPointsMessage extends SelectionMessage {
  readonly order: 'ASC' | 'DESC';
  readonly itemsPerPage: number;
  readonly pageNumber: number;
  readonly granularity: `GRANULARITY_${Uppercase<Granularity>}`;
  readonly aggregate: `AGGREGATE_${Aggregate | 'UNSPECIFIED'}`;
  readonly fill: 'FILL_NONE' | 'FILL_PREVIOUS' | 'FILL_LINEAR' | 'FILL_NULL';
  readonly minCount: number;
}

const ORDERS = { ASC: 'ASC', DESC: 'DESC' } as const satisfies Record<ReadPointsMessage['order'], string>;

const GRANULARITIES = {
  GRANULARITY_RAW: 'Raw',
  GRANULARITY_MINUTE: 'Minute',
  GRANULARITY_HOUR: 'Hour',
  GRANULARITY_DAY: 'Day',
  GRANULARITY_MONTH: 'Month',
  GRANULARITY_YEAR: 'Year',
  GRANULARITY_ALL: 'All',
  GRANULARITY_WEEK: 'Week',
} as const satisfies Record<ReadPointsMessage['granularity'], Granularity>;

const AGGREGATES = {
  AGGREGATE_UNSPECIFIED: undefined,
  AGGREGATE_SUM: 'SUM',
  AGGREGATE_MIN: 'MIN',
  AGGREGATE_MAX: 'MAX',
  AGGREGATE_AVG: 'AVG',
  AGGREGATE_COUNT: 'COUNT',
  AGGREGATE_VAR: 'VAR',
  AGGREGATE_STDEV: 'STDEV',
} as const satisfies Record<ReadPointsMessage['aggregate'], Aggregate | undefined>;

const FILLS = {
  FILL_NONE: 'none',
  FILL_PREVIOUS: 'previous',
  FILL_LINEAR: 'linear',
  FILL_NULL: 'null',
} as const satisfies Record<ReadPointsMessage['fill'], BucketRequest['fill']>;

/** REST name → proto field, for fields that errors name and whose proto name is not the REST name in snake case. */
const FIELDS: Readonly<Record<string, string>> = {
  from: 'from_micros',
  to: 'to_micros',
  asOf: 'as_of_micros',
  aggregation: 'aggregate',
  sourceIds: 'source_id',
};

/**
 * @param name the REST name of a field, or its proto name in camel case.
 * @returns the name of the field in the proto, for error messages.
 */
export function locationInMessage(name: string): InputLocation {
  const field = FIELDS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { subject: field, path: field };
}

/**
 * Parses a request for points (R-G1, R-G2, R-J1).
 * @throws {DomainError} invalid_input naming every invalid field. Contradictions between fields may be left out.
 */
export function toReadRequest(message: ReadPointsMessage): ReadRequest & BucketRequest {
  const { selection, paging, buckets, order } = parseMembers({
    selection: () => toSelection(message),
    order: () => known('order', ORDERS, message.order),
    paging: () => toPaging(message),
    buckets: () => toBuckets(message),
  });
  return { ...selection, order, ...paging, ...buckets };
}

/**
 * Parses the variables and the selection of their points (R-G2).
 * @throws {DomainError} invalid_input naming every invalid field. Contradictions between fields may be left out.
 */
export function toSelection(message: SelectionMessage) {
  const { version, sourceId, ...members } = parseMembers({
    sourceId: () => toId('sourceId', message.sourceId),
    version: () => toVersion(message),
    unitId: () => toId('unitId', message.unitId),
    timeZoneId: () => parseTimeZone(given(message.timeZoneId), locationInMessage('timeZoneId')),
  });
  return {
    variableIds: [...new Set(message.variableIds)],
    sourceIds: sourceId === undefined ? [] : [sourceId],
    fromMicros: toStorable(message.fromMicros),
    toMicros: toStorable(message.toMicros),
    isToIncluded: message.includeToBoundary,
    locationOf: locationInMessage,
    ...members,
    ...version,
  } satisfies Partial<ReadRequest>;
}

/** Maps an empty text to undefined, because an empty text counts as absent, as in REST. */
const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function toVersion(message: SelectionMessage): Omit<VersionRequest, 'timeZoneId'> {
  const relativeVersion = given(message.relativeVersion);
  const words = parseMembers({
    relative: () => parseRelativeVersion(relativeVersion, locationInMessage('relativeVersion')),
    horizon: () => parseHorizon(given(message.horizon), locationInMessage('horizon')),
  });
  if (message.asOfMicros !== undefined && relativeVersion !== undefined) throw twoStates(locationInMessage);
  return {
    ...words,
    versionTags: message.versions.filter((tag) => tag !== ''),
    asOfMicros: toStorable(message.asOfMicros),
    tags: Object.entries(message.tags),
    isEveryVersion: message.everyVersion,
  };
}

export interface PagingMessage {
  readonly itemsPerPage: number;
  readonly pageNumber: number;
}

interface PageSizes {
  /** The greatest permitted `items_per_page`. Default: no limit. */
  readonly most?: number;
  /** Used when `items_per_page` is 0. Default: page 0 contains all items, and later pages are empty. */
  readonly usual?: number;
}

/**
 * Parses paging fields (§8).
 * @throws {DomainError} invalid_input when a field is negative, or when `items_per_page` is above `sizes.most`.
 */
export function toPaging(message: PagingMessage, { most = Number.POSITIVE_INFINITY, usual }: PageSizes = {}): Paging {
  const { itemsPerPage, pageNumber } = parseMembers({
    itemsPerPage: () => toCount('itemsPerPage', message.itemsPerPage, most),
    pageNumber: () => toCount('pageNumber', message.pageNumber),
  });
  return toPage({ pageNumber, itemsPerPage: itemsPerPage || usual });
}

function toBuckets(message: ReadPointsMessage): Omit<BucketRequest, 'timeZoneId'> {
  const buckets = parseMembers({
    granularity: () => known('granularity', GRANULARITIES, message.granularity),
    aggregate: () => known('aggregation', AGGREGATES, message.aggregate),
    fill: () => known('fill', FILLS, message.fill),
    minCount: () => toCount('minCount', message.minCount) || undefined,
  });
  assertBuckets(buckets, locationInMessage);
  return buckets;
}

/** @param key name of the enum value. For a value without a name in the proto, proto-loader gives the number. */
function known<Key extends string, Value>(name: string, values: Readonly<Record<Key, Value>>, key: Key): Value {
  if (Object.hasOwn(values, key)) return values[key];
  throw locationError(locationInMessage(name), `must be one of ${Object.keys(values).join(', ')}, got ${key}`);
}

/** Checks a count. @throws {DomainError} invalid_input when the count is negative or above `most`. */
export function toCount(name: string, count: number, most = Number.POSITIVE_INFINITY): number {
  if (count < 0) throw locationError(locationInMessage(name), `must not be negative, got ${count}`);
  if (count <= most) return count;
  throw locationError(locationInMessage(name), `must be at most ${most}, got ${count}`);
}

/** Checks an id; a request may omit the id. @throws {DomainError} invalid_input when the id is below 1. */
export function toId(name: string, id: number | undefined): number | undefined {
  if (id === undefined || id >= 1) return id;
  throw locationError(locationInMessage(name), `must be at least 1, got ${id}`);
}

/** Clamps an instant to the range of storable dates, because clients send the greatest int64 for an open end. */
function toStorable(micros: Micros | undefined): Micros | undefined {
  return micros === undefined ? undefined : Math.min(Math.max(micros, MIN_DATE_MICROS), MAX_DATE_MICROS);
}
