/** The query of `GET /data` and the body of `POST /data` (R-G1): the same names, leniently read (R-A3). */
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
import type { Micros } from '../points/point.ts';
import { AGGREGATE, type Aggregate, GRANULARITY, type Granularity } from '../structure/enumerations.ts';
import { findTimeZone, localClock } from '../structure/time-zones.ts';
import type { ReadRequest } from './selection.ts';

/** Which members a row has. */
export type RowLevel = 'Normal' | 'ValueVariableDate';

export interface RestReadRequest extends ReadRequest {
  readonly level: RowLevel;
  /** Dates are written, and civil buckets bounded, on this zone's clock; undefined is UTC. */
  readonly timeZoneId: string | undefined;
  readonly granularity: Granularity;
  /** Undefined takes each variable's own. */
  readonly aggregate: Aggregate | undefined;
}

// What this version cannot do must not be answered with something else.
const NOT_YET = ['relativeVersion', 'horizon', 'versions', 'tags', 'fill', 'minCount', 'unitId'];

/** @throws DomainError invalid_input naming the parameter. */
export function parseReadRequest(query: Query): RestReadRequest {
  refuseUnavailable(query);
  const timeZoneId = parseTimeZone(query);
  const paging = parsePaging(query);
  return {
    variableIds: [...new Set([...queryIds(query, 'variableId'), ...queryIds(query, 'variableIds')])],
    sourceId: queryInteger(query, 'sourceId', 1),
    fromMicros: parseInstant(query, 'from', timeZoneId),
    toMicros: parseInstant(query, 'to', timeZoneId),
    isToIncluded: queryFlag(query, 'includeToBoundary'),
    versionTags: query.all('version').filter((tag) => tag !== ''),
    asOfMicros: parseInstant(query, 'asOf', timeZoneId),
    order: queryChoice(query, 'pagingOrder', ['ASC', 'DESC']) ?? 'ASC',
    limit: paging.limit,
    offset: paging.offset,
    level: queryChoice(query, 'displayLevel', ['Normal', 'ValueVariableDate']) ?? 'Normal',
    timeZoneId,
    granularity: queryEnumeration(query, 'granularity', GRANULARITY) ?? 'Raw',
    aggregate: queryEnumeration(query, 'aggregation', AGGREGATE),
  };
}

/** A JSON body as a query: members of nested objects count under their own name, arrays as repeated values. */
export function queryOfBody(body: unknown): Query {
  const values = new Map<string, string[]>();
  const collect = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) for (const item of value) collect(name, item);
    else if (typeof value === 'object')
      for (const [key, member] of Object.entries(value)) collect(key.toLowerCase(), member);
    else {
      const known = values.get(name);
      if (known) known.push(String(value));
      else values.set(name, [String(value)]);
    }
  };
  collect('', body);
  const all = (name: string): readonly string[] => values.get(name.toLowerCase()) ?? [];
  return { all, find: (name) => all(name).at(-1) || undefined };
}

function refuseUnavailable(query: Query): void {
  const refused = NOT_YET.find((name) => query.find(name) !== undefined);
  if (refused !== undefined) throw queryError(refused, 'is not available yet');
}

function parseTimeZone(query: Query): string | undefined {
  const name = query.find('timeZoneId');
  if (name === undefined) return undefined;
  const timeZoneId = findTimeZone(name);
  if (timeZoneId === undefined)
    throw queryError('timeZoneId', `must be an IANA time zone, got ${JSON.stringify(name)}`);
  return timeZoneId;
}

/** A date without a zone is on the clock of `timeZoneId`, else UTC. */
function parseInstant(query: Query, name: string, timeZoneId: string | undefined): Micros | undefined {
  const text = query.find(name);
  if (text === undefined) return undefined;
  // An unescaped + of an offset arrives as a blank.
  const date = parseDate(text.replace(/ (\d{2}:?\d{2})$/, '+$1'));
  if (!date) throw queryError(name, `${DATE_RULE}, got ${JSON.stringify(text)}`);
  return date.isLocal && timeZoneId !== undefined ? localClock(timeZoneId)(date.micros).micros : date.micros;
}
