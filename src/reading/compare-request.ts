/** The query of `GET /data/compare` (R-G6). */
import { DomainError } from '../platform/errors.ts';
import { parsePaging } from '../platform/paging.ts';
import { type Query, queryChoice, queryFlag, queryIds, queryInteger } from '../platform/query-string.ts';
import { parseInstant, parsePeriod, parseTimeZone, parseVersionTags } from './read-request.ts';
import type { VersionRequest } from './resolve-version.ts';
import type { ReadRequest } from './selection.ts';

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

/** @throws DomainError invalid_input unless one variable and something for the left is given. */
export function parseCompareRequest(query: Query): CompareRequest {
  const variableIds = [...new Set([...queryIds(query, 'variableId'), ...queryIds(query, 'variableIds')])];
  if (variableIds.length !== 1) {
    throw new DomainError(
      'invalid_input',
      `variableId must name the one variable to compare, got ${variableIds.length}`,
    );
  }
  const timeZoneId = parseTimeZone(query.find('timeZoneId'));
  const left = parseSide(query, 'left', timeZoneId);
  if (left.versionTags.length === 0 && left.asOfMicros === undefined) {
    throw new DomainError('invalid_input', 'leftVersion or leftAsOf must be given: what the right is compared with');
  }
  return {
    left: {
      variableIds,
      ...parsePeriod(query, timeZoneId),
      isToIncluded: queryFlag(query, 'includeToBoundary'),
      ...left,
      unitId: queryInteger(query, 'unitId', 1),
      order: queryChoice(query, 'pagingOrder', ['ASC', 'DESC']) ?? 'ASC',
      offset: 0,
    },
    right: parseSide(query, 'right', timeZoneId),
    ...parsePaging(query),
    timeZoneId,
  };
}

function parseSide(query: Query, side: 'left' | 'right', timeZoneId: string | undefined): VersionRequest {
  return {
    versionTags: parseVersionTags(query, `${side}Version`),
    asOfMicros: parseInstant(query, `${side}AsOf`, timeZoneId),
  };
}
