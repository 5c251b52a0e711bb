/**
 * Route `DELETE /data` (R-G5): deletes all versions of the points in a period. With `whatIf`, it only counts the points
 * and deletes nothing.
 */
import { Hono } from 'hono';
import { z } from 'zod';
import type { WriteAuditEntry } from '../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../platform/database/database.ts';
import { setDateZones } from '../platform/dates/date-zone-header.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import type { InputLocation } from '../platform/http/input-location.ts';
import { booleanSchema, idSchema, lenientObject, momentSchema, parseInput } from '../platform/http/lenient.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { MAX_STATEMENT_MS } from '../platform/limits.ts';
import { announcePoints } from '../points/announce-points.ts';
import type { Micros, WrittenRange } from '../points/point.ts';
import { deletePoints, findRemoved } from '../points/remove/delete-points.ts';
import { locationInBody } from '../selection/read-query.ts';
import { resolveSelection } from '../selection/selection.ts';

const MAX_VARIABLES = 10_000;

/** Schema of the body of `DELETE /data`. */
export const deleteSchema = lenientObject({
  variableIds: z.array(idSchema).min(1, 'must name at least one variable').max(MAX_VARIABLES),
  // A date without a zone is UTC, as the names of the members say.
  fromDateUtc: momentSchema.nullish(),
  toDateUtc: momentSchema.nullish(),
  whatIf: booleanSchema.nullish(),
});

type Env = CallerEnv & RequestIdEnv;

interface Parts {
  readonly database: Database;
  readonly audit: WriteAuditEntry<'PointsDeleted'>;
}

/**
 * The route `DELETE /data` (R-G5). Only MANAGER and ADMIN may call it, because a deletion cannot be undone. Mount at
 * `/data`.
 */
export function deleteRoutes({ database, audit }: Parts): Hono<Env> {
  return new Hono<Env>().delete('/', requireRole('MANAGER'), async (c) => {
    const request = parseInput(deleteSchema, await readJsonBody(c.req.raw));
    const results = await removePoints({ database, audit }, c.var, request);
    if (request.fromDateUtc?.isLocal || request.toDateUtc?.isLocal) setDateZones(c, ['UTC']);
    return c.json({ results });
  });
}

/** The members that every read request must have and that the body of a deletion does not have. */
const EVERYTHING = { isToIncluded: false, versionTags: [], order: 'ASC', offset: 0, locationOf } as const;

/** Locates a parameter in the body of a deletion, which names `from` and `to` as `fromDateUtc` and `toDateUtc`. */
function locationOf(name: string): InputLocation {
  return locationInBody(`$.${name === 'from' || name === 'to' ? `${name}DateUtc` : name}`);
}

interface Span {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

interface RemovedPoints {
  readonly variableId: number;
  /** Number of dates; several versions of a date count once. */
  readonly datapointCount: number;
}

/**
 * @returns one result per variable, in the order of the request.
 * @throws {DomainError} not_found when one of the variables is not visible to the caller. In this case, no points are
 * deleted.
 */
async function removePoints(
  { database, audit }: Parts,
  by: Env['Variables'],
  { variableIds, fromDateUtc, toDateUtc, whatIf }: z.output<typeof deleteSchema>,
): Promise<readonly RemovedPoints[]> {
  const distinctIds = [...new Set(variableIds)];
  const period = {
    ...(fromDateUtc && { fromMicros: fromDateUtc.micros }),
    ...(toDateUtc && { toMicros: toDateUtc.micros }),
  };
  const removal = { variableIds: distinctIds, ...period };
  const ranges = await withTransaction(
    database,
    async (transaction) => {
      await resolveSelection(transaction, by.caller, { ...removal, ...EVERYTHING });
      if (whatIf) return findRemoved(transaction, removal);
      const removed = await deletePoints(transaction, removal);
      await announcePoints(transaction, by.caller.accountId, removed, { requestId: by.requestId });
      if (removed.length > 0) await audit(transaction, by, toAct(removed, period));
      return removed;
    },
    { statementTimeoutMs: MAX_STATEMENT_MS },
  );
  const counts = new Map(ranges.map(({ variableId, count }) => [variableId, count]));
  return distinctIds.map((variableId) => ({ variableId, datapointCount: counts.get(variableId) ?? 0 }));
}

/**
 * Builds one audit entry for the whole deletion. When points of only one variable were deleted, this variable is the
 * target of the entry.
 */
function toAct(removed: readonly WrittenRange[], { fromMicros, toMicros }: Partial<Span>) {
  const [only, ...others] = removed.map(({ variableId }) => String(variableId));
  return {
    action: 'PointsDeleted' as const,
    ...(only !== undefined && others.length === 0 && { targetId: only }),
    details: {
      variableIds: removed.map(({ variableId }) => variableId),
      datapointCount: removed.reduce((sum, { count }) => sum + count, 0),
      ...(fromMicros !== undefined && { fromDateUtc: formatInstant(fromMicros) }),
      ...(toMicros !== undefined && { toDateUtc: formatInstant(toMicros) }),
    },
  };
}
