/**
 * Triggers (R-H5): creates requests to run the variables that a change affects. One transaction removes the event of a
 * write from the outbox and creates the requests. So each write is handled exactly once.
 */
import type { Transaction } from '../../platform/database/database.ts';
import type { EventConsumer, EventName, OutboxEvent } from '../../platform/database/outbox.ts';
import type { MemberQueue } from '../../platform/queue.ts';
import type { PointsWritten } from '../../points/announce-points.ts';
import { holdGate } from '../../points/columns/hold-gate.ts';
import type { Micros } from '../../points/point.ts';
import { announceEnd, type EndedRun } from '../run/announce-end.ts';
import type { Turn } from '../turns/fair-queue.ts';
import { wakeTurns } from '../turns/turn-wake-ups.ts';
import type { DueSchedule } from './schedule.ts';

// Merges a new request into the waiting request of the same variable and attempt. A wave is all runs that one change
// triggers. A request waits for upstream requests of its own wave and of older waves.
// - attempt: number of failed attempts. Requests are merged only if this number is equal. Otherwise, a failed attempt
//   for some dates would count for other dates too.
// - wave: the older one. With the newer wave, a request whose inputs change all the time might never run.
// - pause (`not_before_date`): the later one. A pause holds back all requests of the variable (`isDue`), so a new
//   change cannot end the pause.
const WIDEN = `
  on conflict (variable_id, attempt) do update
  set from_date = least(calculation_request.from_date, excluded.from_date),
      to_date = greatest(calculation_request.to_date, excluded.to_date),
      trigger_date = greatest(calculation_request.trigger_date, excluded.trigger_date),
      wave = least(calculation_request.wave, excluded.wave),
      ancestors = array(select distinct unnest(calculation_request.ancestors || excluded.ancestors)),
      causes = array(select distinct unnest(calculation_request.causes || excluded.causes)),
      trigger = excluded.trigger,
      is_background = calculation_request.is_background and excluded.is_background,
      not_before_date = greatest(calculation_request.not_before_date, excluded.not_before_date),
      request_id = coalesce(calculation_request.request_id, excluded.request_id)
  returning variable_id as "variableId", account_id as "accountId", is_background as "isBackground"`;

// `way` lists the variables whose results led to the change, so that a loop is detected (R-H11). When only results of
// background runs trigger a run, this run is a background run too.
const CHANGES = `
  with change as (
    select given.*, coalesce(result.way, '{}') as way, coalesce(result.is_background, false) as is_background
    from unnest($1::int[], $2::timestamptz[], $3::timestamptz[], $4::int8[], $5::boolean[], $6::text[])
         given (variable_id, from_date, to_date, wave, is_result, request_id)
    left join lateral (
      select run.ancestors || run.variable_id as way, run.is_background from calculation_run run
      where given.is_result and run.variable_id = given.variable_id and run.wave = given.wave
        and run.state = 'Succeeded'
      order by run.id desc limit 1
    ) result on true
  ),
  reached as (
    select edge.variable_id, variable.account_id, change.variable_id as cause, change.from_date, change.to_date, change.wave, change.way,
           change.request_id, change.is_background
    from change join variable_input edge on edge.input_variable_id = change.variable_id and edge.is_trigger
    join variable on variable.id = edge.variable_id
  )`;

const REQUEST_DEPENDENTS = `${CHANGES}
  insert into calculation_request (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave, ancestors, causes,
                                   request_id, is_background)
  select reached.variable_id, account_id, 'Input', min(from_date), max(to_date), max(to_date), max(wave),
         coalesce(array_agg(distinct ancestor) filter (where ancestor is not null), '{}'), array_agg(distinct cause),
         (array_agg(request_id order by wave) filter (where request_id is not null))[1], bool_and(is_background)
  from reached left join lateral unnest(way) ancestor on true
  where reached.variable_id <> all(way)
  group by reached.variable_id, account_id
  order by reached.variable_id
  ${WIDEN}`;

const STOP_LOOPS = `${CHANGES}
  insert into calculation_run (variable_id, account_id, state, trigger, from_date, to_date, trigger_date, wave, attempt,
                               default_version, requested_date, finished_date, outcome, message, ancestors, causes,
                               request_id)
  select variable_id, account_id, 'Failed', 'Input', from_date, to_date, to_date, wave, 0, '', clock_timestamp(),
         clock_timestamp(), 'loop',
         'the variable was reached by its own result in the same wave and is not run again; its path is variables '
           || array_to_string(way, ', '), way, array[cause], request_id
  from reached where variable_id = any(way)
  returning id`;

/**
 * SQL of the range of a run of `variable`. The range begins at the given first date, or else at the first point of the
 * inputs, or else now. The transaction must hold `point_gate`: otherwise a chunk that is compressed meanwhile would
 * look empty.
 * @param begin SQL of the first date, followed by a comma; empty when no first date is given.
 * @param end SQL of the last date.
 */
const wholeRange = (begin: string, end: string) => `
  lateral (
    select coalesce(${begin}min(first.date), now()) as from_date, ${end} as to_date
    from variable_input edge left join lateral (
      select date from point where point.variable_id = edge.input_variable_id order by date limit 1
    ) first on true
    where edge.variable_id = variable.id
  ) range`;
const NEXT_WAVE = `(select nextval(pg_get_serial_sequence('outbox_event', 'id')))`;

// When the caller gives no dates, a forced run covers the dates from the first point of its inputs until now. All runs
// that one call forces are one wave.
const FORCE = `
  insert into calculation_request (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave, request_id,
                                   is_background)
  select variable.id, variable.account_id, 'ForceUpdate', range.from_date, greatest(range.from_date, range.to_date),
         coalesce($3::timestamptz, now()), ${NEXT_WAVE}, $4, true
  from variable cross join ${wholeRange('$2::timestamptz, ', 'coalesce($3::timestamptz, now())')}
  where variable.id = any($1::int[]) and variable.calculated is not null
  order by variable.id
  ${WIDEN}`;

// A form value has no date, so the variables that a changed form value triggers are recalculated for the whole period
// from the date of the first point of their inputs until now. These runs are background runs, like forced runs.
const REQUEST_FORM_READERS = `
  with changed as (
    delete from form_change where id in (
      select id from form_change where account_id = any($1::int[]) order by id for update skip locked)
    returning variable_id
  )
  insert into calculation_request (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave, is_background)
  select variable.id, variable.account_id, 'Form', range.from_date, greatest(range.from_date, range.to_date), now(),
         ${NEXT_WAVE}, true
  from (select distinct variable_id from changed) triggered join variable on variable.id = triggered.variable_id
  cross join ${wholeRange('', 'now()')}
  where variable.calculated is not null
  order by variable.id
  ${WIDEN}`;

/** Members of a waiting request that decide its position in the queue (R-H5). */
export interface RequestedRun {
  readonly variableId: number;
  readonly accountId: number;
  /** True when only schedules, forced updates and form values caused the run, directly or through other runs. */
  readonly isBackground: boolean;
}

/** Converts a request to an entry of the fair queue (R-H5). */
export function toTurn({ variableId, accountId, isBackground }: RequestedRun): Turn {
  return { accountId, urgency: isBackground ? 'background' : 'triggered', id: variableId };
}

/** Requests a run of each variable with a due schedule (R-H5). `transaction` must also advance these schedules. */
export async function requestScheduled(transaction: Transaction, due: readonly DueSchedule[]): Promise<void> {
  const instants = (pick: (schedule: DueSchedule) => number) => due.map((it) => new Date(pick(it)).toISOString());
  await transaction.query(
    `insert into calculation_request (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave,
                                      is_background)
     select due.variable_id, variable.account_id, 'Schedule', min(first), max(last), max(last),
            (select nextval(pg_get_serial_sequence('outbox_event', 'id'))), true
     from unnest($1::int[], $2::timestamptz[], $3::timestamptz[]) due (variable_id, first, last)
     join variable on variable.id = due.variable_id
     group by due.variable_id, variable.account_id order by due.variable_id
     ${WIDEN}`,
    [
      due.map(({ variableId }) => variableId),
      instants(({ firstMillis }) => firstMillis),
      instants((it) => it.lastMillis),
    ],
  );
}

// A request waits for upstream runs. This query finds the requests downstream of ended runs, even of runs that wrote no
// points.
const FIND_WAITING_FOR = `
  with recursive downstream (id) as (
    select variable_id from variable_input where input_variable_id = any($1::int[])
    union
    select edge.variable_id from downstream join variable_input edge on edge.input_variable_id = downstream.id
  )
  select request.variable_id as "variableId", account_id as "accountId", is_background as "isBackground"
  from calculation_request request join downstream on id = variable_id`;

/**
 * Creates the outbox consumer that requests runs for committed writes and changed form values (R-H5). The calculators
 * are woken after the commit.
 */
export function calculationTrigger(queue: Pick<MemberQueue, 'wakeMembers'>): EventConsumer {
  return async (transaction, events) => {
    const requested = await requestDependents(transaction, events);
    const readers = await requestFormReaders(transaction, events);
    const waiting = await findWaitingFor(transaction, events);
    await followTimeZones(transaction, events);
    const wanted = [...requested, ...readers, ...waiting];
    return wanted.length === 0 ? undefined : () => wakeTurns(queue, wanted.map(toTurn));
  };
}

async function requestDependents(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<readonly RequestedRun[]> {
  const changes = events.filter((event) => event.type === 'DataPointsWritten').flatMap(toChanges);
  if (changes.length === 0) return [];
  const values = [
    changes.map((change) => change.variableId),
    changes.map((change) => change.from),
    changes.map((change) => change.to),
    changes.map((change) => change.wave),
    changes.map((change) => change.isResult),
    changes.map((change) => change.requestId ?? null),
  ];
  const { rows } = await transaction.query<RequestedRun>(REQUEST_DEPENDENTS, values);
  if (changes.some(({ isResult }) => isResult)) await stopLoops(transaction, values);
  return rows;
}

/**
 * Requests a run of every variable that a changed form value triggers (R-H5). A database trigger has noted these
 * variables in `form_change`.
 */
async function requestFormReaders(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<readonly RequestedRun[]> {
  const changes = events.filter(({ type }) => type === 'SiteUpdated' || type === 'SourceUpdated');
  if (changes.length === 0) return [];
  const accountIds = [...new Set(changes.map(({ accountId }) => accountId))];
  await holdGate(transaction);
  const { rows } = await transaction.query<RequestedRun>(REQUEST_FORM_READERS, [accountIds]);
  return rows;
}

/**
 * Stops loops (R-H11): if a variable's result leads back to the variable within one wave, records a failed run. At any
 * one time, the triggers of the saved declarations form no cycle. But a wave can contain runs of declarations from
 * before and after a save, so a save during the wave can close a loop.
 */
async function stopLoops(transaction: Transaction, values: readonly unknown[]): Promise<void> {
  const { rows } = await transaction.query<EndedRun>(STOP_LOOPS, [...values]);
  for (const run of rows) await announceEnd(transaction, run, 'CalculationFailed');
}

async function findWaitingFor(
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<readonly RequestedRun[]> {
  const ended = events.filter((event) => event.type === 'CalculationCompleted' || event.type === 'CalculationFailed');
  if (ended.length === 0) return [];
  const variableIds = ended.map(({ payload }) => payload.variableId);
  const { rows } = await transaction.query<RequestedRun>(FIND_WAITING_FOR, [variableIds]);
  return rows;
}

/**
 * Requests runs of calculated variables over [from, to], both inclusive; ids of other variables are ignored.
 * @param requestId id of the HTTP request (R-A10).
 * @returns the ids of the variables that will run.
 */
export async function forceUpdate(
  transaction: Transaction,
  variableIds: readonly number[],
  range: { readonly from?: string | undefined; readonly to?: string | undefined },
  requestId?: string,
): Promise<readonly number[]> {
  const values = [variableIds, range.from, range.to, requestId];
  await holdGate(transaction);
  const { rows } = await transaction.query<{ variableId: number }>(FORCE, values);
  return rows.map(({ variableId }) => variableId);
}

/** A request to run a variable: changed dates, trigger and causes. */
export interface RunRequest {
  readonly variableId: number;
  readonly accountId: number;
  readonly trigger: string;
  readonly isBackground: boolean;
  /** First and last date that the run covers, both inclusive. */
  readonly fromMicros: Micros;
  readonly toMicros: Micros;
  readonly triggerMicros: Micros;
  readonly wave: number;
  /** Calculated variables whose results passed the change on to this variable (R-H11). */
  readonly ancestors: readonly number[];
  /** Ids of the inputs whose changes triggered the run (R-H8). */
  readonly causes: readonly number[];
  readonly attempt: number;
  /** Id of the first HTTP request that caused the run (R-A10); null when none did. */
  readonly requestId: string | null;
}

export interface RequestBack extends RunRequest {
  /** Minimum time, in seconds, before the run is tried again. */
  readonly delaySec: number;
}

/**
 * Maximum attempts of a request whose runs end because the sandbox or the calculator fails. When the last attempt ends
 * for this reason too, its run is Failed, not Abandoned.
 */
export const MAX_ATTEMPTS = 5;

/**
 * @returns SQL that is true unless a request of the row's variable is paused (R-H5).
 * @param alias the SQL alias of the row; its column `variable_id` names the variable.
 * @param now the SQL expression of the current time.
 */
export const isDue = (alias: string, now = 'clock_timestamp()') => `
  not exists (select from calculation_request paused
              where paused.variable_id = ${alias}.variable_id and paused.not_before_date > ${now})`;

/**
 * Repeats the request of a run that ended without a result: the run was abandoned or handed back, or the sandbox failed
 * (R-H5). Does nothing when the variable was deleted meanwhile.
 */
export async function requestAgain(transaction: Transaction, request: RequestBack): Promise<void> {
  const instant = (parameter: string) => `to_timestamp(0) + ${parameter}::int8 * interval '1 microsecond'`;
  await transaction.query(
    `insert into calculation_request
       (variable_id, account_id, trigger, from_date, to_date, trigger_date, wave, attempt, not_before_date, ancestors,
        request_id, is_background, causes)
     select id, $2, $3, ${instant('$4')}, ${instant('$5')}, ${instant('$6')}, $7, $8,
            clock_timestamp() + $9 * interval '1 second', $10, $11, $12, $13
     from variable where id = $1
     ${WIDEN}`,
    [
      request.variableId,
      request.accountId,
      request.trigger,
      request.fromMicros,
      request.toMicros,
      request.triggerMicros,
      request.wave,
      request.attempt,
      request.delaySec,
      request.ancestors,
      request.requestId,
      request.isBackground,
      request.causes,
    ],
  );
}

/**
 * Delays the waiting requests of a variable. Call it when a run of the variable ends because the sandbox or the
 * calculator failed, and the run is not tried again. The script of the variable may have caused this failure, and may
 * cause the same failure again when it runs for the waiting requests (R-H5).
 */
export async function delayRequests(transaction: Transaction, variableId: number, delaySec: number): Promise<void> {
  await transaction.query(
    `update calculation_request
     set not_before_date = greatest(not_before_date, clock_timestamp() + $2 * interval '1 second')
     where variable_id = $1`,
    [variableId, delaySec],
  );
}

function toChanges({ id, payload }: OutboxEvent) {
  const { variables, wave, requestId } = payload as PointsWritten;
  return variables.map((variable) => ({ ...variable, wave: wave ?? id, isResult: wave !== undefined, requestId }));
}

const FORGET_NEXT = `
  update calculation_schedule set next_date = null, after_date = now()
  from variable join source on source.id = variable.source_id
  where variable.id = calculation_schedule.variable_id and calculation_schedule.time_zone_id is null
    and calculation_schedule.next_date > now()
    and (source.id = any($1::int[]) or source.site_id = any($2::int[]))`;

/**
 * Clears the next dates of schedules that use the time zone of an updated source or site (R-H5). A schedule that is
 * already due stays due.
 */
async function followTimeZones(transaction: Transaction, events: readonly OutboxEvent[]): Promise<void> {
  const idsOf = (type: EventName) => events.flatMap((event) => (event.type === type ? readId(event.payload) : []));
  const [sources, sites] = [idsOf('SourceUpdated'), idsOf('SiteUpdated')];
  if (sources.length + sites.length > 0) await transaction.query(FORGET_NEXT, [sources, sites]);
}

function readId(payload: unknown): number[] {
  const { id } = payload as { readonly id?: unknown };
  return typeof id === 'number' ? [id] : [];
}
