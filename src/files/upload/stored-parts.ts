/** Stores and reads the content of files in the database, in parts of 1 MiB, compressed with zstd where that is smaller. */
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { type Database, withTransaction } from '../../platform/database/database.ts';
import { readBytea } from '../../platform/database/read-bytea.ts';
import { isGuid } from '../../platform/guid.ts';

/** Every part of a file but the last has this many bytes. */
export const PART_BYTES = 1 << 20;

const PARTS_IN_FLIGHT = 3;

const compress = promisify(zstdCompress);
const inflate = promisify(zstdDecompress);
// One piece of output instead of many of 16 KiB.
const COMPRESS_OPTIONS = { chunkSize: 1 << 18 };
const INFLATE_OPTIONS = { chunkSize: PART_BYTES, maxOutputLength: PART_BYTES };

// A part is only used once its file is committed; that commit waits for the disk, and so for all parts before it.
const ADD = `
  with asynchronous as materialized (select set_config('synchronous_commit', 'off', true))
  insert into stored_file_part (file_id, part, is_compressed, bytes) select $1, $2, $3, $4 from asynchronous`;

/** Writes the parts of one file to the database; at most 3 are in flight. */
export interface StoringParts {
  /** Returns a buffer of PART_BYTES; waits while 3 parts are in flight. @throws the error of a part that failed. */
  readonly takeBuffer: () => Promise<Buffer>;
  /** Starts storing the next part. @param bytes a slice from the start of a buffer given by `takeBuffer`. */
  readonly add: (bytes: Buffer) => void;
  /** Waits until all parts are stored. @throws the error of a part that failed. */
  readonly settle: () => Promise<void>;
}

/**
 * Opens a writer that compresses and stores parts while others arrive, and reuses their buffers.
 * @param charge called before a buffer is allocated; may throw.
 */
export function storingParts(database: Database, fileId: string, charge: (bytes: number) => void): StoringParts {
  const buffers: Promise<Buffer>[] = [];
  let allocated = 0;
  let part = 0;
  return {
    takeBuffer: async () => {
      if (allocated === PARTS_IN_FLIGHT) return buffers.shift() ?? Promise.reject(new Error('all buffers are in use'));
      charge(PART_BYTES);
      allocated += 1;
      return Buffer.allocUnsafeSlow(PART_BYTES);
    },
    add: (bytes) => {
      const stored = addPart(database, fileId, part, bytes).then(() => Buffer.from(bytes.buffer));
      // `takeBuffer` or `settle` reports the error.
      stored.catch(() => {});
      buffers.push(stored);
      part += 1;
    },
    settle: async () => {
      await Promise.all(buffers);
    },
  };
}

/** Stores a part, compressed where that is smaller: a CSV takes a tenth of the space and of the time to store it. */
async function addPart(database: Database, fileId: string, part: number, bytes: Buffer): Promise<void> {
  const smaller = await compress(bytes, COMPRESS_OPTIONS);
  const isCompressed = smaller.length < bytes.length;
  await database.query(ADD, [fileId, part, isCompressed, isCompressed ? smaller : bytes]);
}

/** A part as stored; `inflatePart` returns its bytes. */
export interface StoredPart {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Reads one part. @param part from 0. @throws Error when it does not exist, as after a purge. */
export async function readPart(database: Database, fileId: string, part: number): Promise<StoredPart> {
  // COPY takes no parameters.
  if (!isGuid(fileId) || !Number.isSafeInteger(part)) throw new Error(`part ${part} of file ${fileId} cannot exist`);
  const query = `select case when is_compressed then '\\x01' else '\\x00' end::bytea || bytes from stored_file_part
                 where file_id = '${fileId}' and part = ${part}`;
  const [found] = await withTransaction(database, (transaction) => readBytea(transaction, query), { readOnly: true });
  if (!found) throw new Error(`part ${part} of file ${fileId} does not exist any more`);
  return { isCompressed: found[0] === 1, bytes: found.subarray(1) };
}

/** Returns the bytes of a part. Blocks for about 2 ms, so call it in the parser process only. */
export function inflatePart({ isCompressed, bytes }: StoredPart): Uint8Array {
  return isCompressed ? zstdDecompressSync(bytes, INFLATE_OPTIONS) : bytes;
}

/** Yields the content of a file, part by part. @throws Error when the file is purged meanwhile. */
export async function* readContent(database: Database, fileId: string, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let part = 0; part * PART_BYTES < sizeBytes; part += 1) {
    const { isCompressed, bytes } = await readPart(database, fileId, part);
    yield isCompressed ? await inflate(bytes, INFLATE_OPTIONS) : bytes;
  }
}
