/** Parses the query of `GET /data/compare` (R-G6). */

import type { ParsedMoment } from '../../platform/dates/date-rules.ts';
import { locationError, parseMembers } from '../../platform/http/input-location.ts';
import { toPaging } from '../../platform/http/paging.ts';
import { declareQuery, locationInAddress } from '../../platform/http/query.ts';
import { idsParameter, named, textsParameter } from '../../platform/http/query-parameters.ts';
import { idSchema } from '../../platform/openapi/operation.ts';
import { dateOfReadParameter, PERIOD, SHAPE } from '../../selection/read-parameters.ts';
import { inDateZone, toMicros, toPeriod, type Zoned } from '../../selection/read-request.ts';
import type { VersionRequest } from '../../selection/resolve-version.ts';
import type { ReadRequest } from '../../selection/selection.ts';

export interface CompareRequest {
  /** The request for the version on the left side of the comparison, without paging. */
  readonly left: ReadRequest;
  /** The version on the right side of the comparison. Default: the latest version. */
  readonly right: VersionRequest;
  /** Maximum number of rows in the answer; undefined for no maximum. The summary always counts all rows. */
  readonly limit: number | undefined;
  readonly offset: number;
  /** Zone of the dates in the answer; undefined for UTC. */
  readonly timeZoneId: string | undefined;
  /** Format of the answer; undefined when the header `Accept` decides. */
  readonly format: Given['format'];
}

export const COMPARE_QUERY = declareQuery(
  {
    variableId: named(
      { ...idsParameter(''), description: 'The variable to compare.', schema: idSchema, isRequired: true },
      'variableIds',
    ),
    leftVersion: textsParameter(
      'VersionTag of the version on the left side of the comparison. Required unless `leftAsOf` is given.',
    ),
    leftAsOf: dateOfReadParameter(
      'For each date, the left side of the comparison is the newest version stored at or before this instant. With `leftVersion`, only versions with that VersionTag count.',
    ),
    rightVersion: textsParameter(
      'VersionTag of the version on the right side of the comparison. Default without `rightAsOf`: the latest version.',
    ),
    rightAsOf: dateOfReadParameter(
      'For each date, the right side of the comparison is the newest version stored at or before this instant. With `rightVersion`, only versions with that VersionTag count.',
    ),
    ...PERIOD,
    ...SHAPE,
  },
  { isListing: true },
);

type Given = ReturnType<typeof COMPARE_QUERY.parse>;

const { locationOf } = COMPARE_QUERY;

/**
 * Parses the query of a comparison (R-G6).
 * @returns the parsed request. Its method `in` throws invalid_input if the query names no variable or several
 *   variables, or no version for the left side.
 * @throws {DomainError} invalid_input when a parameter is invalid.
 */
export function parseCompareRequest(address: string): Zoned<CompareRequest> {
  const given = COMPARE_QUERY.parse(address);
  return inDateZone(given, (zone) => toCompareRequest(given, zone));
}

function toCompareRequest(given: Given, zone: string | undefined): CompareRequest {
  const { unitId, pagingOrder: order, timeZoneId, format } = given;
  const { variableIds, left } = parseMembers({
    variableIds: () => toVariableId(given),
    left: () => toLeft(given, zone),
  });
  const right = toSide(given.rightVersion, given.rightAsOf, zone);
  return {
    left: { variableIds, ...toPeriod(given, zone), ...left, unitId, order, offset: 0, locationOf: locationInAddress },
    ...{ right, ...toPaging(given), timeZoneId, format },
  };
}

function toVariableId(given: Given): readonly number[] {
  const variableIds = [...new Set(given.variableId)];
  if (variableIds.length === 1) return variableIds;
  throw locationError(locationOf('variableId'), `must name exactly one variable to compare, got ${variableIds.length}`);
}

function toLeft({ leftVersion, leftAsOf }: Given, zone: string | undefined): VersionRequest {
  if (leftVersion.length > 0 || leftAsOf) return toSide(leftVersion, leftAsOf, zone);
  const { subject } = locationOf('leftAsOf');
  throw locationError(
    locationOf('leftVersion'),
    `must be given if ${subject} is absent, because the left side of the comparison has no default version`,
  );
}

function toSide(
  versionTags: readonly string[],
  asOf: ParsedMoment | undefined,
  zone: string | undefined,
): VersionRequest {
  return { versionTags, asOfMicros: toMicros(asOf, zone) };
}
