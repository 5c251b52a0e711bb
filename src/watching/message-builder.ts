/** Packs chunks of points into messages. In gRPC, a message stays below 4 MiB, the default limit of gRPC clients. */
import type { Dictionary, Labels } from '../points/dictionary.ts';
import type { PointChunk } from '../points/point.ts';
import type { ChangePosition } from '../points/read/read-changes.ts';
import { partsOf, textBytesOf } from '../points/split-chunk.ts';

/**
 * Points of a message. One read can serve several watches; all of them use this object, so that each format is encoded
 * only once (`encodeOnce`).
 */
export interface WatchedPoints {
  /** Chunks of one variable each; the points of a variable are in order of VersionTimestamp and date. */
  readonly chunks: readonly PointChunk[];
  readonly labels: Labels;
  readonly count: number;
}

/** A message to send. `positions` has the new position of the watch for each variable whose position changes. */
export interface BuiltMessage {
  readonly points: WatchedPoints;
  readonly positions: ReadonlyMap<number, ChangePosition>;
}

// Maximum number of points in a message. In gRPC a point takes about 40 bytes, so these points take about 400 kB, and
// the whole message, with its texts and cursor, is below 4 MiB.
const MAX_POINTS = 10_000;
const MAX_TEXT_BYTES = 1 << 20;

/** Builds the messages of one round of a watch. A round reads all variables that have changed. */
export class MessageBuilder {
  readonly #dictionary: Dictionary;
  #chunks: PointChunk[] = [];
  #positions = new Map<number, ChangePosition>();
  #points = 0;
  #textBytes = 0;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /**
   * Adds the next points of one variable, in order of VersionTimestamp and date.
   * @returns the messages that these points complete.
   */
  async add(chunk: PointChunk): Promise<readonly BuiltMessage[]> {
    const labels = await this.#dictionary.labelsOf([chunk]);
    const full: BuiltMessage[] = [];
    for (const part of partsOf(chunk, labels)) {
      const bytes = textBytesOf(part, labels);
      const isFull = this.#points + part.dates.length > MAX_POINTS || this.#textBytes + bytes > MAX_TEXT_BYTES;
      if (isFull && this.#points > 0) full.push(await this.#build());
      this.#chunks.push(part);
      this.#points += part.dates.length;
      this.#textBytes += bytes;
      this.#positions.set(part.variableId, endOf(part));
    }
    return full;
  }

  /** Advances the watch to a later position in a variable, without adding points. */
  advance(variableId: number, position: ChangePosition): void {
    this.#positions.set(variableId, position);
  }

  /** @returns the last message; undefined when no position has advanced since the previous message. */
  async finish(): Promise<BuiltMessage | undefined> {
    return this.#positions.size === 0 ? undefined : this.#build();
  }

  async #build(): Promise<BuiltMessage> {
    const [chunks, positions, count] = [this.#chunks, this.#positions, this.#points];
    this.#chunks = [];
    this.#positions = new Map();
    this.#points = 0;
    this.#textBytes = 0;
    // The dictionary finds these labels in its cache, because add() has already read them.
    const labels: Labels = await this.#dictionary.labelsOf(chunks);
    return { points: { chunks, labels, count }, positions };
  }
}

/** @returns a function that calls `encode` only once for each object, however many watches send it. */
export function encodeOnce<Encoded, Context>(
  encode: (points: WatchedPoints, context: Context) => Encoded,
): (points: WatchedPoints, context: Context) => Encoded {
  const known = new WeakMap<WatchedPoints, { readonly encoded: Encoded }>();
  return (points, context) => {
    const found = known.get(points) ?? { encoded: encode(points, context) };
    known.set(points, found);
    return found.encoded;
  };
}

function endOf({ versionTimestamps, dates }: PointChunk): ChangePosition {
  return {
    versionTimestamp: versionTimestamps.at(-1) ?? Number.NEGATIVE_INFINITY,
    dateMicros: dates.at(-1) ?? Number.NEGATIVE_INFINITY,
  };
}
