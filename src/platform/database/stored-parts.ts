/**
 * Stores and reads content of any size (files, and documents to import) in the database, in parts of 1 MiB, compressed with zstd
 * where that is smaller. The roles share no disk, and a backup of the database has the content.
 */
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { isGuid } from '../guid.ts';
import { type Database, withTransaction } from './database.ts';
import { readBytea } from './read-bytea.ts';

/** A table of parts, with the columns `part`, `is_compressed` and `bytes`. */
export interface PartTable {
  readonly name: 'stored_file_part' | 'structure_import_part';
  /** Column of the id of the owner, a GUID. */
  readonly owner: 'file_id' | 'import_id';
}

/** Every part but the last has this many bytes. */
export const PART_BYTES = 1 << 20;

const PARTS_IN_FLIGHT = 3;

const compress = promisify(zstdCompress);
const inflate = promisify(zstdDecompress);
// A buffer of this size makes one piece of output instead of many of 16 KiB.
const COMPRESS_OPTIONS = { chunkSize: 1 << 18 };
const INFLATE_OPTIONS = { chunkSize: PART_BYTES, maxOutputLength: PART_BYTES };

// A part is only used once its owner is committed; that commit waits for the disk, and so for all parts before it.
const addTo = ({ name, owner }: PartTable) => `
  with asynchronous as materialized (select set_config('synchronous_commit', 'off', true))
  insert into ${name} (${owner}, part, is_compressed, bytes) select $1, $2, $3, $4 from asynchronous`;

/** Writes the parts of one content to the database; at most 3 are in flight. */
interface StoringParts {
  /** Returns a buffer of PART_BYTES; waits while 3 parts are in flight. @throws the error of a part that failed. */
  readonly takeBuffer: () => Promise<Buffer>;
  /** Starts storing the next part. @param bytes a slice from the start of a buffer given by `takeBuffer`. */
  readonly add: (bytes: Buffer) => void;
  /** Waits until all parts are stored. @throws the error of a part that failed. */
  readonly settle: () => Promise<void>;
}

/** Opens a writer that compresses and stores parts while others arrive, and reuses their buffers. */
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
      await Promise.all(buffers);
    },
  };
}

/** Stores a part, compressed where that is smaller: a CSV takes a tenth of the space and of the time to store it. */
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
  /** Runs the storing of a part when it is the turn of the account. */
  readonly inTurn: (store: () => Promise<void>) => Promise<void>;
  /** Sees the first bytes before they are stored; may throw. */
  readonly onStart: (start: Buffer) => void;
}

/**
 * Stores content while it arrives, in constant memory.
 * @returns its size in bytes, once every part is stored; 0: nothing is stored.
 * @throws what `content`, `charge` or `onStart` throws, once no part is in flight.
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

/** A part as stored, maybe compressed; `inflatePart` returns its bytes. */
export interface StoredPart {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

/** Reads one part. @param part from 0. @throws Error when it does not exist, as after a purge. */
export async function readPart(
  database: Database,
  { name, owner }: PartTable,
  ownerId: string,
  part: number,
): Promise<StoredPart> {
  // The values are put into the text, because COPY takes no parameters.
  if (!isGuid(ownerId) || !Number.isSafeInteger(part)) throw new Error(`part ${part} of ${ownerId} cannot exist`);
  const query = `select case when is_compressed then '\\x01' else '\\x00' end::bytea || bytes from ${name}
                 where ${owner} = '${ownerId}' and part = ${part}`;
  const [found] = await withTransaction(database, (transaction) => readBytea(transaction, query), { readOnly: true });
  if (!found) throw new Error(`part ${part} of ${ownerId} does not exist any more`);
  return { isCompressed: found[0] === 1, bytes: found.subarray(1) };
}

/** Returns the bytes of a part. Blocks for about 2 ms, so call it in the parser process only. */
export function inflatePart({ isCompressed, bytes }: StoredPart): Uint8Array {
  return isCompressed ? zstdDecompressSync(bytes, INFLATE_OPTIONS) : bytes;
}

/** Yields stored content, part by part. @throws Error when it is purged meanwhile. */
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
