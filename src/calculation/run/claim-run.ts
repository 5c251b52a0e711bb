/**
 * Claims runs. Only the session that holds the advisory lock of a variable may run the variable. If no session holds
 * the lock, a run in state Running counts as abandoned. The next claim of the variable ends this run, and requests it
 * again unless all attempts are used.
 */
import { type Connection, inTransaction, type Queryable, type Transaction } from '../../platform/database/database.ts';
import { eventLiteral } from '../../platform/database/outbox.ts';
import {
  delayRequests,
  isDue,
  MAX_ATTEMPTS,
  type RequestedRun,
  type RunRequest,
  requestAgain,
  toTurn,
} from '../schedule/request-calculations.ts';
import type { Turn } from '../turns/fair-queue.ts';
import { announceEnd } from './announce-end.ts';

export const RUN_LOCK_CLASS = 0x7275;

export interface ClaimedRun extends RunRequest {
  readonly id: number;
  /** Time from the request of the run to the start of the run, in milliseconds. */
  readonly waitMs: number;
}

const micros = (column: string, name: string) => `(extract(epoch from ${column}) * 1000000)::int8 as "${name}"`;

const RUN_COLUMNS = `id, variable_id as "variableId", account_id as "accountId", trigger, wave, attempt, ancestors,
  causes, request_id as "requestId", is_background as "isBackground",
  ${micros('from_date', 'fromMicros')}, ${micros('to_date', 'toMicros')}, ${micros('trigger_date', 'triggerMicros')},
  (extract(epoch from started_date - requested_date) * 1000)::int8 as "waitMs"`;

// True when the database has restarted since the run started. The run then does not count as an attempt (R-A15). A
// crash renews `stats_reset`; an orderly restart renews the server's start time.
const HAS_RESTARTED = `
  (select greatest(pg_postmaster_start_time(), stats_reset) from pg_stat_bgwriter) > calculation_run.started_date`;

const ABANDON = `
  update calculation_run
  set state = case when ${HAS_RESTARTED} or attempt + 1 < $2 then 'Abandoned' else 'Failed' end,
      outcome = 'abandoned', finished_date = clock_timestamp(),
      message = case
        when ${HAS_RESTARTED} then 'the database restarted before the run ended; the run will be repeated'
        when attempt + 1 < $2 then 'the calculator stopped before the run ended; the run will be repeated'
        else 'the calculator stopped before the run ended; the run is not repeated after ' || $2 || ' attempts' end
  where variable_id = $1 and state = 'Running' returning ${RUN_COLUMNS}, ${HAS_RESTARTED} as "hasRestarted"`;

// Dependency order (R-H5): a wave is all runs that one change triggers. A request waits while an upstream variable has
// a request or a run in the same or an earlier wave. It also waits while the outbox holds an upstream result of the
// same wave. It does not wait for later waves: if it did, the readers of an input that changes all the time would never
// run. Among the requests that need not wait, the request with the most attempts comes first. While one request of a
// variable is paused between its attempts, no request of this variable is due (`isDue`).
const CLAIM = `
  with recursive upstream (id) as (
    select input_variable_id from variable_input where variable_id = $1 and input_variable_id <> $1
    union
    select edge.input_variable_id from upstream join variable_input edge on edge.variable_id = upstream.id
    where edge.input_variable_id <> $1
  ),
  first as (
    select attempt from calculation_request mine
    where variable_id = $1 and ${isDue('mine')}
      and not exists (
        select from calculation_request other join upstream on upstream.id = other.variable_id
        where other.wave <= mine.wave)
      and not exists (
        select from calculation_run run join upstream on upstream.id = run.variable_id
        where run.state = 'Running' and run.wave <= mine.wave)
      and not exists (
        select from outbox_event event
        cross join jsonb_array_elements(
          case when event.type = ${eventLiteral('DataPointsWritten')} then event.payload -> 'variables' end) written
        join upstream on upstream.id = (written ->> 'variableId')::int
        where (event.payload ->> 'wave')::int8 = mine.wave)
    order by attempt desc limit 1
  ),
  request as (
    delete from calculation_request mine using first
    where mine.variable_id = $1 and mine.attempt = first.attempt
    returning mine.*
  )
  insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
                               default_version, requested_date, ancestors, request_id, is_background,
                               causes)
  select variable_id, account_id, 'Running', trigger, from_date, to_date, trigger_date, wave, attempt, $2, requested_date,
         ancestors, request_id, is_background, causes
  from request returning ${RUN_COLUMNS}`;

const MAX_DUE_PER_ACCOUNT = 1000;

// Finds a random sample of the due requests of each account, and all abandoned runs. The sample is random because
// requests that wait for an upstream run are due as well. In a fixed order, these requests could hide the requests that
// can run.
const FIND_DUE = `
  with recursive account (id) as (
    (select account_id from calculation_request order by account_id limit 1)
    union all
    select (select min(account_id) from calculation_request where account_id > account.id)
    from account where account.id is not null
  )
  select due.variable_id as "variableId", account.id as "accountId", due.is_background as "isBackground"
  from account cross join lateral (
    select variable_id, is_background from calculation_request request
    where request.account_id = account.id and ${isDue('request', 'now()')} order by random() limit $1) due
  union all
  select variable_id, account_id, is_background from calculation_run run
  where state = 'Running' and not exists (
    select from pg_locks
    where locktype = 'advisory' and objsubid = 2 and classid = ${RUN_LOCK_CLASS} and objid = run.variable_id::oid
      and database = (select oid from pg_database where datname = current_database()))`;

/**
 * Ends the abandoned runs of a variable, then turns a due request of the variable into a run. The caller must hold the
 * variable's lock.
 * @param defaultVersion the Version that rows without a Version get in this run (§9.4).
 * @returns undefined when no request is due, or every due request waits for an upstream variable.
 */
export async function claimRun(
  connection: Connection,
  variableId: number,
  defaultVersion: string,
): Promise<ClaimedRun | undefined> {
  return inTransaction(connection, async (transaction) => {
    await abandonRuns(transaction, variableId);
    const { rows } = await transaction.query<ClaimedRun>(CLAIM, [variableId, defaultVersion]);
    return rows[0];
  });
}

/**
 * @returns one turn for each due request (for at most 1000 requests per account) and one turn for each abandoned run.
 */
export async function findDueTurns(queryable: Queryable): Promise<readonly Turn[]> {
  const { rows } = await queryable.query<RequestedRun>(FIND_DUE, [MAX_DUE_PER_ACCOUNT]);
  return rows.map(toTurn);
}

/** @returns one turn for each due request of the variable. */
export async function findTurnsOf(queryable: Queryable, variableId: number): Promise<readonly Turn[]> {
  const text = `
    select variable_id as "variableId", account_id as "accountId", is_background as "isBackground"
    from calculation_request request where variable_id = $1 and ${isDue('request')}`;
  const { rows } = await queryable.query<RequestedRun>({ name: 'calculation-turns', text, values: [variableId] });
  return rows.map(toTurn);
}

interface AbandonedRun extends ClaimedRun {
  readonly hasRestarted: boolean;
}

async function abandonRuns(transaction: Transaction, variableId: number): Promise<void> {
  const { rows } = await transaction.query<AbandonedRun>(ABANDON, [variableId, MAX_ATTEMPTS]);
  for (const run of rows) {
    if (run.hasRestarted) {
      await requestAgain(transaction, { ...run, delaySec: 0 });
      continue;
    }
    const attempt = run.attempt + 1;
    // The first retry is not delayed. Later retries are delayed, because the run itself may crash the calculator.
    const delaySec = run.attempt === 0 ? 0 : 2 ** run.attempt;
    if (attempt < MAX_ATTEMPTS) await requestAgain(transaction, { ...run, attempt, delaySec });
    else {
      await delayRequests(transaction, variableId, delaySec);
      await announceEnd(transaction, run, 'CalculationFailed');
    }
  }
}
