/**
 * Report on the installation for its operator (`GET /admin/operate`). Every query uses an index, reads a limited number
 * of rows, or reads a small table, so the call stays cheap.
 */
import { type Database, withTransaction } from '../../platform/database/database.ts';

/**
 * Only this many of the newest runs, and of the newest rows of `push_operation`, are examined. A row can stand for
 * several pushes.
 */
const MAX_EXAMINED = 20_000;
/** Maximum age in hours of the runs and pushes examined. */
const EXAMINED_HOURS = 24;
const MAX_ITEMS = 20;
const TIMEOUT_MS = 5000;

/** The open connections of the main database pools of all processes that were started with the same roles. */
export interface ConnectedRoles {
  /** Names of the roles, separated by spaces, such as `api ingester`. */
  readonly roles: string;
  readonly connections: number;
  /** Instant at which the oldest connection was opened. */
  readonly since: string;
}

export interface RunFigures {
  readonly examined: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Runs in progress. */
  readonly running: number;
  /** Median and 95th percentile of the seconds from the start of a run to its end; null when no run was examined. */
  readonly medianSeconds: number | null;
  readonly p95Seconds: number | null;
  /** Median of the seconds from the request of a run to its start; null when no run was examined. */
  readonly medianWaitSeconds: number | null;
}

export interface SlowScript {
  readonly variableId: number;
  readonly name: string;
  readonly accountId: number;
  readonly accountName: string;
  readonly runs: number;
  readonly meanSeconds: number;
  readonly totalSeconds: number;
}

export interface BusyAccount {
  readonly accountId: number;
  readonly accountName: string;
  readonly pushes: number;
  readonly readings: number;
  readonly rejectedElements: number;
  readonly runs: number;
  readonly runSeconds: number;
}

export interface RegisteredClient {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  readonly isPublic: boolean;
  readonly createdDate: string;
}

export interface SigningKeyState {
  readonly kid: string;
  readonly algorithm: string;
  readonly state: 'active' | 'retired';
  readonly createdDate: string;
}

export interface InstallationReport {
  readonly roles: readonly ConnectedRoles[];
  readonly runs: RunFigures;
  readonly slowestScripts: readonly SlowScript[];
  readonly busiestAccounts: readonly BusyAccount[];
  readonly clients: readonly RegisteredClient[];
  readonly signingKeys: readonly SigningKeyState[];
}

/** SQL for an instant as ISO 8601 text in UTC, to the second. */
const instantSql = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const ROLES = `
  select btrim(substr(application_name, length('tidemark') + 1)) as roles, count(*)::int as connections,
    ${instantSql('min(backend_start)')} as since
  from pg_stat_activity
  where datname = current_database() and usename = current_user and application_name like 'tidemark %'
  group by roles order by roles`;

const RECENT_RUNS = `
  with recent as materialized (
    select variable_id, account_id, state, requested_date, started_date,
      -- A clock that was set back would give a negative duration.
      greatest(0, extract(epoch from finished_date - started_date))::float8 as seconds
    from (select * from calculation_run order by id desc limit ${MAX_EXAMINED}) newest
    where finished_date > now() - make_interval(hours => ${EXAMINED_HOURS})
  )`;

const RUNS = `${RECENT_RUNS}
  select count(*)::int as examined, count(*) filter (where state = 'Succeeded')::int as succeeded,
    count(*) filter (where state = 'Failed')::int as failed,
    (select count(*)::int from calculation_run where state = 'Running') as running,
    percentile_cont(0.5) within group (order by seconds) as "medianSeconds",
    percentile_cont(0.95) within group (order by seconds) as "p95Seconds",
    percentile_cont(0.5) within group (order by greatest(0, extract(epoch from started_date - requested_date))::float8)
      as "medianWaitSeconds"
  from recent`;

const SLOWEST = `${RECENT_RUNS}, slowest as (
    select variable_id, count(*)::int as runs, avg(seconds) as mean, sum(seconds) as total
    from recent group by variable_id order by mean desc limit ${MAX_ITEMS}
  )
  select variable.id as "variableId", coalesce(variable.name, '') as name, account.id as "accountId",
    account.name as "accountName", runs, mean as "meanSeconds", total as "totalSeconds"
  from slowest join variable on variable.id = variable_id join account on account.id = variable.account_id
  order by mean desc, variable.id`;

const BUSIEST = `${RECENT_RUNS}, run as (
    select account_id, count(*)::int as runs, sum(seconds) as run_seconds from recent group by account_id
  ), push as (
    select account_id, sum(coalesce(cardinality(member_elements), 1))::int as pushes, sum(accepted_readings)::int8 as readings,
      sum(jsonb_array_length(rejected))::int8 as rejected
    from (select * from push_operation order by id desc limit ${MAX_EXAMINED}) newest
    where accepted_date > now() - make_interval(hours => ${EXAMINED_HOURS}) group by account_id
  )
  select account.id as "accountId", account.name as "accountName", coalesce(pushes, 0) as pushes,
    coalesce(readings, 0) as readings, coalesce(rejected, 0) as "rejectedElements", coalesce(runs, 0) as runs,
    coalesce(run_seconds, 0) as "runSeconds"
  from push full join run using (account_id) join account on account.id = account_id
  order by readings desc, "runSeconds" desc, account.id limit ${MAX_ITEMS}`;

const CLIENTS = `
  select client_id as "clientId", allowed_scopes as scopes, grant_types as "grantTypes", secret_hash is null as "isPublic",
    ${instantSql('created_date')} as "createdDate"
  from oidc_client order by client_id limit 1000`;

const KEYS = `
  select kid, algorithm, state, ${instantSql('created_date')} as "createdDate"
  from signing_key order by created_date desc limit 100`;

/** @returns the report on the installation, which covers all accounts. */
export function readInstallation(database: Database): Promise<InstallationReport> {
  const read = async (transaction: Pick<Database, 'query'>): Promise<InstallationReport> => {
    const rowsOf = async <Row extends object>(sql: string) => (await transaction.query<Row>(sql)).rows;
    const [runs] = await rowsOf<RunFigures>(RUNS);
    if (!runs) throw new Error('the query for statistics of recent runs returned no row');
    return {
      roles: await rowsOf<ConnectedRoles>(ROLES),
      runs,
      slowestScripts: await rowsOf<SlowScript>(SLOWEST),
      busiestAccounts: await rowsOf<BusyAccount>(BUSIEST),
      clients: await rowsOf<RegisteredClient>(CLIENTS),
      signingKeys: await rowsOf<SigningKeyState>(KEYS),
    };
  };
  return withTransaction(database, read, { readOnly: true, statementTimeoutMs: TIMEOUT_MS });
}
