/** The bytes of files, in parts, in the database: a part counts with its file, so none is waited for by itself. */
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { readBytea } from '../../platform/database/read-bytea.ts';
import { isGuid } from '../../platform/guid.ts';

/** Every part of a file but the last has this many bytes. */
export const PART_BYTES = 1 << 20;

const PARTS_ON_THEIR_WAY = 3;

const compress = promisify(zstdCompress);
const inflate = promisify(zstdDecompress);
// One piece of output instead of many of 16 KiB.
const COMPRESSING = { chunkSize: 1 << 18 };
const INFLATING = { chunkSize: PART_BYTES, maxOutputLength: PART_BYTES };

// A part counts only with its file, whose commit waits for the disk and so for everything before it.
const ADD = `
  with unhurried as materialized (select set_config('synchronous_commit', 'off', true))
  insert into stored_file_part (file_id, part, is_compressed, bytes) select $1, $2, $3, $4 from unhurried`;

/** Parts of a file on their way into the database. */
export interface StoringParts {
  /** Memory for the next part: waits while too many are on their way. @throws what storing one of them threw. */
  readonly takeRoom: () => Promise<Buffer>;
  /** Stores the next part. @param bytes in a room taken, from its beginning. */
  readonly add: (bytes: Buffer) => void;
  /** Waits for all of them. @throws what storing one of them threw. */
  readonly settle: () => Promise<void>;
}

/** A few parts are compressed and stored while others arrive; their memory is used again. */
export function storingParts(database: Database, fileId: string): StoringParts {
  const rooms: Promise<Buffer>[] = Array.from({ length: PARTS_ON_THEIR_WAY }, async () =>
    Buffer.allocUnsafeSlow(PART_BYTES),
  );
  let part = 0;
  return {
    takeRoom: () => rooms.shift() ?? Promise.reject(new Error('there is no room left')),
    add: (bytes) => {
      const stored = addPart(database, fileId, part, bytes).then(() => Buffer.from(bytes.buffer));
      // Whoever takes the room is told, or who settles.
      stored.catch(() => {});
      rooms.push(stored);
      part += 1;
    },
    settle: async () => {
      await Promise.all(rooms);
    },
  };
}

/** Appends a part, compressed where that makes it smaller: CSV takes a tenth of the room, and of the time to store it. */
async function addPart(database: Database, fileId: string, part: number, bytes: Buffer): Promise<void> {
  const smaller = await compress(bytes, COMPRESSING);
  const isCompressed = smaller.length < bytes.length;
  await database.query(ADD, [fileId, part, isCompressed, isCompressed ? smaller : bytes]);
}

/** A part as it is stored; `inflatePart` gives its bytes. */
export interface StoredPart {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** @throws Error when there is no such part: the file was purged meanwhile. */
export async function readPart(database: Database, fileId: string, part: number): Promise<StoredPart> {
  // COPY takes no parameters.
  if (!isGuid(fileId) || !Number.isSafeInteger(part)) throw new Error('no file has such a part');
  const query = `select case when is_compressed then '\\x01' else '\\x00' end::bytea || bytes from stored_file_part
                 where file_id = '${fileId}' and part = ${part}`;
  const [found] = await withTransaction(database, (transaction) => readBytea(transaction, query), { readOnly: true });
  if (!found) throw new Error(`part ${part} of file ${fileId} is gone`);
  return { isCompressed: found[0] === 1, bytes: found.subarray(1) };
}

/** Takes some 2 ms: for threads that hold up nobody. */
export function inflatePart({ isCompressed, bytes }: StoredPart): Uint8Array {
  return isCompressed ? zstdDecompressSync(bytes, INFLATING) : bytes;
}

/** The bytes of a file from its first to its last. */
export async function* readContent(database: Database, fileId: string, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let part = 0; part * PART_BYTES < sizeBytes; part += 1) {
    const { isCompressed, bytes } = await readPart(database, fileId, part);
    yield isCompressed ? await inflate(bytes, INFLATING) : bytes;
  }
}
