/**
 * Opens a workbook, which is a zip archive. Checks the directory of the archive before it inflates anything (R-E4).
 * Refuses an archive with too many entries, encrypted entries, entries of equal names, or entries whose compressed sizes
 * add up to more than the archive. Also refuses an archive that would become too large, or too many times larger, when
 * inflated. Inflating an entry fails when the directory gives another size for it.
 */
import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { MAX_SHOWN, showBytes } from '../limits.ts';

/** A stored file that is read in parts, in any order. */
export interface PartSource {
  readonly sizeBytes: number;
  /** Every part but the last has this many bytes. */
  readonly partBytes: number;
  /** Reads a part. @param index position of the part in the file; the first part has 0. */
  readPart(index: number): Promise<Uint8Array>;
}

export interface ArchiveLimits {
  readonly maxInflatedBytes: number;
  /** Maximum ratio of inflated to compressed bytes. */
  readonly maxRatio: number;
}

/** Thrown when the archive cannot or must not be read; the uploader sees the message. */
export class ArchiveRefusal extends Error {
  override readonly name = 'ArchiveRefusal';
  readonly code: 'wrong_format' | 'encrypted' | 'zip_bomb' | 'damaged_file';

  constructor(code: ArchiveRefusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Read access to the entries of a checked archive. */
export interface ZipArchive {
  has(name: string): boolean;
  /** Inflated size of an entry, in bytes; 0 when it does not exist. */
  sizeOf(name: string): number;
  /**
   * Yields the inflated entry in chunks.
   * @throws {ArchiveRefusal} damaged_file. An error of `readPart` is thrown unchanged.
   */
  read(name: string): AsyncGenerator<Buffer>;
}

const MAX_ENTRIES = 10_000;
const [STORED, DEFLATED] = [0, 8];
const INFLATED_CHUNK_BYTES = 1 << 18;

/**
 * Reads and checks the directory of the archive (R-E4).
 * @throws {ArchiveRefusal} wrong_format, encrypted, zip_bomb, damaged_file. An error of `readPart` is thrown unchanged.
 */
export async function openZipArchive(source: PartSource, limits: ArchiveLimits): Promise<ZipArchive> {
  const zip = await refusing(() =>
    fromRandomAccessReaderPromise(new PartReader(source), source.sizeBytes, { lazyEntries: true, autoClose: false }),
  );
  const entries = await refusing(() => readDirectory(zip));
  assertHarmless(entries, source.sizeBytes, limits);
  const byName = new Map([...entries].map((entry) => [entry.fileName, entry]));
  return {
    has: (name) => byName.has(name),
    sizeOf: (name) => byName.get(name)?.uncompressedSize ?? 0,
    read: (name) => inflate(zip, name, byName.get(name)),
  };
}

async function readDirectory(zip: ZipFile): Promise<readonly Entry[]> {
  if (zip.entryCount > MAX_ENTRIES) {
    throw new ArchiveRefusal(
      'wrong_format',
      `the workbook must have at most ${MAX_ENTRIES} parts, got ${zip.entryCount}`,
    );
  }
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  return entries;
}

function assertHarmless(entries: readonly Entry[], sizeBytes: number, limits: ArchiveLimits): void {
  if (entries.some((entry) => entry.isEncrypted())) {
    throw new ArchiveRefusal('encrypted', 'the workbook is encrypted; save it without a password');
  }
  const repeated = findRepeated(entries);
  if (repeated !== undefined) {
    throw damaged(`two parts have the same name, ${JSON.stringify(repeated.slice(0, MAX_SHOWN))}`);
  }
  const compressed = entries.reduce((sum, entry) => sum + entry.compressedSize, 0);
  const inflated = entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0);
  const bomb = (reason: string) => new ArchiveRefusal('zip_bomb', `the workbook was not read: ${reason}`);
  // Overlapping entries let an archive inflate to far more than its compressed bytes.
  if (compressed > sizeBytes) throw bomb('its parts overlap');
  if (inflated > limits.maxInflatedBytes) {
    throw bomb(
      `the workbook must inflate to at most ${showBytes(limits.maxInflatedBytes)}, got ${showBytes(inflated)}`,
    );
  }
  if (inflated > compressed * limits.maxRatio) {
    // The ratio is rounded up. Otherwise, the message could show a ratio just above the maximum as equal to it.
    const ratio = Math.ceil(inflated / Math.max(1, compressed));
    throw bomb(`the workbook must inflate to at most ${limits.maxRatio} times its compressed size, got ${ratio} times`);
  }
}

/** @returns a name that two entries have; undefined when all names differ. */
function findRepeated(entries: readonly Entry[]): string | undefined {
  const names = new Set<string>();
  for (const { fileName } of entries) {
    if (names.has(fileName)) return fileName;
    names.add(fileName);
  }
  return undefined;
}

async function* inflate(zip: ZipFile, name: string, entry: Entry | undefined): AsyncGenerator<Buffer> {
  if (!entry) throw new Error(`the archive has no entry ${JSON.stringify(name)}`);
  const isDeflated = entry.compressionMethod === DEFLATED;
  if (!isDeflated && entry.compressionMethod !== STORED)
    throw damaged(
      `${entry.fileName} must be uncompressed or compressed with Deflate, got compression method ${entry.compressionMethod}`,
    );
  const raw = await refusing(() => zip.openReadStreamPromise(entry, { decodeFileData: false }));
  // Inflates in larger chunks than yauzl does by default: reading a sheet of 200,000 rows takes 15 % less time.
  const stream = isDeflated ? raw.pipe(createInflateRaw({ chunkSize: INFLATED_CHUNK_BYTES })) : raw;
  raw.on('error', (error) => stream.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += (chunk as Buffer).length;
      if (bytes > entry.uncompressedSize) throw damaged(`${entry.fileName} is larger than its declared size`);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw toRefusal(error, `${entry.fileName}: `);
  } finally {
    raw.destroy();
    stream.destroy();
  }
  if (bytes < entry.uncompressedSize) throw damaged(`${entry.fileName} is smaller than its declared size`);
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toRefusal(error);
  }
}

/** Wraps an error that occurred while a stored part was read. Such an error does not mean that the file is damaged. */
class ReadFailure extends Error {}

/** @param place the broken part of the workbook, such as `xl/styles.xml: `. Precedes the reason in the message. */
function toRefusal(error: unknown, place = ''): Error {
  if (error instanceof ReadFailure) return error.cause as Error;
  if (error instanceof ArchiveRefusal) return error;
  return damaged(place + (error instanceof Error ? error.message : String(error)));
}

function damaged(reason: string): ArchiveRefusal {
  return new ArchiveRefusal('damaged_file', `the workbook cannot be read: ${reason}`);
}

/** Gives yauzl access to byte ranges of the stored parts. */
class PartReader extends RandomAccessReader {
  readonly #source: PartSource;

  constructor(source: PartSource) {
    super();
    this.#source = source;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#bytes(start, end), { objectMode: false });
  }

  async *#bytes(start: number, end: number): AsyncGenerator<Uint8Array> {
    const { partBytes } = this.#source;
    for (let at = start; at < end; ) {
      const index = Math.floor(at / partBytes);
      const from = at - index * partBytes;
      const part = await this.#read(index);
      const piece = part.subarray(from, Math.min(partBytes, end - index * partBytes));
      if (piece.length === 0) throw new Error(`the file ends before byte ${end}`);
      yield piece;
      at += piece.length;
    }
  }

  async #read(index: number): Promise<Uint8Array> {
    try {
      return await this.#source.readPart(index);
    } catch (error) {
      throw new ReadFailure('a part cannot be read', { cause: error });
    }
  }
}
