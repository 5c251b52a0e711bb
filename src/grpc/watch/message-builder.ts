/** Puts chunks of news together into messages that clients take by default, each with the place it leads to. */
import type { Dictionary, Labels } from '../../points/dictionary.ts';
import type { PointChunk } from '../../points/point.ts';
import type { ChangePosition } from '../../points/read/read-changes.ts';
import { partsOf, textBytesOf } from '../point-chunk.ts';
import { type PointRowsMessage, pointRows } from '../point-rows.ts';

/** A message not yet sent, and where the reader is once it has it. */
export interface BuiltMessage {
  readonly points: PointRowsMessage;
  readonly places: ReadonlyMap<number, ChangePosition>;
}

// About 40 bytes each, and a cursor: together with the texts below 4 MiB.
const MAX_POINTS = 10_000;
const MAX_TEXT_BYTES = 1 << 20;

export class MessageBuilder {
  readonly #dictionary: Dictionary;
  readonly #unitOf: (variableId: number) => number | null;
  #chunks: PointChunk[] = [];
  #places = new Map<number, ChangePosition>();
  #points = 0;
  #textBytes = 0;

  constructor(dictionary: Dictionary, unitOf: (variableId: number) => number | null) {
    this.#dictionary = dictionary;
    this.#unitOf = unitOf;
  }

  /** Adds points of one variable, the next by VersionTimestamp and date. @returns messages that are full. */
  async add(chunk: PointChunk): Promise<readonly BuiltMessage[]> {
    const labels = await this.#dictionary.labelsOf([chunk]);
    const full: BuiltMessage[] = [];
    for (const part of partsOf(chunk, labels)) {
      const bytes = textBytesOf(part, labels);
      const isTooMuch = this.#points + part.dates.length > MAX_POINTS || this.#textBytes + bytes > MAX_TEXT_BYTES;
      if (isTooMuch && this.#points > 0) full.push(await this.#build());
      this.#chunks.push(part);
      this.#points += part.dates.length;
      this.#textBytes += bytes;
      this.#places.set(part.variableId, endOf(part));
    }
    return full;
  }

  /** Says that the reader has everything of a variable up to a place. */
  reach(variableId: number, place: ChangePosition): void {
    this.#places.set(variableId, place);
  }

  /** What is left; undefined when no place was reached since the last message. */
  async finish(): Promise<BuiltMessage | undefined> {
    return this.#places.size === 0 ? undefined : this.#build();
  }

  async #build(): Promise<BuiltMessage> {
    const [chunks, places] = [this.#chunks, this.#places];
    this.#chunks = [];
    this.#places = new Map();
    this.#points = 0;
    this.#textBytes = 0;
    // They are remembered from when they were added.
    const labels: Labels = await this.#dictionary.labelsOf(chunks);
    return { points: pointRows(chunks, labels, this.#unitOf), places };
  }
}

function endOf({ versionTimestamps, dates }: PointChunk): ChangePosition {
  return {
    versionTimestamp: versionTimestamps.at(-1) ?? Number.NEGATIVE_INFINITY,
    dateMicros: dates.at(-1) ?? Number.NEGATIVE_INFINITY,
  };
}
