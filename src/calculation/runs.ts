/** The record of runs (R-H8), as it is read. */
import type { Queryable } from '../platform/database.ts';
import type { Paging } from '../platform/paging.ts';

const DEFAULT_PAGE = 100;

const COLUMNS = `id, variable_id as "variableId", state, outcome, message, trigger, from_date as "from", to_date as "to",
  trigger_date as "triggerDate", wave, attempt, default_version as "defaultVersion", requested_date as "requestedDate",
  started_date as "startedDate", finished_date as "finishedDate", ancestors, formulas, inputs, notes, counts, durations as "durationsMs"`;

export type RunRecord = Readonly<Record<string, unknown>> & { readonly id: number; readonly variableId: number };

/** Runs of a variable, newest first. */
export async function listRuns(
  queryable: Queryable,
  accountId: number,
  variableId: number,
  { limit = DEFAULT_PAGE, offset }: Paging,
): Promise<readonly RunRecord[]> {
  const { rows } = await queryable.query<RunRecord>(
    `select ${COLUMNS} from calculation_run where variable_id = $1 and account_id = $2 order by id desc limit $3 offset $4`,
    [variableId, accountId, limit, offset],
  );
  return rows;
}

export async function countRuns(queryable: Queryable, accountId: number, variableId: number): Promise<number> {
  const { rows } = await queryable.query<{ count: number }>(
    'select count(*) as count from calculation_run where variable_id = $1 and account_id = $2',
    [variableId, accountId],
  );
  return rows[0]?.count ?? 0;
}

/** One run of the account; undefined when there is none. */
export async function findRun(queryable: Queryable, accountId: number, runId: number): Promise<RunRecord | undefined> {
  const { rows } = await queryable.query<RunRecord>(
    `select ${COLUMNS} from calculation_run where id = $1 and account_id = $2`,
    [runId, accountId],
  );
  return rows[0];
}
