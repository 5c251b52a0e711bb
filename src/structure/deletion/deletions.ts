/**
 * Runs deletions with `hardDelete=true` as jobs (R-C7). A small job deletes the structure within the `DELETE` request.
 * A large job deletes the structure in steps in the background, so that no transaction lasts for minutes. The points
 * are removed in the background in both cases (`point_purge`).
 */
import { type Database, type Queryable, type Transaction, withTransaction } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { deleteResources, type Resource } from '../resource.ts';
import { SITE } from '../site.ts';
import { SOURCE } from '../source.ts';
import { deleteVariables } from '../variable.ts';

/**
 * Maximum number of sources plus variables that a `DELETE` request deletes before it answers. A larger deletion runs in
 * the background.
 */
const MAX_AT_ONCE = 500;
/** Maximum number of sources or variables that one step deletes. */
const STEP = 500;
const STEP_TIMEOUT_MS = 300_000;
const KEPT = `interval '30 days'`;

export type DeletionKind = Resource['kind'];

/** A job as clients read it. */
export type DeletionJob = {
  readonly id: string;
  readonly kind: DeletionKind;
  readonly targetId: number;
  readonly targetName: string;
  readonly userName: string;
  readonly requestedDate: string;
  readonly state: 'Running' | 'Completed';
  readonly variables: { readonly total: number; readonly deleted: number };
  /** Number of deleted variables whose points have not been removed yet. */
  readonly pointsPending: number;
};

const BELOW: Readonly<Record<DeletionKind, string>> = {
  Site: `select (select count(*) from source where site_id = $1) as sources,
           (select count(*) from variable join source on source.id = source_id where site_id = $1) as variables`,
  Source: 'select 0 as sources, (select count(*) from variable where source_id = $1) as variables',
  Variable: 'select 0 as sources, (select count(*) from variable where id = $1) as variables',
};

export interface NewDeletion {
  readonly accountId: number;
  readonly kind: DeletionKind;
  readonly targetId: number;
  readonly targetName: string;
  readonly userName: string;
}

export interface StartedDeletion {
  readonly id: string;
  /** Whether the structure is deleted in the background. */
  readonly isLarge: boolean;
  /** Whether the same deletion was already under way, so that no job was added. */
  readonly isRepeated: boolean;
}

/**
 * Records a deletion as a job, or finds the job when the same deletion is under way. The row of the target must be
 * locked. Also removes old jobs: those that finished deleting the structure more than 30 days ago and have no points
 * left to remove.
 * @throws {Error} when the job was neither added nor found.
 */
export async function startDeletion(
  transaction: Transaction,
  { accountId, kind, targetId, targetName, userName }: NewDeletion,
): Promise<StartedDeletion> {
  await transaction.query(
    `delete from deletion where structure_deleted_date < now() - ${KEPT}
       and not exists (select from point_purge where deletion_id = deletion.id)`,
  );
  const { rows } = await transaction.query<{ sources: number; variables: number }>(BELOW[kind], [targetId]);
  const { sources = 0, variables = 0 } = rows[0] ?? {};
  const isLarge = sources + variables > MAX_AT_ONCE;
  const made = await transaction.query<{ id: string; isRepeated: boolean }>(
    `with made as (
       insert into deletion (account_id, kind, target_id, target_name, user_name, variable_count, deleted_count,
                             structure_deleted_date)
       values ($1, $2, $3, $4, $5, $6::int, case when $7 then 0 else $6::int end, case when not $7 then now() end)
       on conflict (kind, target_id) where structure_deleted_date is null do nothing returning id
     )
     select id, false as "isRepeated" from made
     union all select id, true from deletion
     where kind = $2 and target_id = $3 and structure_deleted_date is null and not exists (select from made)`,
    [accountId, kind, targetId, targetName, userName, variables, isLarge],
  );
  const [deletion] = made.rows;
  if (!deletion) throw new Error(`${kind} ${targetId} was not deleted, because its deletion could not be recorded`);
  return { ...deletion, isLarge: isLarge || deletion.isRepeated };
}

/** @throws {DomainError} not_found when the account has no deletion with this id, even if another account has one. */
export async function getDeletion(queryable: Queryable, accountId: number, id: string): Promise<DeletionJob> {
  const { rows } = await queryable.query<DeletionJob>(
    `select id, kind, target_id as "targetId", target_name as "targetName", user_name as "userName",
            requested_date as "requestedDate",
            case when structure_deleted_date is null or pending > 0 then 'Running' else 'Completed' end as state,
            json_build_object('total', greatest(variable_count, deleted_count), 'deleted', deleted_count) as variables,
            pending::int as "pointsPending"
     from deletion, lateral (select count(*) as pending from point_purge where deletion_id = deletion.id) purge
     where id::text = lower($2) and account_id = $1`,
    [accountId, id],
  );
  const [job] = rows;
  if (!job) throw new DomainError('not_found', `deletion ${id} does not exist`);
  return job;
}

interface OpenDeletion {
  readonly id: string;
  readonly accountId: number;
  readonly kind: DeletionKind;
  readonly targetId: number;
}

/**
 * Selects and locks a deletion whose next step is due. The account that has waited longest since its last step comes
 * first, so that accounts take turns (R-A14).
 */
const TAKE = `
  select id, account_id as "accountId", kind, target_id as "targetId" from deletion
  where structure_deleted_date is null and next_attempt_date <= clock_timestamp()
  order by (
    select max(other.next_attempt_date) from deletion other
    where other.account_id = deletion.account_id and other.structure_deleted_date is null
      and other.next_attempt_date <= clock_timestamp()
  ), greatest(requested_date, next_attempt_date), id limit 1 for update skip locked`;

const NOTE_STEP = 'update deletion set next_attempt_date = clock_timestamp() where id = $1';

// Delays the retry by a second after the first failure. Each further failure doubles the delay, up to an hour.
const POSTPONE = `
  update deletion set attempt_count = attempt_count + 1,
    next_attempt_date = clock_timestamp() + least(interval '1 second' * 2 ^ least(attempt_count, 20), interval '1 hour')
  where id = $1`;

/**
 * Runs the next due step of a large deletion. The step deletes some of the variables. When no variable remains, it
 * deletes some of the sources. When no source remains either, it deletes the target.
 * @returns false when no step was due. Callers repeat the call until it returns false.
 * @throws {Error} when the step failed: the message names the deletion, and the step is retried later. Rethrows an
 * error that occurs before a deletion is selected.
 */
export async function continueDeletion(database: Database): Promise<boolean> {
  let taken: OpenDeletion | undefined;
  const step = async (transaction: Transaction): Promise<void> => {
    const { rows } = await transaction.query<OpenDeletion>(TAKE);
    taken = rows[0];
    if (!taken) return;
    await deleteSome(transaction, taken);
    await transaction.query(NOTE_STEP, [taken.id]);
  };
  try {
    await withTransaction(database, step, { statementTimeoutMs: STEP_TIMEOUT_MS });
  } catch (error) {
    if (!taken) throw error;
    await database.query(POSTPONE, [taken.id]);
    const { id, kind, targetId } = taken;
    throw new Error(`a step of the deletion ${id} of ${kind} ${targetId} failed; the step will be retried`, {
      cause: error,
    });
  }
  return taken !== undefined;
}

const VARIABLES_OF = {
  Site: 'select variable.id from variable join source on source.id = source_id where site_id = $1',
  Source: 'select id from variable where source_id = $1',
} as const;

async function deleteSome(transaction: Transaction, { id, accountId, kind, targetId }: OpenDeletion): Promise<void> {
  const of = kind === 'Site' ? 'Site' : 'Source';
  const variables = await findSome(transaction, VARIABLES_OF[of], 'variable', targetId);
  if (variables.length > 0) {
    await deleteVariables(transaction, accountId, variables, { deletionId: id });
    const count = 'update deletion set deleted_count = deleted_count + $2 where id = $1';
    await transaction.query(count, [id, variables.length]);
    return;
  }
  const sources =
    of === 'Site' ? await findSome(transaction, 'select id from source where site_id = $1', 'source', targetId) : [];
  if (sources.length > 0) return deleteResources(transaction, SOURCE, accountId, sources);
  await deleteResources(transaction, of === 'Site' ? SITE : SOURCE, accountId, [targetId]);
  await transaction.query('update deletion set structure_deleted_date = now() where id = $1', [id]);
}

async function findSome(
  transaction: Transaction,
  select: string,
  locked: 'variable' | 'source',
  targetId: number,
): Promise<readonly number[]> {
  const { rows } = await transaction.query<{ id: number }>(
    `${select} order by id limit ${STEP} for update of ${locked}`,
    [targetId],
  );
  return rows.map(({ id }) => id);
}
