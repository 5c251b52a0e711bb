/**
 * Marks files as Processing, and sets their final state. The files of an account are processed one at a time, in the
 * order in which their uploads ended.
 */
import type { Reach } from '../../identity/caller/site-reach.ts';
import type { Database, Queryable, Transaction } from '../../platform/database/database.ts';
import { appendEvents } from '../../platform/database/outbox.ts';
import { toStorableText } from '../../platform/database/storable-text.ts';
import type { FileFormat, FilePosition, RefusalCode } from '../standard-file.ts';

export interface TakenFile {
  readonly id: string;
  readonly accountId: number;
  readonly userId: string;
  /** Id of the upload request (R-A10); null when unknown. */
  readonly requestId: string | null;
  /** Sites and sources that the uploader could push to at the time of the upload. */
  readonly reach: Reach;
  readonly format: FileFormat;
  readonly sizeBytes: number;
  readonly position: FilePosition;
}

interface FileRow extends Omit<TakenFile, 'reach' | 'position'>, FilePosition {
  readonly siteIds: readonly number[] | null;
  readonly sourceIds: readonly number[];
}

/**
 * Marks the oldest unfinished file of an account as Processing and returns the file. A file is unfinished when it is
 * Queued or Processing. @returns undefined when the account has no unfinished file.
 */
export async function takeFile(database: Database, accountId: number): Promise<TakenFile | undefined> {
  const { rows } = await database.query<FileRow>(
    `update stored_file
     set state = 'Processing', started_date = coalesce(started_date, clock_timestamp())
     where id = (select id from stored_file where account_id = $1 and state in ('Queued', 'Processing')
                 order by place limit 1)
     returning id, account_id as "accountId", user_id as "userId", sites as "siteIds",
               source_ids as "sourceIds", request_id as "requestId", format, size_bytes as "sizeBytes",
               position_bytes as bytes, position_rows as rows, position_row_number as "rowNumber"`,
    [accountId],
  );
  const [file] = rows;
  if (!file) return undefined;
  const { bytes, rows: done, rowNumber, siteIds, sourceIds, ...rest } = file;
  const reach = { siteIds, sourceIds, shownSiteIds: siteIds };
  return { ...rest, reach, position: { bytes, rows: done, rowNumber } };
}

/**
 * Adds `failures` to the failure count of a file. Each chunk that is written sets this count to 0 again.
 * @returns the new count.
 */
export async function countFailures(database: Database, fileId: string, failures: number): Promise<number> {
  const { rows } = await database.query<{ attempts: number }>(
    'update stored_file set attempts = attempts + $2 where id = $1 returning attempts',
    [fileId, failures],
  );
  return rows[0]?.attempts ?? 0;
}

/**
 * Returns the ids of the accounts that have unfinished files. The sweeper wakes these accounts, because a wake-up may
 * have been lost, or a file must be retried.
 */
export async function findWaitingAccounts(database: Database): Promise<readonly number[]> {
  const { rows } = await database.query<{ accountId: number }>(
    `select distinct account_id as "accountId" from stored_file where state in ('Queued', 'Processing')`,
  );
  return rows.map(({ accountId }) => accountId);
}

/**
 * Sets the final state of a file, and appends the event `FileIngested` to the outbox. The state is Failed when
 * `refusal` is given, and otherwise depends on the numbers of ingested and rejected rows.
 * @returns false when the file already had a final state; the call then changes nothing.
 */
export async function endFile(
  transaction: Transaction,
  fileId: string,
  refusal?: { readonly code: RefusalCode; readonly message: string },
): Promise<boolean> {
  // The message may contain the name of a part of the workbook, and such a name may contain any character.
  const failure = refusal && { ...refusal, message: toStorableText(refusal.message) };
  const { rows } = await transaction.query<Ended>(
    `update stored_file
     set state = case when $2::text is not null then 'Failed' when rejected_rows = 0 then 'Completed'
                      when ingested_rows = 0 then 'Rejected' else 'PartiallyIngested' end,
         failure_code = $2, failure = $3, completed_date = clock_timestamp()
     where id = $1 and state in ('Queued', 'Processing')
     returning account_id as "accountId", user_id as "userId", filename, state, position_rows as rows,
               ingested_rows as ingested, rejected_rows as rejected, warning_count as warnings,
               case when has_filtered_webhook(array[account_id], 'FileIngested') then multirange_ids(variables) end as concerns`,
    [fileId, failure?.code ?? null, failure?.message ?? null],
  );
  const [file] = rows;
  if (!file) return false;
  const { accountId, userId, filename, state, concerns, ...counts } = file;
  const payload = {
    fileId,
    filename,
    userId,
    state,
    counts,
    ...(failure && { failure }),
    ...(concerns && { concerns }),
  };
  await appendEvents(transaction, [{ accountId, type: 'FileIngested', payload }]);
  return true;
}

declare module '../../platform/database/outbox.ts' {
  interface OutboxEvents {
    FileIngested: FileIngested;
  }
}

interface FileIngested extends Pick<Ended, 'filename' | 'userId' | 'state'> {
  readonly fileId: string;
  readonly counts: Pick<Ended, 'rows' | 'ingested' | 'rejected' | 'warnings'>;
  readonly failure?: { readonly code: RefusalCode; readonly message: string };
  /**
   * Ids of the variables of the valid rows of the written chunks, including rows whose dates are rolled up. Present
   * only when the filter of a webhook needs the ids. Receivers do not get the ids.
   */
  readonly concerns?: readonly number[];
}

interface Ended {
  readonly accountId: number;
  readonly userId: string;
  readonly filename: string;
  readonly state: string;
  readonly rows: number;
  readonly ingested: number;
  readonly rejected: number;
  readonly warnings: number;
  readonly concerns: readonly number[] | null;
}

/** Stores the names of the file's columns that the Standard File format does not define. */
export async function storeIgnoredColumns(
  queryable: Queryable,
  fileId: string,
  names: readonly string[],
): Promise<void> {
  await queryable.query('update stored_file set ignored_columns = $2 where id = $1', [fileId, names]);
}
