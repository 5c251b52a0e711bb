/** `DELETE /data` (R-G5): removes the points of a period for good, every version of them, or tells what that would be. */
import { Hono } from 'hono';
import { z } from 'zod';
import type { WriteAuditEntry } from '../identity/audit-writer.ts';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import { type Database, withTransaction } from '../platform/database/database.ts';
import { MOMENT_RULE, parseMoment } from '../platform/dates/date-rules.ts';
import { formatInstant } from '../platform/dates/instant-rules.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import type { Place } from '../platform/http/input-place.ts';
import { booleanSchema, idSchema, lenientObject, parseInput } from '../platform/http/lenient.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import { announcePoints } from '../points/announce-points.ts';
import type { Micros, WrittenRange } from '../points/point.ts';
import { deletePoints, findRemoved } from '../points/remove/delete-points.ts';
import { placeInBody } from '../selection/read-query.ts';
import { resolveSelection } from '../selection/selection.ts';

const MAX_VARIABLES = 10_000;
// Years of many variables take their time; below what makes the server cut the connection.
const TIMEOUT_MS = 280_000;

/** UTC where it has no zone: the members say so. */
const dateSchema = z
  .string()
  .meta({ description: MOMENT_RULE })
  .transform((text, context) => {
    const moment = parseMoment(text);
    if (moment) return moment.micros;
    context.addIssue({ code: 'custom', message: `${MOMENT_RULE}, got ${JSON.stringify(text)}` });
    return z.NEVER;
  });

/** What `DELETE /data` reads. */
export const deleteSchema = lenientObject({
  variableIds: z.array(idSchema).min(1, 'must name at least one variable').max(MAX_VARIABLES),
  fromDateUtc: dateSchema.nullish(),
  toDateUtc: dateSchema.nullish(),
  whatIf: booleanSchema.nullish(),
});

type Env = CallerEnv & RequestIdEnv;

interface Parts {
  readonly database: Database;
  readonly audit: WriteAuditEntry<'PointsDeleted'>;
}

/** To be mounted at `/data`. For MANAGER and ADMIN: what is removed cannot be brought back. */
export function deleteRoutes({ database, audit }: Parts): Hono<Env> {
  return new Hono<Env>().delete('/', requireRole('MANAGER'), async (c) => {
    const request = parseInput(deleteSchema, await readJsonBody(c.req.raw));
    return c.json({ results: await removePoints({ database, audit }, c.var, request) });
  });
}

/** What of a selection does not matter here. */
const EVERYTHING = { isToIncluded: false, versionTags: [], order: 'ASC', offset: 0, placeOf } as const;

/** What reading calls `from` and `to` has other names in this body. */
function placeOf(name: string): Place {
  return placeInBody(`$.${name === 'from' || name === 'to' ? `${name}DateUtc` : name}`);
}

interface Span {
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
}

interface RemovedPoints {
  readonly variableId: number;
  /** Dates, however many versions each had. */
  readonly datapointCount: number;
}

/**
 * @returns one result per variable, in the order asked for.
 * @throws DomainError not_found when one is not the caller's to see: nothing is removed then.
 */
async function removePoints(
  { database, audit }: Parts,
  by: Env['Variables'],
  { variableIds, fromDateUtc, toDateUtc, whatIf }: z.output<typeof deleteSchema>,
): Promise<readonly RemovedPoints[]> {
  const distinctIds = [...new Set(variableIds)];
  const period = {
    ...(typeof fromDateUtc === 'number' && { fromMicros: fromDateUtc }),
    ...(typeof toDateUtc === 'number' && { toMicros: toDateUtc }),
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
    { statementTimeoutMs: TIMEOUT_MS },
  );
  const counts = new Map(ranges.map(({ variableId, count }) => [variableId, count]));
  return distinctIds.map((variableId) => ({ variableId, datapointCount: counts.get(variableId) ?? 0 }));
}

/** One act, however many variables; a single one is what it was done to. */
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
