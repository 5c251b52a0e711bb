/**
 * File through which one parser process passes chunks to the ingester. This code runs in the ingester; the code for the
 * parser process is in `chunk-window.ts`.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, read, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChunkRange } from './chunk-window.ts';

const readInto = promisify(read);

export interface ChunkFile {
  readonly descriptor: number;
  /** Reads a chunk into memory that the next read overwrites. */
  read(range: ChunkRange): Promise<Buffer>;
  /**
   * Empties the file, and frees the memory that `read` fills. Call this function only after every chunk in the file has
   * been read.
   */
  clear(): void;
  close(): void;
}

/**
 * Creates a file without a name in the temporary directory. The system deletes the file when no process has it open.
 * @throws {Error} of the file system, such as ENOSPC.
 */
export function openChunkFile(): ChunkFile {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-chunks-'));
  try {
    const descriptor = openSync(join(directory, 'tuples'), 'wx+', 0o600);
    let memory = Buffer.alloc(0);
    return {
      descriptor,
      read: async ({ start, length }) => {
        if (memory.length < length) memory = Buffer.allocUnsafeSlow(length + (length >> 3));
        for (let at = 0; at < length; ) {
          const { bytesRead } = await readInto(descriptor, memory, at, length - at, start + at);
          if (bytesRead === 0)
            throw new Error(`the chunk file is truncated: the chunk at byte ${start} has ${at} of ${length} bytes`);
          at += bytesRead;
        }
        return memory.subarray(0, length);
      },
      clear: () => {
        ftruncateSync(descriptor, 0);
        memory = Buffer.alloc(0);
      },
      close: () => closeSync(descriptor),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
