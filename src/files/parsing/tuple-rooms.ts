/**
 * Memory for tuples that the parser's thread shares with the one that writes them: one chunk is written while the next is
 * prepared, and the rooms are used again. Handing over new memory for every chunk made the collector of garbage go through
 * the whole heap of the receiver ten times a file, half a second in all.
 */
const ROOMS = 2;

/** Gives memory for so many bytes. */
export type TupleRoom = (bytes: number) => Buffer;

export class TupleRooms {
  readonly #memory = Array.from({ length: ROOMS }, () => new SharedArrayBuffer(0));
  #next = 0;
  #inUse = 0;
  #waiting: (() => void) | undefined;

  /** The next room, once what was in it is written. */
  async take(): Promise<TupleRoom> {
    while (this.#inUse === ROOMS) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    const index = this.#next;
    this.#next = (index + 1) % ROOMS;
    this.#inUse += 1;
    return (bytes) => Buffer.from(this.#enlarge(index, bytes), 0, bytes);
  }

  /** Chunks are written in their order: the room that was taken first is free. */
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
