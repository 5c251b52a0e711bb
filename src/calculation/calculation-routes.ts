/** Runs, saved declarations and forced updates of calculated variables (R-H5, R-H8, R-H12). */
import { type Context, Hono } from 'hono';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import { type Database, type Transaction, withTransaction } from '../platform/database/database.ts';
import { appendEvents } from '../platform/database/outbox.ts';
import { DomainError } from '../platform/errors.ts';
import { readJsonBody } from '../platform/http/http-body.ts';
import { invalidInput, lenientObject, momentSchema, parseInput } from '../platform/http/lenient.ts';
import { isTotalWanted, setTotalCount } from '../platform/http/listing-response.ts';
import { PAGING, pageOffset, toPaging } from '../platform/http/paging.ts';
import { declareQuery } from '../platform/http/query.ts';
import { integerParameter } from '../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import type { MemberQueue } from '../platform/queue.ts';
import { answerListing, type ListingServices } from '../platform/streaming/stream-listing.ts';
import { formatOptional, setDateZone, settleMoments } from '../selection/date-zone.ts';
import { getResource, type Resource } from '../structure/resource.ts';
import { parsePathId } from '../structure/resource-routes.ts';
import { SITE } from '../structure/site.ts';
import { SOURCE } from '../structure/source.ts';
import { VARIABLE } from '../structure/variable.ts';
import { askCalculator } from './authoring/ask-calculator.ts';
import { authoringRoutes, findVariable } from './authoring/authoring-routes.ts';
import { countSaves, listSaves } from './declaration/declaration-history.ts';
import { countRuns, findRun, listRuns } from './run/runs.ts';
import { forceUpdate, toTurn } from './schedule/request-calculations.ts';
import { wakeTurns } from './turns/turn-wake-ups.ts';

export interface CalculationRouteServices extends ListingServices {
  readonly database: Database;
  readonly queue: Pick<MemberQueue, 'wakeMembers' | 'countWorkers'>;
  readonly log: Log;
}

export const RUN_LIST = declareQuery(
  { ...PAGING, itemsPerPage: integerParameter('Runs per page.', { min: 1, default: 100 }) },
  { isListing: true },
);

/** Maximum declarations per page. A declaration can take several megabytes. */
const MAX_SAVES = 1000;
export const SAVE_LIST = declareQuery(
  {
    ...PAGING,
    itemsPerPage: integerParameter('Saved declarations per page.', { min: 1, max: MAX_SAVES, default: 100 }),
  },
  { isListing: true },
);

/** Body of a forced update; both dates inclusive. */
export const rangeSchema = lenientObject({ from: momentSchema.nullish(), to: momentSchema.nullish() });

const VARIABLES_OF = {
  Site: 'select variable.id from variable join source on source.id = variable.source_id where source.site_id = $1',
  Source: 'select id from variable where source_id = $1',
  Variable: 'select id from variable where id = $1',
} as const;

const OWNERS_OF = { Site: 'siteIds', Source: 'sourceIds', Variable: 'variableIds' } as const;

/** Routes of runs, saved declarations and forced updates (R-H5, R-H8, R-H12). */
export function calculationRoutes(services: CalculationRouteServices): Hono<CallerEnv & RequestIdEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<CallerEnv & RequestIdEnv>()
    .get('/variables/:id/runs', async (c) => {
      const { caller } = c.var;
      const variable = await getResource(database, VARIABLE, caller, parsePathId(c, 'id'));
      if (isTotalWanted(c)) setTotalCount(c, await countRuns(database, caller.accountId, variable.id));
      const page = toPaging(RUN_LIST.parse(c.req.url));
      return answerListing(c, services, caller.accountId, listRuns(caller, variable.id), page);
    })
    .get('/sources/:sourceId/variables/:id/calculated/history', async (c) => {
      const { caller } = c.var;
      const { accountId } = caller;
      const { pageNumber, itemsPerPage: limit } = SAVE_LIST.parse(c.req.url);
      const { id } = await findVariable(services, c, caller);
      if (isTotalWanted(c)) setTotalCount(c, await countSaves(database, accountId, id));
      return answerListing(c, services, accountId, listSaves(accountId, id), {
        limit,
        offset: pageOffset(limit, pageNumber),
      });
    })
    .get('/runs/:id', async (c) => {
      const { caller } = c.var;
      const id = parsePathId(c, 'id');
      const run = await findRun(database, caller, id);
      if (run && (await isVisible(database, caller, run.variableId))) return c.json(run);
      throw new DomainError('not_found', `run ${id} does not exist`);
    })
    .get('/runs/:id/replay', manager, async (c) => {
      const { caller } = c.var;
      const runId = parsePathId(c, 'id');
      const run = await findRun(database, caller, runId);
      if (!run || !(await isVisible(database, caller, run.variableId))) {
        throw new DomainError('not_found', `run ${runId} does not exist`);
      }
      const task = { kind: 'replay', runId } as const;
      const question = { accountId: caller.accountId, variableId: run.variableId, task };
      const { answer = {} } = await askCalculator(services, question, c.req.raw.signal);
      if (answer.error !== undefined) throw new DomainError('conflict', String(answer.error));
      return c.json(answer);
    })
    .post('/variables/:id/forceUpdate', manager, forceUpdateHandler(services, VARIABLE))
    .post('/sources/:id/forceUpdate', manager, forceUpdateHandler(services, SOURCE))
    .post('/sites/:id/forceUpdate', manager, forceUpdateHandler(services, SITE))
    .route('/', authoringRoutes(services));
}

/** A caller who may not see the variable gets 404 for its runs, as if there were none (R-B9). */
async function isVisible(database: Database, caller: Caller, variableId: number): Promise<boolean> {
  try {
    await getResource(database, VARIABLE, caller, variableId);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') return false;
    throw error;
  }
}

function forceUpdateHandler({ database, queue, log }: CalculationRouteServices, resource: Resource) {
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
      throw invalidInput([{ path: '$.from', message: 'must not be later than to' }]);
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
      log.warn({ requestId }, 'the calculators were not woken; their sweeper finds the requests');
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
    throw new DomainError('conflict', `variable ${id} is not calculated`);
  }
  const asked = { [`${resource.kind.toLowerCase()}Id`]: id, ...range };
  const payload = { ...asked, variables: await findWithParents(transaction, variableIds) };
  await appendEvents(transaction, [{ accountId: caller.accountId, type: 'CalculationForceUpdate', payload }]);
  return variableIds;
}

declare module '../platform/database/outbox.ts' {
  interface OutboxEvents {
    CalculationForceUpdate: { readonly variables: readonly unknown[] };
  }
}

/** Variables as events carry them: with their source and site. */
async function findWithParents(transaction: Transaction, variableIds: readonly number[]): Promise<readonly unknown[]> {
  const { rows } = await transaction.query(
    `select variable.id as "variableId", source_id as "sourceId", site_id as "siteId"
     from variable join source on source.id = variable.source_id where variable.id = any($1::int[]) order by variable.id`,
    [variableIds],
  );
  return rows;
}
