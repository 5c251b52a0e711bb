/**
 * Stops updates of variables (R-H5): ends their runs as `cancelled`, except runs that are already storing their points,
 * and removes their waiting requests. Each removed request leaves a record with its dates, so a manager can see what
 * was not calculated. The calculator notices within about half a second that its run has ended
 * (`run/run-calculation.ts`).
 */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { announceEnds, type EndedRun } from '../run/announce-end.ts';

// Skips a run whose record is locked, because the transaction that holds the lock ends the run or returns it to the
// queue. A run that is returned at this moment is not stopped.
const STOP_RUNS = `
  with chosen as (
    select id from calculation_run where variable_id = any($1::int[]) and state = 'Running'
    order by id for update skip locked
  )
  update calculation_run run
  set state = 'Failed', outcome = 'cancelled', message = $2, finished_date = clock_timestamp()
  from chosen where run.id = chosen.id returning run.id`;

const REMOVE_REQUESTS = `
  with chosen as (
    select variable_id, attempt from calculation_request where variable_id = any($1::int[])
    order by variable_id, attempt for update
  ),
  removed as (
    delete from calculation_request request using chosen
    where request.variable_id = chosen.variable_id and request.attempt = chosen.attempt returning request.*
  )
  insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
                               default_version, requested_date, finished_date, outcome, message, ancestors, causes,
                               request_id, is_background)
  select variable_id, account_id, 'Failed', trigger, from_date, to_date, trigger_date, wave, attempt, '', requested_date,
         clock_timestamp(), 'cancelled', $2, ancestors, causes, request_id, is_background
  from removed returning id`;

/**
 * Ends the runs and removes the requests of the variables. A run that is already storing its points continues.
 * @returns the ids of the run records, ascending: one for each ended run and one for each removed request.
 */
export async function stopUpdates(
  transaction: Transaction,
  caller: Caller,
  variableIds: readonly number[],
): Promise<readonly number[]> {
  const by = `stopped by ${caller.userName}; to calculate the values later, force an update over the dates of this run`;
  // To avoid deadlocks, this function locks the records of runs first and those of requests second. A calculator that
  // returns a run to the queue uses the same order.
  const ended: EndedRun[] = [];
  // The last statement ends the runs that calculators claimed between the first two. It cannot cause a deadlock, because
  // `STOP_RUNS` waits for no lock.
  for (const statement of [STOP_RUNS, REMOVE_REQUESTS, STOP_RUNS]) {
    ended.push(...(await transaction.query<EndedRun>(statement, [variableIds, by])).rows);
  }
  if (ended.length > 0) await announceEnds(transaction, ended, 'CalculationFailed');
  return ended.map(({ id }) => id).sort((a, b) => a - b);
}
