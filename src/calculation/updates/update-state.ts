/**
 * Reads the update state of a variable: its current run, its waiting requests, and how long its runs usually take
 * (R-H8).
 */
import type { Queryable } from '../../platform/database/database.ts';

/** The median duration is taken over at most this many of the latest successful runs. */
const MEASURED_RUNS = 20;

const RUNNING = `
  select id as "runId", trigger, from_date as "from", to_date as "to", started_date as "startedDate"
  from calculation_run where variable_id = $1 and state = 'Running'`;

// The order is deterministic: no two waiting requests of a variable have the same `attempt`.
const WAITING = `
  select trigger, from_date as "from", to_date as "to", requested_date as "requestedDate",
         not_before_date as "notBeforeDate", attempt
  from calculation_request where variable_id = $1 order by wave, attempt`;

const USUAL = `
  select (percentile_cont(0.5) within group (order by extract(epoch from finished_date - started_date)) * 1000)::float8
           as "usualMs"
  from (select started_date, finished_date from calculation_run
        where variable_id = $1 and state = 'Succeeded' order by id desc limit $2) latest`;

export interface UpdateState {
  readonly running: {
    readonly runId: number;
    readonly trigger: string;
    readonly from: string;
    readonly to: string;
    readonly startedDate: string;
  } | null;
  readonly waiting: readonly {
    readonly trigger: string;
    readonly from: string;
    readonly to: string;
    readonly requestedDate: string;
    /** Earliest instant at which the run may start; later than `requestedDate` for a delayed request. */
    readonly notBeforeDate: string;
    readonly attempt: number;
  }[];
  /** Median duration of the latest successful runs, in milliseconds; null when no run has succeeded. */
  readonly usualMs: number | null;
}

/** @returns the update state of a variable. Does not check whether the user may read the variable. */
export async function readUpdateState(queryable: Queryable, variableId: number): Promise<UpdateState> {
  const running = await queryable.query<NonNullable<UpdateState['running']>>(RUNNING, [variableId]);
  const waiting = await queryable.query<UpdateState['waiting'][number]>(WAITING, [variableId]);
  const usual = await queryable.query<{ usualMs: number | null }>(USUAL, [variableId, MEASURED_RUNS]);
  return {
    running: running.rows[0] ?? null,
    waiting: waiting.rows,
    usualMs: usual.rows[0]?.usualMs ?? null,
  };
}
