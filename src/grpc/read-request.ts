/** `ReadPointsRequest` as decoded → what is asked, in the words of REST (R-G1, R-G2, R-J1). */
import { DomainError } from '../platform/errors.ts';
import { pageOffset } from '../platform/paging.ts';
import { MAX_DATE_MICROS, MIN_DATE_MICROS } from '../points/instant-rules.ts';
import type { Micros } from '../points/point.ts';
import {
  assertBuckets,
  type BucketRequest,
  parseHorizon,
  parseRelativeVersion,
  parseTimeZone,
  twoStates,
} from '../reading/read-request.ts';
import type { ReadRequest } from '../reading/selection.ts';
import type { Aggregate, Granularity } from '../structure/enumerations.ts';

/** As proto-loader decodes it: absent optional members are missing, the others have their defaults. */
export interface ReadPointsMessage {
  readonly variableIds: readonly number[];
  readonly sourceId?: number;
  readonly fromMicros?: number;
  readonly toMicros?: number;
  readonly includeToBoundary: boolean;
  readonly versions: readonly string[];
  readonly asOfMicros?: number;
  readonly order: 'ASC' | 'DESC';
  readonly itemsPerPage: number;
  readonly pageNumber: number;
  readonly relativeVersion?: string;
  readonly horizon?: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly everyVersion: boolean;
  readonly granularity: `GRANULARITY_${Uppercase<Granularity>}`;
  readonly aggregate: `AGGREGATE_${Aggregate | 'UNSPECIFIED'}`;
  readonly timeZoneId?: string;
  readonly fill: 'FILL_NONE' | 'FILL_PREVIOUS' | 'FILL_LINEAR' | 'FILL_NULL';
  readonly minCount: number;
  readonly unitId?: number;
}

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

/** @throws DomainError invalid_input. */
export function toReadRequest(message: ReadPointsMessage): ReadRequest & BucketRequest {
  const { itemsPerPage, pageNumber, minCount } = message;
  if (itemsPerPage < 0 || pageNumber < 0 || minCount < 0) {
    throw new DomainError('invalid_input', 'items_per_page, page_number and min_count must not be negative');
  }
  if (message.asOfMicros !== undefined && message.relativeVersion !== undefined) throw twoStates();
  return {
    variableIds: [...new Set(message.variableIds)],
    sourceId: message.sourceId,
    fromMicros: toStorable(message.fromMicros),
    toMicros: toStorable(message.toMicros),
    isToIncluded: message.includeToBoundary,
    versionTags: message.versions,
    asOfMicros: toStorable(message.asOfMicros),
    relative: parseRelativeVersion(message.relativeVersion),
    horizon: parseHorizon(message.horizon),
    tags: Object.entries(message.tags),
    isEveryVersion: message.everyVersion,
    unitId: message.unitId,
    timeZoneId: parseTimeZone(message.timeZoneId),
    order: message.order,
    limit: itemsPerPage === 0 ? undefined : itemsPerPage,
    offset: pageOffset(itemsPerPage, pageNumber),
    ...toBuckets(message),
  };
}

function toBuckets({ granularity, aggregate, fill, minCount }: ReadPointsMessage): Omit<BucketRequest, 'timeZoneId'> {
  const buckets = {
    granularity: known(GRANULARITIES, granularity),
    aggregate: known(AGGREGATES, aggregate),
    fill: known(FILLS, fill),
    minCount: minCount === 0 ? undefined : minCount,
  };
  assertBuckets(buckets);
  return buckets;
}

/** A number that the proto has no name for is decoded as that number. */
function known<Key extends string, Value>(values: Readonly<Record<Key, Value>>, key: Key): Value {
  if (Object.hasOwn(values, key)) return values[key];
  throw new DomainError('invalid_input', `must be one of ${Object.keys(values).join(', ')}, got ${key}`);
}

/** Clients ask for everything by the greatest number there is: beyond all dates is as good as the last of them. */
function toStorable(micros: Micros | undefined): Micros | undefined {
  return micros === undefined ? undefined : Math.min(Math.max(micros, MIN_DATE_MICROS), MAX_DATE_MICROS);
}
