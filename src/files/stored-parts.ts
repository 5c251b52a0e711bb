/** The bytes of files, in parts, in the database. */
import type { Database } from '../platform/database.ts';
import { withTransaction } from '../platform/database.ts';
import { readBytea } from '../platform/read-bytea.ts';

/** Every part of a file but the last has this many bytes. */
export const PART_BYTES = 1 << 20;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether a text can be the id of a file. */
export function isFileId(text: string): boolean {
  return UUID.test(text);
}

/** Appends a part. Committed when it returns. */
export async function addPart(database: Database, fileId: string, part: number, bytes: Buffer): Promise<void> {
  await database.query('insert into stored_file_part (file_id, part, bytes) values ($1, $2, $3)', [
    fileId,
    part,
    bytes,
  ]);
}

/** @throws Error when there is no such part: the file was purged meanwhile. */
export async function readPart(database: Database, fileId: string, part: number): Promise<Buffer> {
  // COPY takes no parameters.
  if (!isFileId(fileId) || !Number.isSafeInteger(part)) throw new Error('no file has such a part');
  const query = `select bytes from stored_file_part where file_id = '${fileId}' and part = ${part}`;
  const [bytes] = await withTransaction(database, (transaction) => readBytea(transaction, query), { readOnly: true });
  if (!bytes) throw new Error(`part ${part} of file ${fileId} is gone`);
  return bytes;
}
