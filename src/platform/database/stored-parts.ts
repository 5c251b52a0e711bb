/**
 * Stores and reads content of any size (files, and documents to import) in the database, in parts of 1 MiB. A part is
 * compressed with zstd when this makes the part smaller. The database holds the content, because the roles share no
 * disk and a backup must include the content.
 */
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { isGuid } from '../guid.ts';
import { type Database, withTransaction } from './database.ts';
import { readBytea } from './read-bytea.ts';

/** A table of parts, with the columns `part`, `is_compressed` and `bytes`. */
export interface PartTable {
  readonly name: 'stored_file_part' | 'structure_import_part';
  /** Column with the id of the file or import, a GUID. */
  readonly owner: 'file_id' | 'import_id';
}

/** Every part but the last has this many bytes. */
export const PART_BYTES = 1 << 20;

const PARTS_IN_FLIGHT = 3;

/** Content that is incomplete after this many hours belongs to an interrupted upload. */
export const MAX_UPLOAD_HOURS = 6;
/**
 * While several accounts store content, each of them may store content for at most this fraction of the time (R-A14).
 */
export const UPLOAD_SHARE = 0.4;

const compress = promisify(zstdCompress);
const inflate = promisify(zstdDecompress);
// Compresses into buffers of 256 KiB instead of the default of 16 KiB.
const COMPRESS_OPTIONS = { chunkSize: 1 << 18 };
const INFLATE_OPTIONS = { chunkSize: PART_BYTES, maxOutputLength: PART_BYTES };

// Commits without waiting until the part is on disk. This is safe, because the later commit of the file or import waits
// until all parts of the file or import are on disk.
const addTo = ({ name, owner }: PartTable) => `
  with asynchronous as materialized (select set_config('synchronous_commit', 'off', true))
  insert into ${name} (${owner}, part, is_compressed, bytes) select $1, $2, $3, $4 from asynchronous`;

/** Writes parts to the database: the parts of one file or of one import. At most 3 parts are in flight. */
interface StoringParts {
  /**
   * Returns a buffer of PART_BYTES; waits while 3 parts are in flight. @throws the error of `charge`, or the error of a
   * part that could not be stored.
   */
  readonly takeBuffer: () => Promise<Buffer>;
  /** Starts storing the next part. @param bytes a slice from the start of a buffer given by `takeBuffer`. */
  readonly add: (bytes: Buffer) => void;
  /** Waits until no part is in flight. @throws the error of the first part that failed. */
  readonly settle: () => Promise<void>;
}

/** Opens a writer that compresses and stores parts while more parts arrive. It reuses the buffers of stored parts. */
function storingParts(database: Database, { table, ownerId, charge, inTurn }: ContentTarget): StoringParts {
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
      const index = part;
      const store = () => addPart(database, table, ownerId, index, bytes);
      const stored = inTurn(store).then(() => Buffer.from(bytes.buffer));
      // `takeBuffer` or `settle` reports the error; this handler only prevents an unhandled rejection.
      stored.catch(() => {});
      buffers.push(stored);
      part += 1;
    },
    settle: async () => {
      await Promise.allSettled(buffers);
      await Promise.all(buffers);
    },
  };
}

/** Stores a part, in compressed form if that is smaller. */
async function addPart(
  database: Database,
  table: PartTable,
  ownerId: string,
  part: number,
  bytes: Buffer,
): Promise<void> {
  const smaller = await compress(bytes, COMPRESS_OPTIONS);
  const isCompressed = smaller.length < bytes.length;
  await database.query(addTo(table), [ownerId, part, isCompressed, isCompressed ? smaller : bytes]);
}

export interface ContentTarget {
  readonly table: PartTable;
  readonly ownerId: string;
  /** Called before a buffer is allocated; throws when the memory for it is not available. */
  readonly charge: (bytes: number) => void;
  /** Waits until the account may use the database, then calls `store`, which stores a part. */
  readonly inTurn: (store: () => Promise<void>) => Promise<void>;
  /** Called with the first bytes before they are stored; throws to refuse the content. */
  readonly onStart: (start: Buffer) => void;
}

/**
 * Stores content while it arrives, in constant memory.
 * @returns the size in bytes, after every part is stored. Empty content has no parts; its size is 0.
 * @throws the errors of `content`, `charge` and `onStart`, and the error of a part that could not be stored. When
 * `storeContent` throws, no part is in flight any more.
 */
export async function storeContent(
  database: Database,
  target: ContentTarget,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  const parts = storingParts(database, target);
  let sizeBytes = 0;
  try {
    for await (const bytes of inParts(content, parts.takeBuffer)) {
      if (sizeBytes === 0) target.onStart(bytes);
      sizeBytes += bytes.length;
      parts.add(bytes);
    }
  } catch (error) {
    await parts.settle().catch(() => {});
    throw error;
  }
  await parts.settle();
  return sizeBytes;
}

/** A part as the database stores it; `inflatePart` returns its content. */
export interface StoredPart {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/**
 * Reads one part. @param part index of the part, from 0.
 * @throws {Error} when the part does not exist, for example after a purge.
 */
export async function readPart(
  database: Database,
  { name, owner }: PartTable,
  ownerId: string,
  part: number,
): Promise<StoredPart> {
  // COPY takes no parameters. So the statement contains these two values, and they must be checked first.
  if (!isGuid(ownerId) || !Number.isSafeInteger(part))
    throw new Error(
      `the index of a part must be an integer and the owner a GUID, got index ${part} and owner ${ownerId}`,
    );
  const query = `select case when is_compressed then '\\x01' else '\\x00' end::bytea || bytes from ${name}
                 where ${owner} = '${ownerId}' and part = ${part}`;
  const [found] = await withTransaction(database, (transaction) => readBytea(transaction, query), { readOnly: true });
  if (!found) throw new Error(`${name} has no part with index ${part} for owner ${ownerId}`);
  return { isCompressed: found[0] === 1, bytes: found.subarray(1) };
}

/** Returns the bytes of a part. Blocks the event loop for about 2 ms; `readContent` does not block it. */
export function inflatePart({ isCompressed, bytes }: StoredPart): Uint8Array {
  return isCompressed ? zstdDecompressSync(bytes, INFLATE_OPTIONS) : bytes;
}

/**
 * Yields stored content, part by part.
 * @throws {Error} when the content is purged before the last part has been read.
 */
export async function* readContent(
  database: Database,
  table: PartTable,
  ownerId: string,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let part = 0; part * PART_BYTES < sizeBytes; part += 1) {
    const { isCompressed, bytes } = await readPart(database, table, ownerId, part);
    yield isCompressed ? await inflate(bytes, INFLATE_OPTIONS) : bytes;
  }
}

/**
 * Regroups buffers of any size into parts of PART_BYTES, each in a buffer from `takeBuffer`; the last part may be
 * smaller.
 */
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
