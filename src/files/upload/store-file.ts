/**
 * Stores an upload while it arrives, part by part, in constant memory. A Standard File is queued when all its parts are
 * committed.
 */
import type { Caller } from '../../identity/caller/caller.ts';
import { writeReach } from '../../identity/caller/site-reach.ts';
import type { Database } from '../../platform/database/database.ts';
import { type PartTable, storeContent } from '../../platform/database/stored-parts.ts';
import { DomainError } from '../../platform/errors.ts';
import { showBytes } from '../../platform/limits.ts';
import type { AccountPace } from '../../platform/shares/account-pace.ts';
import type { BudgetBound, SharedBudget } from '../../platform/shares/shared-budget.ts';
import { limited } from '../../platform/streaming/open-body.ts';
import { type FileFormat, type FileKind, FileRefusal } from '../standard-file.ts';
import { assertSignature, SIGNATURE_BYTES } from './file-signature.ts';

/** Table with the parts of uploaded files. */
export const FILE_PARTS: PartTable = { name: 'stored_file_part', owner: 'file_id' };

/** A file that is being received; `content` can be iterated once. */
export interface Upload {
  readonly filename: string;
  /** Undefined for an attachment, whose content is not inspected. */
  readonly format: FileFormat | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The uploader and the id of the request (R-A10). */
export interface Sender {
  readonly caller: Caller;
  readonly requestId: string;
}

export interface StoreServices {
  readonly database: Database;
  /** Limits the memory for the buffers of all uploads in progress. */
  readonly memory: SharedBudget;
  /** Gives each account a fair share of the time for storing parts. */
  readonly pace: AccountPace;
  readonly maxBytes: number;
}

/** Message of the error body_too_large. @param maxBytes value of the setting FILE_MAX_BYTES. */
export const fileTooLarge = (maxBytes: number) => `the file must be at most ${showBytes(maxBytes)}`;

/**
 * Stores an upload, and queues a Standard File for processing. If an error occurs, deletes the upload.
 * @returns the file id, after the file is durable.
 * @throws {DomainError} body_too_large; unsupported_media_type when the content does not match the format;
 *   invalid_input when the file is empty or the first 4096 bytes of a CSV are white space; queue_full when uploads take
 *   too much memory (R-A14). Also throws the errors of `content`.
 */
export async function storeFile(
  { database, memory, pace, maxBytes }: StoreServices,
  { caller, requestId }: Sender,
  { filename, format, content }: Upload,
): Promise<string> {
  const fileId = await insertFile(database, { caller, requestId }, filename, format);
  const holding = memory.open(caller);
  const target = {
    ...{ table: FILE_PARTS, ownerId: fileId },
    charge: (bytes: number) => assertTaken(holding.take(bytes)),
    inTurn: (store: () => Promise<void>) => pace.run(caller.accountId, store),
    onStart: (start: Buffer) => {
      if (format) assertFormat(format, start);
    },
  };
  try {
    const sizeBytes = await storeContent(database, target, limited(content, maxBytes, fileTooLarge(maxBytes)));
    if (sizeBytes === 0) throw new DomainError('invalid_input', 'the file is empty');
    await database.query(
      `update stored_file
       set state = $3, size_bytes = $2, uploaded_date = clock_timestamp(),
           place = case when format is not null then nextval('stored_file_place') end
       where id = $1`,
      [fileId, sizeBytes, format ? 'Queued' : 'Stored'],
    );
    return fileId;
  } catch (error) {
    // If this statement fails too, `purgeFiles` deletes the file later.
    await database.query('delete from stored_file where id = $1', [fileId]).catch(() => {});
    throw error;
  } finally {
    holding.release();
  }
}

function assertTaken(bound: BudgetBound | undefined): void {
  if (!bound) return;
  const uploads = bound.of === 'total' ? 'all uploads' : `the uploads of this ${bound.of}`;
  const message = `too little memory is free for this file: ${uploads} use ${showBytes(bound.held)}; try again later`;
  throw new DomainError('queue_full', message);
}

async function insertFile(
  database: Database,
  { caller, requestId }: Sender,
  filename: string,
  format: FileFormat | undefined,
): Promise<string> {
  const { accountId, userId } = caller;
  const { siteIds, sourceIds } = writeReach(caller);
  const { rows } = await database.query<{ id: string }>(
    `insert into stored_file (account_id, user_id, sites, source_ids, filename, format, request_id, kind)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
    [accountId, userId, siteIds, sourceIds, filename, format ?? null, requestId, kindOf(format)],
  );
  const [file] = rows;
  if (!file) throw new Error('the file was not inserted');
  return file.id;
}

/** @returns the kind of a file. @param format undefined for an attachment. */
export function kindOf(format: FileFormat | undefined): FileKind {
  return format ? 'StandardFile' : 'Attachment';
}

function assertFormat(format: FileFormat, start: Buffer): void {
  try {
    assertSignature(format, start.toString('latin1', 0, SIGNATURE_BYTES));
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new DomainError(error.code === 'empty_file' ? 'invalid_input' : 'unsupported_media_type', error.message);
  }
}
