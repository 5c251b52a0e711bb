/** Stores an upload as it arrives, a part at a time: memory stays flat, and a file counts once all of it is committed. */
import type { Caller } from '../../identity/caller/caller.ts';
import { writeReach } from '../../identity/caller/site-reach.ts';
import type { Database } from '../../platform/database/database.ts';
import { DomainError } from '../../platform/errors.ts';
import { type FileFormat, FileRefusal } from '../standard-file.ts';
import { limited } from './open-body.ts';
import { assertStart } from './start-rules.ts';
import { PART_BYTES, storingParts } from './stored-parts.ts';

export interface Upload {
  readonly filename: string;
  readonly format: FileFormat;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Who sends it, with which request (R-A10). */
export interface Sender {
  readonly caller: Caller;
  readonly requestId: string;
}

export const fileTooLarge = (maxBytes: number) => `a file may have at most ${maxBytes} bytes`;

/**
 * @returns the id of the file, which is durable and waits to be processed.
 * @throws DomainError body_too_large, unsupported_media_type (it is not what it claims), invalid_input (it is empty).
 */
export async function storeFile(
  database: Database,
  { caller, requestId }: Sender,
  { filename, format, content }: Upload,
  maxBytes: number,
): Promise<string> {
  const fileId = await insertFile(database, { caller, requestId }, filename, format);
  const parts = storingParts(database, fileId);
  try {
    let sizeBytes = 0;
    for await (const bytes of inParts(limited(content, maxBytes, fileTooLarge(maxBytes)), parts.takeRoom)) {
      if (sizeBytes === 0) refuseForeign(format, bytes);
      sizeBytes += bytes.length;
      parts.add(bytes);
    }
    await parts.settle();
    if (sizeBytes === 0) throw new DomainError('invalid_input', 'the file is empty');
    await database.query(
      `update stored_file
       set state = 'Queued', size_bytes = $2, place = nextval('stored_file_place'), uploaded_date = clock_timestamp()
       where id = $1`,
      [fileId, sizeBytes],
    );
    return fileId;
  } catch (error) {
    await parts.settle().catch(() => {});
    // Should this fail too, the purge finds it.
    await database.query('delete from stored_file where id = $1', [fileId]).catch(() => {});
    throw error;
  }
}

async function insertFile(
  database: Database,
  { caller, requestId }: Sender,
  filename: string,
  format: FileFormat,
): Promise<string> {
  const { accountId, userId } = caller;
  const { siteIds, sourceIds } = writeReach(caller);
  const { rows } = await database.query<{ id: string }>(
    `insert into stored_file (account_id, user_id, sites, source_ids, filename, format, request_id)
     values ($1, $2, $3, $4, $5, $6, $7) returning id`,
    [accountId, userId, siteIds, sourceIds, filename, format, requestId],
  );
  const [file] = rows;
  if (!file) throw new Error('the file was not inserted');
  return file.id;
}

function refuseForeign(format: FileFormat, start: Buffer): void {
  try {
    assertStart(format, start.toString('latin1', 0, 4096));
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new DomainError(error.code === 'empty_file' ? 'invalid_input' : 'unsupported_media_type', error.message);
  }
}

/** Pieces of any size → parts of PART_BYTES, the last one smaller, each in a room of its own. */
async function* inParts(content: AsyncIterable<Uint8Array>, takeRoom: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  let room: Buffer | undefined;
  let size = 0;
  for await (const piece of content) {
    for (let start = 0; start < piece.length; ) {
      room ??= await takeRoom();
      const taken = piece.subarray(start, start + PART_BYTES - size);
      room.set(taken, size);
      size += taken.length;
      start += taken.length;
      if (size < PART_BYTES) continue;
      yield room;
      room = undefined;
      size = 0;
    }
  }
  if (room) yield room.subarray(0, size);
}
