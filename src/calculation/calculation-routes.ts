/** Routes of the runs and of the saved declarations of calculated variables (R-H8, R-H12). */
import { Hono } from 'hono';
import { type CallerEnv, requireRole } from '../identity/authentication/authenticate.ts';
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { isTotalWanted, setTotalCount } from '../platform/http/listing-response.ts';
import { PAGING, pageOffset, toPaging } from '../platform/http/paging.ts';
import { declareQuery } from '../platform/http/query.ts';
import { choicesParameter, integerParameter, momentParameter } from '../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../platform/http/request-id.ts';
import type { Log } from '../platform/log.ts';
import type { MemberQueue } from '../platform/queue.ts';
import { answerListing, type ListingServices } from '../platform/streaming/stream-listing.ts';
import { formatOptional, setDateZone, settleMoments } from '../selection/date-zone.ts';
import { getResource } from '../structure/resource.ts';
import { parsePathId } from '../structure/resource-routes.ts';
import { VARIABLE } from '../structure/variable.ts';
import { askCalculator } from './authoring/ask-calculator.ts';
import { authoringRoutes, findVariable } from './authoring/authoring-routes.ts';
import { countSaves, listSaves } from './declaration/declaration-history.ts';
import { countRuns, findRun, listRuns, RUN_STATES, RUN_TRIGGERS, type RunRecord } from './run/runs.ts';
import { updateRoutes } from './updates/update-routes.ts';
import { readWave } from './updates/wave.ts';

export interface CalculationRouteServices extends ListingServices {
  readonly database: Database;
  readonly queue: Pick<MemberQueue, 'wakeMembers' | 'countWorkers'>;
  readonly log: Log;
}

export const RUN_LIST = declareQuery(
  {
    ...PAGING,
    itemsPerPage: integerParameter('Runs per page.', { min: 1, default: 100 }),
    states: choicesParameter('Returns only the runs that have one of these states.', RUN_STATES),
    triggers: choicesParameter('Returns only the runs that have one of these triggers.', RUN_TRIGGERS),
    from: momentParameter(
      'Returns only the runs that started at or after this date. If `from` or `to` has no time zone, it is in the local time of the source.',
    ),
    to: momentParameter('Returns only the runs that started at or before this date.'),
  },
  { isListing: true },
);

/**
 * Maximum number of saved declarations per page. The number is limited because a declaration can be several megabytes
 * in size.
 */
const MAX_SAVES = 1000;
export const SAVE_LIST = declareQuery(
  {
    ...PAGING,
    itemsPerPage: integerParameter('Saved declarations per page.', { min: 1, max: MAX_SAVES, default: 100 }),
  },
  { isListing: true },
);

/** Routes of runs, saved declarations, updates and the tools for authors (R-H5, R-H8, R-H9, R-H12). */
export function calculationRoutes(services: CalculationRouteServices): Hono<CallerEnv & RequestIdEnv> {
  const { database } = services;
  const manager = requireRole('MANAGER');
  return new Hono<CallerEnv & RequestIdEnv>()
    .get('/variables/:id/runs', async (c) => {
      const { caller } = c.var;
      const { id } = await getResource(database, VARIABLE, caller, parsePathId(c, 'id'));
      const { states, triggers, from, to, ...paging } = RUN_LIST.parse(c.req.url);
      const { instants, dateZone } = await settleMoments(database, caller, { variableIds: [id] }, { from, to });
      setDateZone(c, dateZone);
      const filter = { states, triggers, from: formatOptional(instants.from), to: formatOptional(instants.to) };
      if (isTotalWanted(c)) setTotalCount(c, await countRuns(database, caller.accountId, id, filter));
      return answerListing(c, services, caller.accountId, listRuns(caller, id, filter), toPaging(paging));
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
      return c.json(await getRun(database, caller, parsePathId(c, 'id')));
    })
    .get('/runs/:id/wave', async (c) => {
      const { caller } = c.var;
      const { wave, variableId } = await getRun(database, caller, parsePathId(c, 'id'));
      return c.json(await readWave(database, caller, wave, variableId));
    })
    .get('/runs/:id/replay', manager, async (c) => {
      const { caller } = c.var;
      const runId = parsePathId(c, 'id');
      const run = await getRun(database, caller, runId);
      const task = { kind: 'replay', runId } as const;
      const question = { accountId: caller.accountId, variableId: run.variableId, task };
      const { answer = {} } = await askCalculator(services, question, c.req.raw.signal);
      if (answer.error !== undefined) throw new DomainError('conflict', String(answer.error));
      return c.json(answer);
    })
    .route('/', updateRoutes(services))
    .route('/', authoringRoutes(services));
}

async function getRun(database: Database, caller: Caller, id: number): Promise<RunRecord> {
  const run = await findRun(database, caller, id);
  if (run && (await isVisible(database, caller, run.variableId))) return run;
  throw new DomainError('not_found', `run ${id} does not exist`);
}

/** @returns false when the caller may not see the variable: requests for its runs are then answered with 404 (R-B9). */
async function isVisible(database: Database, caller: Caller, variableId: number): Promise<boolean> {
  try {
    await getResource(database, VARIABLE, caller, variableId);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') return false;
    throw error;
  }
}
