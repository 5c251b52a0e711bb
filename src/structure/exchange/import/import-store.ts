/** Stores imports of structure documents, with their states and results. A manager sees all imports of the account. */
import type { Caller } from '../../../identity/caller/caller.ts';
import { type Database, type Queryable, withTransaction } from '../../../platform/database/database.ts';
import { toStorableText } from '../../../platform/database/storable-text.ts';
import { MAX_UPLOAD_HOURS, type PartTable } from '../../../platform/database/stored-parts.ts';
import { DomainError, type ErrorDetail } from '../../../platform/errors.ts';
import { isGuid } from '../../../platform/guid.ts';
import type { ListName } from '../document/kinds.ts';
import type { DocumentFormat } from '../reading/reading-messages.ts';
import { MAX_PROBLEMS } from './stage-rows.ts';

/** Table with the parts of imported documents. */
export const IMPORT_PARTS: PartTable = { name: 'structure_import_part', owner: 'import_id' };

/**
 * `Refused`: the document has problems, so nothing was written. `Failed`: the document could not be read, or the import
 * failed repeatedly.
 */
export type ImportState = 'Queued' | 'Processing' | 'Completed' | 'Refused' | 'Failed';

export interface ActionCounts {
  readonly created: number;
  readonly changed: number;
  readonly left: number;
}

/** The JSON object that describes an import in the answer to `GET /structure/import/{id}` and in events. */
export interface ImportStatus {
  readonly id: string;
  readonly format: DocumentFormat;
  readonly whatIf: boolean;
  readonly state: ImportState;
  readonly progress: {
    readonly phase: 'Waiting' | 'Reading' | 'Comparing' | 'Writing' | 'Ended';
    readonly bytes: number;
    readonly totalBytes: number;
    readonly rows: number;
  };
  /**
   * Number of rows for each action, counted when the import ends. If the import wrote nothing, the counts show what the
   * import would have done.
   */
  readonly counts: Readonly<Record<ListName, ActionCounts>>;
  readonly problemCount: number;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly ignoredMembers: readonly string[];
  readonly userName: string;
  readonly uploadedDate: string;
  readonly startedDate?: string;
  readonly completedDate?: string;
}

interface ImportRow extends Omit<ImportStatus, 'progress' | 'failure' | 'counts' | 'startedDate' | 'completedDate'> {
  readonly phase: ImportStatus['progress']['phase'];
  readonly bytes: number;
  readonly totalBytes: number;
  readonly rows: number;
  readonly counts: Partial<Record<ListName, ActionCounts>>;
  readonly failureCode: string | null;
  readonly failure: string | null;
  readonly startedDate: string | null;
  readonly completedDate: string | null;
}

const SELECT = `
  select id, format, is_what_if as "whatIf", state, phase, position_bytes as bytes, size_bytes as "totalBytes",
         row_count as rows, counts, problem_count as "problemCount", failure_code as "failureCode", failure,
         ignored_members as "ignoredMembers", user_name as "userName", uploaded_date as "uploadedDate",
         started_date as "startedDate", completed_date as "completedDate"
  from structure_import where state <> 'Uploading'`;

const NONE: ActionCounts = { created: 0, changed: 0, left: 0 };

/**
 * Reads an import of the caller's account.
 * @throws {DomainError} not_found, also when the import belongs to another account.
 */
export async function getImport(queryable: Queryable, caller: Caller, id: string): Promise<ImportStatus> {
  const { rows } = isGuid(id)
    ? await queryable.query<ImportRow>(`${SELECT} and id = $1 and account_id = $2`, [id, caller.accountId])
    : { rows: [] };
  const [row] = rows;
  if (!row) throw new DomainError('not_found', `import ${id} does not exist`);
  return toStatus(row);
}

/** Reads imports by id, without regard to who may see them. */
export async function findImports(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ImportStatus>> {
  const { rows } = await queryable.query<ImportRow>(`${SELECT} and id = any($1::uuid[])`, [ids]);
  return new Map(rows.map((row) => [row.id, toStatus(row)]));
}

function toStatus(row: ImportRow): ImportStatus {
  const { id, format, whatIf, state, problemCount, ignoredMembers, userName, uploadedDate } = row;
  const { catalogues = NONE, forms = NONE, sites = NONE, sources = NONE, variables = NONE } = row.counts;
  return {
    ...{ id, format, whatIf, state },
    progress: { phase: row.phase, bytes: row.bytes, totalBytes: row.totalBytes, rows: row.rows },
    counts: { catalogues, forms, sites, sources, variables },
    problemCount,
    ...(row.failureCode !== null && { failure: { code: row.failureCode, message: row.failure ?? '' } }),
    ...{ ignoredMembers, userName, uploadedDate },
    ...(row.startedDate !== null && { startedDate: row.startedDate }),
    ...(row.completedDate !== null && { completedDate: row.completedDate }),
  };
}

/** Whether the import is in a final state. */
export function isOver({ state }: Pick<ImportStatus, 'state'>): boolean {
  return state !== 'Queued' && state !== 'Processing';
}

/** Returns the first 1,000 problems of an import, in the order found. */
export async function findImportProblems(queryable: Queryable, id: string): Promise<readonly ErrorDetail[]> {
  const { rows } = await queryable.query<ErrorDetail>(
    `select path, message from structure_import_problem where import_id = $1 order by id limit ${MAX_PROBLEMS}`,
    [id],
  );
  return rows;
}

/**
 * SQL condition for imports that wait or are being processed. The index `structure_import_waiting` has the same
 * condition.
 */
const UNDER_WAY = `state in ('Queued', 'Processing')`;

/** First key of the advisory locks that let the imports of an account join the queue one at a time. */
const QUEUE_LOCK_CLASS = 0x7371;

/**
 * Creates an import before its document is received.
 * @param maxWaiting maximum number of the account's imports in the states Queued and Processing together. `queueImport`
 *   checks the maximum again, because other imports can be queued while the document is received.
 * @throws {DomainError} queue_full when the account has reached `maxWaiting`.
 */
export async function insertImport(
  queryable: Queryable,
  { caller, requestId }: { readonly caller: Caller; readonly requestId: string },
  { format, whatIf }: Pick<ImportStatus, 'format' | 'whatIf'>,
  maxWaiting: number,
): Promise<string> {
  const { accountId, userId, userName, actor } = caller;
  const { rows } = await queryable.query<{ id: string }>(
    `insert into structure_import (account_id, user_id, user_name, actor_user_id, actor_user_name, request_id, format, is_what_if)
     select $1, $2, $3, $4, $5, $6, $7, $8
     where (select count(*) from structure_import where account_id = $1 and ${UNDER_WAY}) < $9
     returning id`,
    [
      accountId,
      userId,
      userName,
      actor?.userId ?? null,
      actor?.userName ?? null,
      requestId,
      format,
      whatIf,
      maxWaiting,
    ],
  );
  const id = rows[0]?.id;
  if (id === undefined) throw queueFull(maxWaiting);
  return id;
}

function queueFull(maxWaiting: number): DomainError {
  const rule = `an account may have at most ${maxWaiting} imports that wait or are being processed`;
  return new DomainError('queue_full', `${rule}; try again when one of these imports has ended`);
}

/**
 * Queues an import whose document is stored.
 * @param maxWaiting maximum number of the account's imports in the states Queued and Processing together.
 * @throws {DomainError} queue_full when the account has reached `maxWaiting`.
 */
export async function queueImport(
  database: Database,
  { id, accountId, sizeBytes }: Pick<TakenImport, 'id' | 'accountId' | 'sizeBytes'>,
  maxWaiting: number,
): Promise<void> {
  const isQueued = await withTransaction(database, async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1, $2)', [QUEUE_LOCK_CLASS, accountId]);
    const { rowCount } = await transaction.query(
      `update structure_import set state = 'Queued', size_bytes = $2, uploaded_date = clock_timestamp(),
              place = nextval('structure_import_place')
       where id = $1 and (select count(*) from structure_import where account_id = $3 and ${UNDER_WAY}) < $4`,
      [id, sizeBytes, accountId, maxWaiting],
    );
    return rowCount === 1;
  });
  if (!isQueued) throw queueFull(maxWaiting);
}

/** Removes an import that could not be queued. */
export async function dropImport(queryable: Queryable, id: string): Promise<void> {
  await queryable.query('delete from structure_import where id = $1', [id]);
}

/** An import that this process works on. */
export interface TakenImport {
  readonly id: string;
  readonly accountId: number;
  readonly caller: Caller;
  readonly requestId: string | null;
  readonly format: DocumentFormat;
  readonly whatIf: boolean;
  readonly sizeBytes: number;
}

interface TakenRow extends Omit<TakenImport, 'caller'> {
  readonly userId: string;
  readonly userName: string;
  readonly actorId: string | null;
  readonly actorName: string | null;
}

/**
 * Marks the oldest waiting import of an account as Processing and returns it; undefined when no import waits. An import
 * that a crashed process left unfinished is treated as waiting.
 */
export async function takeImport(queryable: Queryable, accountId: number): Promise<TakenImport | undefined> {
  const { rows } = await queryable.query<TakenRow>(
    `update structure_import set state = 'Processing', started_date = coalesce(started_date, clock_timestamp()),
            phase = 'Reading', position_bytes = 0, row_count = 0
     where id = (select id from structure_import where account_id = $1 and ${UNDER_WAY} order by place limit 1)
     returning id, account_id as "accountId", user_id as "userId", user_name as "userName", actor_user_id as "actorId",
               actor_user_name as "actorName", request_id as "requestId", format, is_what_if as "whatIf",
               size_bytes as "sizeBytes"`,
    [accountId],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { userId, userName, actorId, actorName, ...taken } = row;
  const actor = actorId === null ? {} : { actor: { userId: actorId, userName: actorName ?? '' } };
  const none = { permissions: new Set<string>(), scopes: new Set<string>() };
  return { ...taken, caller: { userId, userName, accountId, role: 'MANAGER', sites: 'all', ...none, ...actor } };
}

/**
 * @returns the accounts with an import to process, including accounts for which the wake-up of the importer was lost.
 */
export async function findImportAccounts(queryable: Queryable): Promise<readonly number[]> {
  const { rows } = await queryable.query<{ id: number }>(
    `select distinct account_id as id from structure_import where ${UNDER_WAY}`,
  );
  return rows.map(({ id }) => id);
}

/** Stores the progress of an import. When `bytes` or `rows` is absent, its stored value stays. */
export async function noteProgress(
  queryable: Queryable,
  id: string,
  { phase, bytes, rows }: { readonly phase: string; readonly bytes?: number; readonly rows?: number },
): Promise<void> {
  await queryable.query(
    `update structure_import set phase = $2, position_bytes = coalesce($3, position_bytes), row_count = coalesce($4, row_count)
     where id = $1`,
    [id, phase, bytes ?? null, rows ?? null],
  );
}

const COUNTS = `
  (select coalesce(jsonb_object_agg(kind, counts), '{}') from (
     select kind, jsonb_build_object('created', count(*) filter (where action = 'Created'),
       'changed', count(*) filter (where action = 'Changed'), 'left', count(*) filter (where action = 'Left')) as counts
     from structure_import_row where import_id = $1 group by kind) counted)`;

/** Ends an import and stores the counts of its rows. @returns false when the import had ended already. */
export async function endImport(
  queryable: Queryable,
  id: string,
  state: 'Completed' | 'Refused' | 'Failed',
  failure?: { readonly code: string; readonly message: string },
): Promise<boolean> {
  const { rowCount } = await queryable.query(
    `update structure_import set state = $2, phase = 'Ended', failure_code = $3, failure = $4, counts = ${COUNTS},
            completed_date = clock_timestamp(),
            problem_count = (select count(*) from structure_import_problem where import_id = $1)
     where id = $1 and state = 'Processing'`,
    // The message may contain the name of a part of the workbook's ZIP archive. This name may contain characters that
    // PostgreSQL cannot store.
    [id, state, failure?.code ?? null, failure ? toStorableText(failure.message) : null],
  );
  return rowCount === 1;
}

/** Adds `failures` to the import's number of failures caused by the document or a bug. @returns the new number. */
export async function countImportFailures(queryable: Queryable, id: string, failures: number): Promise<number> {
  const { rows } = await queryable.query<{ attempts: number }>(
    'update structure_import set attempts = attempts + $2 where id = $1 returning attempts',
    [id, failures],
  );
  return rows[0]?.attempts ?? 0;
}

/**
 * Deletes one import with an interrupted upload, or one ended import that is older than `retentionDays`.
 * @returns whether an import was deleted.
 */
export async function purgeImport(queryable: Queryable, retentionDays: number): Promise<boolean> {
  const { rowCount } = await queryable.query(
    `delete from structure_import where id in (
       select id from structure_import
       where state in ('Completed', 'Refused', 'Failed') and uploaded_date < now() - $1 * interval '1 day'
          or state = 'Uploading' and uploaded_date < now() - $2 * interval '1 hour'
       limit 1 for update skip locked)`,
    [retentionDays, MAX_UPLOAD_HOURS],
  );
  return rowCount === 1;
}
