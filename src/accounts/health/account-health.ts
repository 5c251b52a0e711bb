/**
 * Reports what needs the attention of the users of an account (`GET /account/health`). A USER sees only variables that
 * the USER may read, only the USER's own pushes and files, and no webhooks. For every role, the counts of waiting work
 * are those of the whole account. Every query uses an index or makes one pass over the account's variables.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { isReached, readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { TIME_PERIOD, type TimePeriod } from '../../structure/catalogue/enumerations.ts';

/** Maximum number of items in each list; the count given with a list includes the items left out. */
const MAX_ITEMS = 50;
/**
 * Only this many of the newest failed runs are examined. Older failed runs are ignored. A single calculation that fails
 * every minute reaches this number in 3.5 days.
 */
const MAX_FAILED_RUNS = 5000;
/** A push or a file that has errors is reported for this many days after the service received it. */
const REPORTED_DAYS = 7;
/** A variable is silent only when its newest point is older than this many steps of the variable's granularity. */
const MISSED_STEPS = 3;

export interface HealthOptions {
  /** A variable is silent only when its newest point is older than this many hours. */
  readonly silentAfterHours: number;
}

interface VariableItem {
  readonly variableId: number;
  readonly name: string;
  readonly sourceName: string;
  readonly siteName: string;
}

export interface SilentVariable extends VariableItem {
  /**
   * Date of the newest point of the variable (`series.max_date`). If points were deleted, this date may be later than
   * the date of the newest remaining point.
   */
  readonly lastDate: string;
  readonly granularity: number;
  readonly granularityTimeBase: TimePeriod;
}

interface Items<Item> {
  readonly count: number;
  readonly items: readonly Item[];
}

interface DisabledWebhook {
  readonly id: string;
  readonly name: string;
  readonly disabledDate: string | null;
  readonly reason: string | null;
}

export interface AccountHealth {
  readonly checkedDate: string;
  readonly variables: {
    readonly total: number;
    /**
     * Number of variables with `granularity` and `granularityTimeBase`. Only these variables are checked for missing
     * points (see `silent`).
     */
    readonly watched: number;
    /** Number of watched variables without points. After a deletion of points, the number can be too low. */
    readonly empty: number;
    readonly silent: Items<SilentVariable>;
  };
  readonly calculations: Items<
    VariableItem & { readonly runId: number; readonly date: string; readonly message: string | null }
  >;
  readonly pushes: Items<{
    readonly label: string;
    readonly date: string;
    readonly state: string;
    readonly rejectedElements: number;
    readonly message: string | null;
  }>;
  readonly files: Items<{
    readonly id: string;
    readonly filename: string;
    readonly date: string;
    readonly state: string;
    readonly rejectedRows: number;
    readonly message: string | null;
  }>;
  /** Webhooks that the service disabled; absent for a USER. */
  readonly webhooks?: Items<DisabledWebhook> | undefined;
  readonly waiting: {
    readonly pushes: number;
    readonly files: number;
    readonly calculations: number;
    /** Seconds since the oldest waiting push was accepted; 0 when none waits. */
    readonly oldestPushSeconds: number;
  };
}

/** @returns the health of the caller's account, as far as the caller may see it (R-B9). */
export async function readHealth(queryable: Queryable, caller: Caller, options: HealthOptions): Promise<AccountHealth> {
  // Runs the queries one after the other, so that this call uses only one database connection at a time.
  const variables = await readVariables(queryable, caller, options);
  const calculations = await readCalculations(queryable, caller);
  const pushes = await readPushes(queryable, caller);
  const files = await readFiles(queryable, caller);
  const webhooks = caller.role === 'USER' ? undefined : await readWebhooks(queryable, caller);
  const waiting = await readWaiting(queryable, caller);
  const checkedDate = new Date().toISOString();
  return { checkedDate, variables, calculations, pushes, files, ...(webhooks && { webhooks }), waiting };
}

/** Names of the TimePeriods, in the order of their numbers (R-C8). */
const TIME_PERIODS = Object.keys(TIME_PERIOD);

/** SQL for an instant as ISO 8601 text in UTC, to the second. */
const instantSql = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/**
 * SQL condition that a variable is within the caller's reach. For a caller who sees the whole account, the query runs
 * without this condition and takes a third less time.
 */
const REACHED = `exists (select from source where source.id = variable.source_id
  and ${isReached('source.site_id', 'source.id', '$2', '$3')})`;

const IS_WATCHED = 'variable.granularity is not null and variable.granularity_time_base is not null';

/**
 * SQL for the length of one step of a variable's granularity. A month counts as 31 days, a year as 366 days. The
 * database stores the number of the TimePeriod, not its name (R-C8).
 */
const STEP = `variable.granularity * case variable.granularity_time_base
  when 0 then interval '1 ms' when 1 then interval '1 s' when 2 then interval '1 min' when 3 then interval '1 hour'
  when 4 then interval '1 day' when 5 then interval '7 days' when 6 then interval '31 days' else interval '366 days' end`;

async function readVariables(
  queryable: Queryable,
  caller: Caller,
  { silentAfterHours }: HealthOptions,
): Promise<AccountHealth['variables']> {
  const { siteIds, sourceIds } = readReach(caller);
  const { rows } = await queryable.query<AccountHealth['variables']>(
    `with watched as materialized (
       select variable.id, series.max_date, ${IS_WATCHED} as is_watched,
              ${IS_WATCHED} and series.max_date < now() - make_interval(hours => $4)
                and series.max_date < now() - ${MISSED_STEPS} * (${STEP}) as is_silent
       from variable
       left join series on series.variable_id = variable.id and series.max_date > '-infinity'
       where variable.account_id = $1 and ${siteIds === null ? '$2::int[] is null and $3::int[] is not null' : REACHED}
     ), newest as (
       select id, max_date from watched where is_silent order by max_date desc, id limit ${MAX_ITEMS}
     )
     select count(*) as total, count(*) filter (where is_watched) as watched,
       count(*) filter (where is_watched and max_date is null) as empty,
       json_build_object('count', count(*) filter (where is_silent), 'items', (
         select coalesce(json_agg(json_build_object('variableId', variable.id, 'name', variable.name,
           'sourceName', source.name, 'siteName', site.name, 'lastDate', ${instantSql('newest.max_date')},
           'granularity', variable.granularity,
           'granularityTimeBase', (array['${TIME_PERIODS.join("','")}'])[variable.granularity_time_base + 1])
           order by newest.max_date desc, newest.id), '[]')
         from newest join variable using (id) join source on source.id = variable.source_id
         join site on site.id = source.site_id)) as silent
     from watched`,
    [caller.accountId, siteIds, sourceIds, silentAfterHours],
  );
  return first(rows);
}

async function readCalculations(queryable: Queryable, caller: Caller): Promise<AccountHealth['calculations']> {
  const { siteIds, sourceIds } = readReach(caller);
  const { rows } = await queryable.query<AccountHealth['calculations']>(
    `with recent as (
       select id, variable_id, finished_date, message from calculation_run
       where account_id = $1 and state = 'Failed' order by id desc limit ${MAX_FAILED_RUNS}
     ), last_failed as (
       select distinct on (variable_id) * from recent order by variable_id, id desc
     ), failing as (
       select last_failed.id as "runId", variable.id as "variableId", variable.name, source.name as "sourceName",
         site.name as "siteName", ${instantSql('last_failed.finished_date')} as date, last_failed.message
       from last_failed
       join variable on variable.id = last_failed.variable_id and variable.account_id = $1
       join source on source.id = variable.source_id
       join site on site.id = source.site_id
       where variable.calculated is not null and ${isReached('source.site_id', 'source.id', '$2', '$3')}
         and not exists (select from calculation_run later where later.variable_id = last_failed.variable_id
           and later.id > last_failed.id and later.state = 'Succeeded')
     )
     ${itemsOf('failing', '"runId" desc')}`,
    [caller.accountId, siteIds, sourceIds],
  );
  return first(rows);
}

async function readPushes(queryable: Queryable, caller: Caller): Promise<AccountHealth['pushes']> {
  const { rows } = await queryable.query<AccountHealth['pushes']>(
    `with troubled as (
       select label, ${instantSql('accepted_date')} as date, state,
         jsonb_array_length(rejected) as "rejectedElements",
         coalesce(failure, rejected -> 0 ->> 'message') as message
       from push_operation
       where account_id = $1 and (rejected <> '[]' or failure is not null) and ($2::text is null or user_id = $2)
         and accepted_date > now() - make_interval(days => ${REPORTED_DAYS})
     )
     ${itemsOf('troubled', 'date desc')}`,
    [caller.accountId, ownOnly(caller)],
  );
  return first(rows);
}

async function readFiles(queryable: Queryable, caller: Caller): Promise<AccountHealth['files']> {
  const { rows } = await queryable.query<AccountHealth['files']>(
    `with troubled as (
       select id, filename, ${instantSql('uploaded_date')} as date, state, rejected_rows as "rejectedRows",
         coalesce(failure, (select message from stored_file_error where file_id = stored_file.id order by id limit 1))
           as message
       from stored_file
       where account_id = $1 and state in ('Failed', 'Rejected', 'PartiallyIngested')
         and ($2::text is null or user_id = $2)
         and uploaded_date > now() - make_interval(days => ${REPORTED_DAYS})
     )
     ${itemsOf('troubled', 'date desc')}`,
    [caller.accountId, ownOnly(caller)],
  );
  return first(rows);
}

async function readWebhooks(queryable: Queryable, caller: Caller): Promise<Items<DisabledWebhook>> {
  const { rows } = await queryable.query<Items<DisabledWebhook>>(
    `with disabled as (
       select id, name, ${instantSql('disabled_date')} as "disabledDate", disabled_reason as reason from webhook
       where account_id = $1 and not is_enabled and disabled_reason is not null and deleted_date is null
     )
     ${itemsOf('disabled', '"disabledDate" desc')}`,
    [caller.accountId],
  );
  return first(rows);
}

async function readWaiting(queryable: Queryable, { accountId }: Caller): Promise<AccountHealth['waiting']> {
  const { rows } = await queryable.query<AccountHealth['waiting']>(
    `select (select count(*) from push_batch where account_id = $1 and set_aside_date is null) as pushes,
       (select count(*) from stored_file where account_id = $1 and state in ('Queued', 'Processing')) as files,
       (select count(*) from calculation_request where account_id = $1) as calculations,
       coalesce((
         select extract(epoch from clock_timestamp() - operation.accepted_date)::int
         from push_batch join push_operation operation on operation.id = push_batch.operation_ids[1]
         where push_batch.account_id = $1 and push_batch.set_aside_date is null order by push_batch.place limit 1
       ), 0) as "oldestPushSeconds"`,
    [accountId],
  );
  return first(rows);
}

/** @returns SQL that selects the number of a relation's rows as `count`, and the first MAX_ITEMS rows as `items`. */
function itemsOf(relation: string, order: string): string {
  return `select (select count(*) from ${relation}) as count, (
      select coalesce(json_agg(item), '[]') from (select * from ${relation} order by ${order} limit ${MAX_ITEMS}) item
    ) as items`;
}

/**
 * @returns the caller's user id if the caller is a USER, otherwise null. A USER sees only their own pushes and files
 *   (R-D7, R-E1).
 */
function ownOnly({ role, userId }: Caller): string | null {
  return role === 'USER' ? userId : null;
}

function first<Row>([row]: readonly Row[]): Row {
  if (!row) throw new Error("a query for the account's health returned no row");
  return row;
}
