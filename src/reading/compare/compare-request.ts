/** The query of `GET /data/compare` (R-G6). */

import { parseMembers, placeError } from '../../platform/http/input-place.ts';
import { parsePaging } from '../../platform/http/paging.ts';
import { type Query, queryChoice, queryInteger } from '../../platform/http/query-string.ts';
import {
  parseInstant,
  parsePeriod,
  parseTimeZone,
  parseVariableIds,
  parseVersionTags,
} from '../../selection/read-request.ts';
import type { VersionRequest } from '../../selection/resolve-version.ts';
import type { ReadRequest } from '../../selection/selection.ts';

export interface CompareRequest {
  /** What is read on the left; its paging is of the rows written, not of what is compared. */
  readonly left: ReadRequest;
  /** Without tag and instant, the latest. */
  readonly right: VersionRequest;
  readonly limit: number | undefined;
  readonly offset: number;
  /** Dates are written on this zone's clock; undefined is UTC. */
  readonly timeZoneId: string | undefined;
}

/** @throws DomainError invalid_input naming what is wrong; one variable and something for the left must be given. */
export function parseCompareRequest(query: Query): CompareRequest {
  const { period, left, paging, ...members } = parseMembers({
    variableIds: () => parseVariableId(query),
    period: () => parsePeriod(query),
    left: () => parseLeft(query),
    right: () => parseSide(query, 'right'),
    unitId: () => queryInteger(query, 'unitId', 1),
    order: () => queryChoice(query, 'pagingOrder', ['ASC', 'DESC']) ?? 'ASC',
    paging: () => parsePaging(query),
    timeZoneId: () => parseTimeZone(query.find('timeZoneId'), query.placeOf('timeZoneId')),
  });
  const { variableIds, unitId, order, right, timeZoneId } = members;
  const { placeOf } = query;
  return { left: { variableIds, ...period, ...left, unitId, order, offset: 0, placeOf }, right, ...paging, timeZoneId };
}

function parseVariableId(query: Query): readonly number[] {
  const variableIds = parseVariableIds(query);
  if (variableIds.length === 1) return variableIds;
  throw placeError(query.placeOf('variableId'), `must name the one variable to compare, got ${variableIds.length}`);
}

function parseLeft(query: Query): VersionRequest {
  const left = parseSide(query, 'left');
  if (left.versionTags.length > 0 || left.asOfMicros !== undefined) return left;
  const { subject } = query.placeOf('leftAsOf');
  throw placeError(query.placeOf('leftVersion'), `must be given, or ${subject}: what the right is compared with`);
}

function parseSide(query: Query, side: 'left' | 'right'): VersionRequest {
  return parseMembers({
    versionTags: () => parseVersionTags(query, `${side}Version`),
    asOfMicros: () => parseInstant(query, `${side}AsOf`),
  });
}
