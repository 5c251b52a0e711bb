/** Stores an upload while it arrives, part by part, in constant memory. The file is queued once all parts are committed. */
import type { Caller } from '../../identity/caller/caller.ts';
import { writeReach } from '../../identity/caller/site-reach.ts';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import type { BudgetBound, SharedBudget } from '../../platform/shared-budget.ts';
import { type FileFormat, type FileKind, FileRefusal } from '../standard-file.ts';
import { assertSignature } from './file-signature.ts';
import { limited } from './open-body.ts';
import { PART_BYTES, storingParts } from './stored-parts.ts';

/** A file being received; iterate `content` once. */
export interface Upload {
  readonly filename: string;
  /** undefined: an attachment, whose content is not inspected. */
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
  /** Bytes of buffers for files being received. */
  readonly memory: SharedBudget;
  readonly maxBytes: number;
}

/** Message of body_too_large. @param maxBytes FILE_MAX_BYTES. */
export const fileTooLarge = (maxBytes: number) => `the file must be at most ${maxBytes} bytes`;

/**
 * Stores an upload and queues a Standard File for processing; an upload that fails leaves nothing behind.
 * @returns the file id, once the file is durable.
 * @throws {DomainError} body_too_large; unsupported_media_type when the content does not match the format;
 *   invalid_input when the file is empty; queue_full when uploads take too much memory (R-A14).
 */
export async function storeFile(
  { database, memory, maxBytes }: StoreServices,
  { caller, requestId }: Sender,
  { filename, format, content }: Upload,
): Promise<string> {
  const fileId = await insertFile(database, { caller, requestId }, filename, format);
  const holding = memory.open(caller);
  const parts = storingParts(database, fileId, (bytes) => assertTaken(holding.take(bytes)));
  try {
    let sizeBytes = 0;
    for await (const bytes of inParts(limited(content, maxBytes, fileTooLarge(maxBytes)), parts.takeBuffer)) {
      if (sizeBytes === 0 && format) assertFormat(format, bytes);
      sizeBytes += bytes.length;
      parts.add(bytes);
    }
    await parts.settle();
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
    await parts.settle().catch(() => {});
    // If this fails too, the purge deletes the file.
    await database.query('delete from stored_file where id = $1', [fileId]).catch(() => {});
    throw error;
  } finally {
    holding.release();
  }
}

function assertTaken(bound: BudgetBound | undefined): void {
  if (!bound) return;
  const others = bound.of === 'total' ? 'all uploads' : `other uploads of this ${bound.of}`;
  throw new DomainError('queue_full', `the file needs memory, but ${others} use ${bound.held} bytes; try again later`);
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

/** @param format undefined for an attachment. */
export function kindOf(format: FileFormat | undefined): FileKind {
  return format ? 'StandardFile' : 'Attachment';
}

function assertFormat(format: FileFormat, start: Buffer): void {
  try {
    assertSignature(format, start.toString('latin1', 0, 4096));
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new DomainError(error.code === 'empty_file' ? 'invalid_input' : 'unsupported_media_type', error.message);
  }
}

/** Regroups pieces of any size into parts of PART_BYTES, the last one smaller, each in a buffer of its own. */
async function* inParts(content: AsyncIterable<Uint8Array>, takeBuffer: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  let buffer: Buffer | undefined;
  let size = 0;
  for await (const piece of content) {
    for (let start = 0; start < piece.length; ) {
      buffer ??= await takeBuffer();
      const taken = piece.subarray(start, start + PART_BYTES - size);
      buffer.set(taken, size);
      size += taken.length;
      start += taken.length;
      if (size < PART_BYTES) continue;
      yield buffer;
      buffer = undefined;
      size = 0;
    }
  }
  if (buffer) yield buffer.subarray(0, size);
}
