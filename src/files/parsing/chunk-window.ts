/**
 * The parser's side of the unlinked file through which the parser passes chunks to the ingester. One slot of the file
 * holds the chunk that is being written to the database, the other slot holds the next chunk. Passing chunks as
 * messages was slower (MEASUREMENTS.md).
 */
import { writeSync } from 'node:fs';

/** Descriptor of the unlinked file in the parser process. */
export const CHUNK_DESCRIPTOR = 4;

const SLOTS = 2;
// The file is sparse: on disk, each slot takes at most as much space as the largest chunk that was written to it.
const SLOT_BYTES = 256 << 20;

/** Position of a chunk's tuples in the file, in bytes. */
export interface ChunkRange {
  readonly start: number;
  readonly length: number;
}

/** Returns a buffer of the given number of bytes. The buffer may reuse the memory of an earlier chunk. */
export type AllocateTuples = (bytes: number) => Buffer;

export class ChunkWindow {
  #memory = Buffer.alloc(0);
  #slot = 0;
  #inUse = 0;
  #waiting: (() => void) | undefined;

  readonly allocate: AllocateTuples = (bytes) => {
    if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(bytes + (bytes >> 3));
    return this.#memory.subarray(0, bytes);
  };

  /** Waits until a slot is free, then takes this slot. */
  async take(): Promise<void> {
    while (this.#inUse === SLOTS) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#inUse += 1;
  }

  /**
   * Writes the tuples of a chunk into the slot that was taken last.
   * @throws {Error} an error of the file system, such as ENOSPC.
   */
  write(tuples: Buffer): ChunkRange {
    const start = this.#slot * SLOT_BYTES;
    this.#slot = (this.#slot + 1) % SLOTS;
    for (let at = 0; at < tuples.length; )
      at += writeSync(CHUNK_DESCRIPTOR, tuples, at, tuples.length - at, start + at);
    return { start, length: tuples.length };
  }

  /** Frees the slot that has been in use the longest. Call this after its chunk has been written to the database. */
  release(): void {
    this.#inUse -= 1;
    this.#waiting?.();
  }
}
