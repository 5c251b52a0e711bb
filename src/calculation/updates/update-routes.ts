/**
 * Routes for calculated variables (R-H5, R-H8). They force and stop updates, show the current and waiting runs of a
 * variable, and list the instants of a schedule.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { type Database, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { appendEvents } from '../../platform/database/outbox.ts';
import type { ParsedMoment } from '../../platform/dates/date-rules.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { invalidInput, lenientObject, momentSchema, parseInput } from '../../platform/http/lenient.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { integerParameter, momentParameter, parsedParameter, required } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import type { Log } from '../../platform/log.ts';
import type { MemberQueue } from '../../platform/queue.ts';
import { formatOptional, setDateZone, settleMoments } from '../../selection/date-zone.ts';
import { toMicros } from '../../selection/read-request.ts';
import { timeZoneSchema } from '../../structure/catalogue/time-zones.ts';
import { getResource, type Resource } from '../../structure/resource.ts';
import { parsePathId } from '../../structure/resource-routes.ts';
import { SITE } from '../../structure/site.ts';
import { SOURCE } from '../../structure/source.ts';
import { VARIABLE } from '../../structure/variable.ts';
import { forceUpdate, toTurn } from '../schedule/request-calculations.ts';
import { CRON_RULE, hasNextInstant, nextInstants } from '../schedule/schedule.ts';
import { wakeTurns } from '../turns/turn-wake-ups.ts';
import { stopUpdates } from './stop-updates.ts';
import { readUpdateState } from './update-state.ts';

export interface UpdateRouteServices {
  readonly database: Database;
  readonly queue: Pick<MemberQueue, 'wakeMembers'>;
  readonly log: Log;
  /** Clock that the routes read. Default: the system clock. */
  readonly clock?: Clock;
}

/** Body of a request that forces an update. Both dates are inclusive. */
export const rangeSchema = lenientObject({ from: momentSchema.nullish(), to: momentSchema.nullish() });

const MICROS_PER_MILLI = 1000;

export const INSTANTS_QUERY = declareQuery({
  cron: required(
    parsedParameter(
      'Cron expression, as in `schedule` of a formula.',
      z.string().meta({ examples: ['15 6 * * 1-5'] }),
      (text) => (hasNextInstant(text) ? text : undefined),
      CRON_RULE,
    ),
  ),
  timeZoneId: required(
    parsedParameter(
      'Time zone of the expression.',
      z.string().meta({ examples: ['Europe/Amsterdam'] }),
      (text) => timeZoneSchema.safeParse(text).data,
      'must be an IANA or Windows time zone',
    ),
  ),
  from: momentParameter(
    'Earliest instant to return, inclusive. For example, pass the `validFrom` of a formula. Past instants are never ' +
      'returned, even when this parameter is in the past.',
  ),
  until: momentParameter('Latest instant, exclusive.'),
  count: integerParameter('Maximum number of instants.', { min: 1, max: 100, default: 5 }),
});

const VARIABLES_OF = {
  Site: 'select variable.id from variable join source on source.id = variable.source_id where source.site_id = $1',
  Source: 'select id from variable where source_id = $1',
  Variable: 'select id from variable where id = $1',
} as const;

const OWNERS_OF = { Site: 'siteIds', Source: 'sourceIds', Variable: 'variableIds' } as const;

const FORCED = [
  ['/variables/:id', VARIABLE],
  ['/sources/:id', SOURCE],
  ['/sites/:id', SITE],
] as const;

/** Creates the routes that force and stop updates, show current and waiting runs, and list instants (R-H5, R-H8). */
export function updateRoutes(services: UpdateRouteServices): Hono<CallerEnv & RequestIdEnv> {
  const { database, clock = systemClock } = services;
  const manager = requireRole('MANAGER');
  const routes = new Hono<CallerEnv & RequestIdEnv>()
    .get('/calculated/instants', (c) => {
      const { cron, timeZoneId, from, until, count } = INSTANTS_QUERY.parse(c.req.url);
      const millisOf = (moment: ParsedMoment) => (toMicros(moment, timeZoneId) ?? 0) / MICROS_PER_MILLI;
      const now = clock.nowMillis();
      // Begins before the first millisecond from `from` on, because `nextInstants` returns only instants after `begin`.
      const begin = from ? Math.max(now, Math.ceil(millisOf(from)) - 1) : now;
      const end = until ? millisOf(until) : Number.POSITIVE_INFINITY;
      const instants = nextInstants(cron, timeZoneId, begin, count).filter((millis) => millis < end);
      return c.json({ timeZoneId, instants: instants.map((millis) => formatInstant(millis * MICROS_PER_MILLI)) });
    })
    .get('/variables/:id/updateState', async (c) => {
      const { id } = await getResource(database, VARIABLE, c.var.caller, parsePathId(c, 'id'));
      return c.json(await readUpdateState(database, id));
    });
  for (const [path, resource] of FORCED) {
    routes.post(`${path}/forceUpdate`, manager, forceUpdateHandler(services, resource));
    routes.post(`${path}/stopUpdate`, manager, stopUpdateHandler(services, resource));
  }
  return routes;
}

function stopUpdateHandler({ database }: UpdateRouteServices, resource: Resource) {
  return async (c: Context<CallerEnv>) => {
    const { caller } = c.var;
    const id = parsePathId(c, 'id');
    const runIds = await withTransaction(database, async (transaction) => {
      await getResource(transaction, resource, caller, id);
      const { rows } = await transaction.query<{ id: number }>(VARIABLES_OF[resource.kind], [id]);
      const variableIds = rows.map((row) => row.id);
      return stopUpdates(transaction, caller, variableIds);
    });
    return c.json({ runIds });
  };
}

function forceUpdateHandler({ database, queue, log }: UpdateRouteServices, resource: Resource) {
  return async (c: Context<CallerEnv & RequestIdEnv>) => {
    const id = parsePathId(c, 'id');
    const hasBody = c.req.raw.body !== null && c.req.header('content-type') !== undefined;
    const given = parseInput(rangeSchema, hasBody ? await readJsonBody(c.req.raw) : {});
    const { instants, dateZone } = await settleMoments(
      database,
      c.var.caller,
      { [OWNERS_OF[resource.kind]]: [id] },
      given,
    );
    const { from, to } = instants;
    if (from !== undefined && to !== undefined && from > to) {
      const message = `must not be later than "to" (${formatInstant(to)}), got ${formatInstant(from)}`;
      throw invalidInput([{ path: '$.from', message }]);
    }
    setDateZone(c, dateZone);
    const range = { from: formatOptional(from), to: formatOptional(to) };
    const variableIds = await withTransaction(database, (transaction) =>
      force(transaction, c.var, resource, id, range),
    );
    const { accountId } = c.var.caller;
    const isWoken = await wakeTurns(
      queue,
      variableIds.map((variableId) => toTurn({ variableId, accountId, isBackground: true })),
    );
    if (!isWoken) {
      const { requestId } = c.var;
      log.warn({ requestId, accountId }, 'the calculators could not be woken; their sweeps find the forced updates');
    }
    return c.json({ variableIds });
  };
}

async function force(
  transaction: Transaction,
  { caller, requestId }: (CallerEnv & RequestIdEnv)['Variables'],
  resource: Resource,
  id: number,
  range: { readonly from: string | undefined; readonly to: string | undefined },
): Promise<readonly number[]> {
  await getResource(transaction, resource, caller, id);
  const { rows } = await transaction.query<{ id: number }>(VARIABLES_OF[resource.kind], [id]);
  const variableIds = await forceUpdate(
    transaction,
    rows.map((row) => row.id),
    range,
    requestId,
  );
  if (resource.kind === 'Variable' && variableIds.length === 0) {
    throw new DomainError('conflict', `variable ${id} is not a calculated variable`);
  }
  const asked = { [`${resource.kind.toLowerCase()}Id`]: id, ...range };
  const payload = { ...asked, variables: await findWithParents(transaction, variableIds) };
  await appendEvents(transaction, [{ accountId: caller.accountId, type: 'CalculationForceUpdate', payload }]);
  return variableIds;
}

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    CalculationForceUpdate: { readonly variables: readonly unknown[] };
  }
}

/** Reads the ids of the variables and of their sources and sites, for events. */
async function findWithParents(transaction: Transaction, variableIds: readonly number[]): Promise<readonly unknown[]> {
  const { rows } = await transaction.query(
    `select variable.id as "variableId", source_id as "sourceId", site_id as "siteId"
     from variable join source on source.id = variable.source_id where variable.id = any($1::int[]) order by variable.id`,
    [variableIds],
  );
  return rows;
}
