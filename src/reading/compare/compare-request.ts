/** The query of `GET /data/compare` (R-G6). */

import type { ParsedMoment } from '../../platform/dates/date-rules.ts';
import { parseMembers, placeError } from '../../platform/http/input-place.ts';
import { toPaging } from '../../platform/http/paging.ts';
import { declareQuery, placeInAddress } from '../../platform/http/query.ts';
import { idsParameter, textsParameter } from '../../platform/http/query-parameters.ts';
import { idSchema } from '../../platform/openapi/operation.ts';
import { momentParameter, PERIOD, SHAPE } from '../../selection/read-parameters.ts';
import { toMicros, toPeriod } from '../../selection/read-request.ts';
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

export const COMPARE_QUERY = declareQuery({
  variableId: { ...idsParameter(''), description: 'The one variable.', schema: idSchema, isRequired: true },
  variableIds: idsParameter('The same: one id in both together.'),
  leftVersion: textsParameter('VersionTag of the left; it, or `leftAsOf`, must be given.'),
  leftAsOf: momentParameter('The left as it was known then.'),
  rightVersion: textsParameter('VersionTag of the right; without it and `rightAsOf` the right is the latest.'),
  rightAsOf: momentParameter('The right as it was known then.'),
  ...PERIOD,
  ...SHAPE,
});

type Given = ReturnType<typeof COMPARE_QUERY.parse>;

const { placeOf } = COMPARE_QUERY;

/** @throws {DomainError} invalid_input naming what is wrong; one variable and something for the left must be given. */
export function parseCompareRequest(address: string): CompareRequest {
  const given = COMPARE_QUERY.parse(address);
  const { unitId, pagingOrder: order, timeZoneId } = given;
  const { variableIds, left } = parseMembers({ variableIds: () => toVariableId(given), left: () => toLeft(given) });
  const right = toSide(given.rightVersion, given.rightAsOf, timeZoneId);
  return {
    left: { variableIds, ...toPeriod(given), ...left, unitId, order, offset: 0, placeOf: placeInAddress },
    ...{ right, ...toPaging(given), timeZoneId },
  };
}

function toVariableId(given: Given): readonly number[] {
  const variableIds = [...new Set([...given.variableId, ...given.variableIds])];
  if (variableIds.length === 1) return variableIds;
  throw placeError(placeOf('variableId'), `must name the one variable to compare, got ${variableIds.length}`);
}

function toLeft({ leftVersion, leftAsOf, timeZoneId }: Given): VersionRequest {
  if (leftVersion.length > 0 || leftAsOf) return toSide(leftVersion, leftAsOf, timeZoneId);
  const { subject } = placeOf('leftAsOf');
  throw placeError(placeOf('leftVersion'), `must be given, or ${subject}: what the right is compared with`);
}

function toSide(
  versionTags: readonly string[],
  asOf: ParsedMoment | undefined,
  timeZoneId: string | undefined,
): VersionRequest {
  return { versionTags, asOfMicros: toMicros(asOf, timeZoneId) };
}
