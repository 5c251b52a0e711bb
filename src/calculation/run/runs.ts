/**
 * Reads the records of runs (R-H8). A USER sees only the inputs, ancestors and causes that this USER may read (R-B9).
 * Notes, form values and the declaration are hidden from a USER.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { isReached, readReach } from '../../identity/caller/site-reach.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { Paging } from '../../platform/http/paging.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import type { InputRecord } from '../inputs/load-inputs.ts';
import type { FormulaRecord } from './compute.ts';

/** Default number of runs per page. */
export const DEFAULT_PAGE = 100;

const COLUMNS = `id, variable_id as "variableId", state, outcome, message, trigger, from_date as "from", to_date as "to",
  trigger_date as "triggerDate", wave, attempt, default_version as "defaultVersion", requested_date as "requestedDate",
  started_date as "startedDate", finished_date as "finishedDate", ancestors, causes, formulas, inputs, notes, counts, durations as "durationsMs",
  declaration_hash as "declarationHash"`;

/**
 * SQL that estimates the size of a run as JSON in bytes, without the run's declaration. The estimate tends to be too
 * high.
 */
const BYTES = `2000 + coalesce(octet_length(message), 0) + ${['formulas', 'inputs', 'notes', 'counts', 'durations']
  .map((column) => `coalesce(octet_length(${column}::text), 0)`)
  .join(' + ')} + 12 * cardinality(ancestors || causes)`;

export const RUN_STATES = ['Running', 'Succeeded', 'Failed', 'Abandoned'] as const;
export const RUN_TRIGGERS = ['Input', 'Schedule', 'ForceUpdate', 'Form'] as const;

export type RunRecord = Readonly<Record<string, unknown>> & {
  readonly id: number;
  readonly variableId: number;
  readonly wave: number;
  readonly inputs: readonly InputRecord[];
  readonly formulas: readonly FormulaRecord[];
  /** Ids of the calculated variables whose results led to this run. */
  readonly ancestors: readonly number[];
  /** Ids of the input variables whose changes triggered the run. */
  readonly causes: readonly number[];
};

/** Selects runs of a variable. A member that is absent or is an empty list does not restrict the selection. */
export interface RunFilter {
  readonly states?: readonly string[];
  readonly triggers?: readonly string[];
  /** A run is selected if it started between `from` and `to` (both inclusive, ISO 8601). */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const FILTERED = `variable_id = $1 and account_id = $2
  and (cardinality($3::text[]) = 0 or state = any($3)) and (cardinality($4::text[]) = 0 or trigger = any($4))
  and started_date >= coalesce($5::timestamptz, '-infinity') and started_date <= coalesce($6::timestamptz, 'infinity')`;

function filterValues(accountId: number, variableId: number, filter: RunFilter): readonly unknown[] {
  const { states = [], triggers = [], from = null, to = null } = filter;
  return [variableId, accountId, states, triggers, from, to];
}

/**
 * Lists the runs of a variable, newest first, with only the parts that `caller` may see (R-H8). Does not check whether
 * `caller` may read the variable.
 */
export function listRuns(caller: Caller, variableId: number, filter: RunFilter = {}): Listing<number, RunRecord> {
  return {
    keys: `select id as key, ${BYTES} as bytes from calculation_run where ${FILTERED} order by id desc`,
    values: filterValues(caller.accountId, variableId, filter),
    read: async (queryable, ids) => {
      const { rows } = await queryable.query<RunRecord>(
        `select ${COLUMNS} from calculation_run where id = any($1::bigint[]) order by id desc`,
        [ids],
      );
      return narrowRuns(queryable, caller, rows);
    },
  };
}

/** Applies the default page size of listings of runs. */
export function pageOfRuns({ limit = DEFAULT_PAGE, offset }: Paging): Paging {
  return { limit, offset };
}

/** @returns how many recorded runs of the variable pass the filter (R-A7, R-H8). */
export async function countRuns(
  queryable: Queryable,
  accountId: number,
  variableId: number,
  filter: RunFilter = {},
): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    `select count(*) as count from calculation_run where ${FILTERED}`,
    [...filterValues(accountId, variableId, filter)],
  );
  return rows[0]?.count ?? 0;
}

/**
 * @returns a run with only the parts that `caller` may see; undefined when the account has no such run (R-H8). Does not
 *   check whether `caller` may read the variable of the run.
 */
export async function findRun(queryable: Queryable, caller: Caller, runId: number): Promise<RunRecord | undefined> {
  const { rows } = await queryable.query<RunRecord>(
    `select ${COLUMNS}, (
       select declaration from calculation_declaration kept
       where kept.account_id = run.account_id and kept.hash = declaration_hash)
     from calculation_run run where id = $1 and account_id = $2`,
    [runId, caller.accountId],
  );
  const [run] = await narrowRuns(queryable, caller, rows);
  return run && { ...run, declaration: caller.sites === 'all' ? run.declaration : null };
}

async function narrowRuns(
  queryable: Queryable,
  caller: Caller,
  runs: readonly RunRecord[],
): Promise<readonly RunRecord[]> {
  if (caller.sites === 'all' || runs.length === 0) return runs;
  const named = runs.flatMap(({ inputs, ancestors, causes }) => [
    ...inputs.map(({ variableId }) => variableId),
    ...ancestors,
    ...causes,
  ]);
  const reached = await findReached(queryable, caller, named);
  return runs.map(({ inputs, formulas, ancestors, causes, ...run }) => ({
    ...run,
    notes: {},
    inputs: inputs.filter(({ variableId }) => reached.has(variableId)),
    formulas: formulas.map((formula) => ({ ...formula, forms: [] })),
    ancestors: ancestors.filter((id) => reached.has(id)),
    causes: causes.filter((id) => reached.has(id)),
  }));
}

/** @returns the subset of the variables that the caller may read (R-B9). */
export async function findReached(
  queryable: Queryable,
  caller: Caller,
  variableIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const { siteIds, sourceIds } = readReach(caller);
  const { rows } = await queryable.query<{ id: number }>(
    `select variable.id from variable join source on source.id = variable.source_id
     where variable.id = any($1::int[]) and variable.account_id = $2
       and ${isReached('source.site_id', 'source.id', '$3', '$4')}`,
    [variableIds, caller.accountId, siteIds, sourceIds],
  );
  return new Set(rows.map(({ id }) => id));
}
