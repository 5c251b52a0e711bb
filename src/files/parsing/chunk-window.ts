/**
 * Flow control of the parser process: one chunk is written while the next is prepared, never more. All chunks are encoded
 * into the same memory, because sending copies it.
 */
const MAX_CHUNKS = 2;

/** Returns memory for the given number of bytes; the content of an earlier chunk is overwritten. */
export type AllocateTuples = (bytes: number) => Buffer;

export class ChunkWindow {
  #memory = Buffer.alloc(0);
  #inUse = 0;
  #waiting: (() => void) | undefined;

  /** Waits until fewer than two chunks are unwritten, and counts one more. */
  async take(): Promise<AllocateTuples> {
    while (this.#inUse === MAX_CHUNKS) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#inUse += 1;
    return (bytes) => {
      if (this.#memory.length < bytes) this.#memory = Buffer.allocUnsafeSlow(bytes + (bytes >> 3));
      return this.#memory.subarray(0, bytes);
    };
  }

  /** A chunk was written. */
  release(): void {
    this.#inUse -= 1;
    this.#waiting?.();
  }
}
