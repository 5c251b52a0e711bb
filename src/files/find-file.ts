/**
 * Reads the states, row errors and warnings of files (R-E1). A MANAGER or an ADMIN can get every file of the account
 * with `getFile`; a USER can get only the files that this user uploaded.
 */
import type { Caller } from '../identity/caller/caller.ts';
import type { Queryable } from '../platform/database/database.ts';
import { DomainError } from '../platform/errors.ts';
import { isGuid } from '../platform/guid.ts';
import { type FileFormat, type FileKind, MAX_WARNINGS, type RowError, type RowWarning } from './standard-file.ts';
import { adviceFor } from './upload/attachment-advice.ts';

/**
 * `PartiallyIngested`: some rows were rejected. `Rejected`: all rows were rejected. `Stored`: the file is an
 * attachment.
 */
export type FileState = 'Queued' | 'Processing' | 'Completed' | 'PartiallyIngested' | 'Rejected' | 'Failed' | 'Stored';

/**
 * The status of a file in the events of `GET /storage/{id}/events`. `GET /storage/{id}` adds row errors and warnings.
 */
export interface FileStatus {
  readonly id: string;
  readonly kind: FileKind;
  readonly filename: string;
  /** How to send the data so that its rows are read. Present only for an attachment whose name suggests data. */
  readonly advice?: string;
  /** Format of the file; absent for an attachment. */
  readonly format?: FileFormat;
  readonly state: FileState;
  readonly progress: { readonly bytes: number; readonly totalBytes: number; readonly rows: number };
  readonly counts: {
    readonly rows: number;
    readonly ingested: number;
    readonly rejected: number;
    readonly warnings: number;
  };
  /** Why the file failed. Rows that were ingested before the failure are kept; their number is `counts.ingested`. */
  readonly failure?: { readonly code: string; readonly message: string };
  readonly ignoredColumns: readonly string[];
  readonly uploadedDate: string;
  readonly startedDate?: string;
  readonly completedDate?: string;
}

interface FileRow {
  readonly id: string;
  readonly kind: FileKind;
  readonly filename: string;
  readonly format: FileFormat | null;
  readonly state: FileState;
  readonly sizeBytes: number;
  readonly bytes: number;
  readonly rows: number;
  readonly ingested: number;
  readonly rejected: number;
  readonly warnings: number;
  readonly failureCode: string | null;
  readonly failure: string | null;
  readonly ignoredColumns: readonly string[];
  readonly uploadedDate: string;
  readonly startedDate: string | null;
  readonly completedDate: string | null;
}

const SELECT = `
  select id, kind, filename, format, state, size_bytes as "sizeBytes",
         case when state in ('Completed', 'PartiallyIngested', 'Rejected', 'Stored') then size_bytes else position_bytes end as bytes, position_rows as rows,
         ingested_rows as ingested, rejected_rows as rejected, warning_count as warnings,
         failure_code as "failureCode", failure, ignored_columns as "ignoredColumns",
         uploaded_date as "uploadedDate", started_date as "startedDate", completed_date as "completedDate"
  from stored_file`;

const FIND = `${SELECT}
  where id = $1 and account_id = $2 and ($3 or user_id = $4) and state <> 'Uploading'`;

/**
 * Reads the state of a file that the caller may see (R-E1).
 * @throws {DomainError} not_found when the file does not exist, when the caller may not see it, or while it is still
 * being uploaded.
 */
export async function getFile(queryable: Queryable, caller: Caller, fileId: string): Promise<FileStatus> {
  const isManager = caller.role !== 'USER';
  const values = [fileId, caller.accountId, isManager, caller.userId];
  const [row] = isGuid(fileId) ? (await queryable.query<FileRow>(FIND, values)).rows : [];
  if (!row) throw new DomainError('not_found', `file ${fileId} does not exist`);
  return toStatus(row);
}

/**
 * Reads the states of files by id, without regard to who may see the files (R-E1).
 * @returns a map without entries for files that do not exist.
 */
export async function findStatuses(
  queryable: Queryable,
  fileIds: readonly string[],
): Promise<ReadonlyMap<string, FileStatus>> {
  const { rows } = await queryable.query<FileRow>(`${SELECT} where id = any($1::uuid[])`, [fileIds]);
  return new Map(rows.map((row) => [row.id, toStatus(row)]));
}

function toStatus(row: FileRow): FileStatus {
  const { id, kind, filename, format, state, rows, ingested, rejected, warnings, ignoredColumns, uploadedDate } = row;
  const advice = kind === 'Attachment' ? adviceFor(filename) : undefined;
  return {
    ...{ id, kind, filename, state },
    ...(advice !== undefined && { advice }),
    ...(format !== null && { format }),
    progress: { bytes: row.bytes, totalBytes: row.sizeBytes, rows },
    counts: { rows, ingested, rejected, warnings },
    ...(row.failureCode !== null && { failure: { code: row.failureCode, message: row.failure ?? '' } }),
    ...{ ignoredColumns, uploadedDate },
    ...(row.startedDate !== null && { startedDate: row.startedDate }),
    ...(row.completedDate !== null && { completedDate: row.completedDate }),
  };
}

/** Returns true when the file has reached its final state (R-E1). */
export function isOver({ state }: FileStatus): boolean {
  return state !== 'Queued' && state !== 'Processing';
}

/** @returns the first warnings about the rows of a file, at most MAX_WARNINGS (R-D4). */
export async function findWarnings(queryable: Queryable, fileId: string): Promise<readonly RowWarning[]> {
  const { rows } = await queryable.query<{ warnings: readonly RowWarning[] }>(
    'select warnings from stored_file where id = $1',
    [fileId],
  );
  return (rows[0]?.warnings ?? []).slice(0, MAX_WARNINGS);
}

/**
 * Returns one page of the row errors, in file order (R-E1).
 * @param after id of the last error on the previous page (exclusive); 0 for the first page.
 */
export async function findErrors(
  queryable: Queryable,
  fileId: string,
  after: number,
  limit: number,
): Promise<readonly (RowError & { readonly id: number })[]> {
  const { rows } = await queryable.query<RowError & { id: number }>(
    `select id, row_number as row, code, message from stored_file_error
     where file_id = $1 and id > $2 order by id limit $3`,
    [fileId, after, limit],
  );
  return rows;
}
