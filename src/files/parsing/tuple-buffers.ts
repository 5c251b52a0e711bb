/**
 * Two reusable buffers for tuples, shared between the parser's thread and the thread that writes: one chunk is written
 * while the next is prepared. New memory for each chunk made V8 collect the receiver's whole heap ten times a file, half a
 * second in all.
 */
const BUFFERS = 2;

/** Returns memory for the given number of bytes; the content of an earlier chunk is overwritten. */
export type AllocateTuples = (bytes: number) => Buffer;

/** Hands out the buffers in turn. */
export class TupleBuffers {
  readonly #memory = Array.from({ length: BUFFERS }, () => new SharedArrayBuffer(0));
  #next = 0;
  #inUse = 0;
  #waiting: (() => void) | undefined;

  /** Takes the next buffer; waits until its previous chunk is written. */
  async take(): Promise<AllocateTuples> {
    while (this.#inUse === BUFFERS) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    const index = this.#next;
    this.#next = (index + 1) % BUFFERS;
    this.#inUse += 1;
    return (bytes) => Buffer.from(this.#enlarge(index, bytes), 0, bytes);
  }

  /** Frees the buffer that was taken first: chunks are written in order. */
  release(): void {
    this.#inUse -= 1;
    this.#waiting?.();
  }

  #enlarge(index: number, bytes: number): SharedArrayBuffer {
    const known = this.#memory[index];
    if (known && known.byteLength >= bytes) return known;
    const larger = new SharedArrayBuffer(bytes + (bytes >> 3));
    this.#memory[index] = larger;
    return larger;
  }
}
