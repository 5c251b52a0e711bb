/**
 * Watches: each sends the new points of variables to one reader (R-J1, R-J2). A watch waits until a variable is marked
 * as changed, reads the new points from the database and sends them to the reader. While a watch waits for a change, it
 * keeps no points, only the reader's positions.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '../identity/caller/caller.ts';
import type { Database } from '../platform/database/database.ts';
import type { FairSemaphore } from '../platform/shares/fair-semaphore.ts';
import type { Dictionary } from '../points/dictionary.ts';
import type { LinearScale } from '../points/point.ts';
import type { ChangePosition } from '../points/read/read-changes.ts';
import type { ReadVariable } from '../selection/selection.ts';
import { encodeCursor } from './cursor.ts';
import { type BuiltMessage, MessageBuilder, type WatchedPoints } from './message-builder.ts';
import type { CoalescingSemaphore } from './semaphore.ts';
import { type Change, streamChanges } from './stream-changes.ts';

export interface WatchMessage {
  /** The new points; absent in messages that have only a cursor, such as the first message and heartbeats. */
  readonly points?: WatchedPoints;
  readonly cursor: Buffer;
}

/** The receiver of the messages of a watch. */
export interface WatchSink {
  /**
   * Sends a message.
   * @param taken callback that the sink calls when the reader has taken the message. The watch writes the next message
   * only after this call.
   */
  write(message: WatchMessage, taken: () => void): unknown;
}

export interface WatchReading {
  /** Connection pool for watches only. The pool has one connection for every permit of `short` and `long`. */
  readonly database: Database;
  readonly dictionary: Dictionary;
  /** Permits for short reads. A short read collects a limited number of points, and can serve several watches. */
  readonly short: CoalescingSemaphore<readonly BuiltMessage[] | undefined>;
  /** Permits for long reads, divided among accounts (R-A14). A long read can send any number of points. */
  readonly long: Pick<FairSemaphore, 'enter'>;
  /**
   * Returns how long, in ms, a long read may wait for its client in total. `workMs`: time, in ms, that the read has
   * spent on other steps.
   */
  readonly patienceMs: (workMs: number) => number;
}

export interface WatchOptions {
  readonly caller: Caller;
  /** The `authorization` of the call. The hub checks this `authorization` again while the watch is open (R-B5). */
  readonly authorization: string | undefined;
  readonly variables: ReadonlyMap<number, ReadVariable>;
  /** Unit conversion by variable id. */
  readonly scales: ReadonlyMap<number, LinearScale> | undefined;
  /** Position at which the reader starts, by variable id. */
  readonly positions: ReadonlyMap<number, ChangePosition>;
  readonly sink: WatchSink;
  /** Aborts when the client disconnects. */
  readonly leaving: AbortSignal;
}

// Debounce: after a round, a watch pauses three times as long as the round took, at most 500 ms. So the busier the
// database is, the more points a round reads.
const PAUSES_PER_ROUND = 3;
const MAX_PAUSE_MS = 500;
// A round begins with a short read. If it exceeds one of these limits, the round performs a long read instead.
const MAX_COLLECTED_POINTS = 10_000;
const MAX_COLLECT_MS = 2000;
// Maximum number of variables of a shared read. With more variables, comparing keys costs more than sharing saves.
const MAX_COALESCED_VARIABLES = 100;

/** One watch. The hub calls `markChanged`, `heartbeat` and `end`. */
export class Watch {
  readonly options: WatchOptions;
  readonly #reading: WatchReading;
  readonly #positions: Map<number, ChangePosition>;
  readonly #changed = new Set<number>();
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #wake: (() => void) | undefined;
  #writtenMs = performance.now();
  #isWriting = false;
  #points = 0;
  #messages = 0;

  constructor(reading: WatchReading, options: WatchOptions) {
    this.options = options;
    this.#reading = reading;
    this.#positions = new Map(options.positions);
    this.#signal = AbortSignal.any([options.leaving, this.#ending.signal]);
    for (const variableId of this.#positions.keys()) this.#changed.add(variableId);
  }

  /** @returns the variable's position in the last cursor sent; undefined when the variable is not watched. */
  positionOf(variableId: number): ChangePosition | undefined {
    return this.#positions.get(variableId);
  }

  /** Makes the watch look for new points of the variable. */
  markChanged(variableId: number): void {
    this.#changed.add(variableId);
    this.#wake?.();
  }

  /** Ends the watch with an error immediately. */
  end(error: Error): void {
    this.#ending.abort(error);
  }

  /** Sends the cursor if the reader has taken the last message and that message was sent at least `heartbeatMs` ago. */
  heartbeat(heartbeatMs: number): void {
    if (this.#signal.aborted || this.#isWriting) return;
    if (performance.now() - this.#writtenMs >= heartbeatMs) void this.#write({ cursor: encodeCursor(this.#positions) });
  }

  /**
   * Sends changes until the client disconnects or an error ends the watch.
   * @returns the number of points sent. @throws the error that ended the watch.
   */
  async run(): Promise<number> {
    await this.#write({ cursor: encodeCursor(this.#positions) });
    while (!this.#signal.aborted) {
      await this.#untilChanged();
      if (this.#signal.aborted) break;
      const startMs = performance.now();
      await this.#round();
      const pauseMs = Math.min((performance.now() - startMs) * PAUSES_PER_ROUND, MAX_PAUSE_MS);
      await pause(pauseMs, undefined, { signal: this.#signal }).catch(() => {});
    }
    if (!this.options.leaving.aborted) throw this.#ending.signal.reason;
    return this.#points;
  }

  async #untilChanged(): Promise<void> {
    if (this.#changed.size > 0) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.#wake = undefined;
        this.#signal.removeEventListener('abort', go);
        resolve();
      };
      this.#wake = go;
      this.#signal.addEventListener('abort', go);
    });
  }

  async #inTurn(long: Pick<FairSemaphore, 'enter'>, work: () => Promise<void>): Promise<void> {
    const leave = await long.enter(this.options.caller.accountId, this.#signal);
    await work().finally(leave);
  }

  /**
   * Reads the points of the changed variables and sends them to the client. If the client stalls during a long read,
   * the next round sends the rest.
   */
  async #round(): Promise<void> {
    const variableIds = [...this.#changed];
    this.#changed.clear();
    const messagesBefore = this.#messages;
    const { short, long } = this.#reading;
    try {
      const messages = await short.run(
        { key: this.#keyOf(variableIds), accountId: this.options.caller.accountId },
        () => this.#collect(variableIds),
        this.#signal,
      );
      if (messages) for (const message of messages) await this.#send(message);
      else await this.#inTurn(long, () => this.#stream(variableIds));
    } catch (error) {
      if (this.#signal.aborted) return;
      // When the round fails after it has sent a message, the next round reads the rest. When the round fails before
      // its first message, the error ends the watch.
      if (this.#messages === messagesBefore) throw error;
      for (const variableId of variableIds) this.#changed.add(variableId);
    }
  }

  /**
   * @returns a key that is equal for watches that would read the same points from the same snapshot; undefined when
   * the read must not be shared.
   */
  #keyOf(variableIds: readonly number[]): string | undefined {
    if (variableIds.length > MAX_COALESCED_VARIABLES) return undefined;
    const { variables, scales } = this.options;
    const parts = [...variableIds]
      .sort((a, b) => a - b)
      .map((variableId) => {
        const { versionTimestamp = 0, dateMicros = 0 } = this.#positions.get(variableId) ?? {};
        // `position` is text: `dateMicros` may be infinite, and JSON has no number for infinity.
        const position = `${versionTimestamp} ${dateMicros}`;
        return [variableId, position, variables.get(variableId)?.unitId, scales?.get(variableId)];
      });
    return JSON.stringify(parts);
  }

  /**
   * Performs a short read. The read continues even if this watch ends, because other watches may share the read.
   * @returns the messages; undefined when the read exceeds MAX_COLLECTED_POINTS or MAX_COLLECT_MS.
   */
  async #collect(variableIds: readonly number[]): Promise<readonly BuiltMessage[] | undefined> {
    const builder = this.#builder();
    const messages: BuiltMessage[] = [];
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(), MAX_COLLECT_MS);
    let points = 0;
    try {
      for await (const change of this.#changesOf(variableIds, tooLong.signal)) {
        points += change.kind === 'points' ? change.chunk.dates.length : 0;
        if (points > MAX_COLLECTED_POINTS) return undefined;
        messages.push(...(await addChange(builder, change)));
      }
    } catch (error) {
      if (error === tooLong.signal.reason) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
    const last = await builder.finish();
    return last ? [...messages, last] : messages;
  }

  /**
   * Performs a long read, and sends each message when the message is complete. If the client is too slow, the read ends
   * early, because it must not hold its snapshot for too long.
   */
  async #stream(variableIds: readonly number[]): Promise<void> {
    const builder = this.#builder();
    const startMs = performance.now();
    let sendingMs = 0;
    for await (const change of this.#changesOf(variableIds, this.#signal)) {
      for (const message of await addChange(builder, change)) {
        const sentMs = performance.now();
        await this.#send(message);
        sendingMs += performance.now() - sentMs;
        const workMs = performance.now() - startMs - sendingMs;
        if (sendingMs <= this.#reading.patienceMs(workMs)) continue;
        for (const variableId of variableIds) this.#changed.add(variableId);
        return;
      }
    }
    const last = await builder.finish();
    if (last) await this.#send(last);
  }

  #builder(): MessageBuilder {
    return new MessageBuilder(this.#reading.dictionary);
  }

  #changesOf(variableIds: readonly number[], signal: AbortSignal): AsyncGenerator<Change> {
    const positions = new Map(
      variableIds.flatMap((variableId) => {
        const position = this.#positions.get(variableId);
        return position ? [[variableId, position] as const] : [];
      }),
    );
    return streamChanges(this.#reading.database, positions, this.options.scales, signal);
  }

  async #send({ points, positions }: BuiltMessage): Promise<void> {
    if (this.#signal.aborted) return;
    for (const [variableId, position] of positions) this.#positions.set(variableId, position);
    this.#points += points.count;
    this.#messages += 1;
    await this.#write({ ...(points.count > 0 && { points }), cursor: encodeCursor(this.#positions) });
  }

  /**
   * Writes a message. Resolves when the reader has taken the message or the watch ends, so at most one
   * message waits (back-pressure).
   */
  async #write(message: WatchMessage): Promise<void> {
    if (this.#signal.aborted) return;
    this.#writtenMs = performance.now();
    this.#isWriting = true;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.#signal.removeEventListener('abort', go);
        resolve();
      };
      this.#signal.addEventListener('abort', go);
      this.options.sink.write(message, go);
    });
    this.#isWriting = false;
  }
}

/** Adds a change to the messages. @returns the messages that are now complete. */
async function addChange(builder: MessageBuilder, change: Change): Promise<readonly BuiltMessage[]> {
  if (change.kind === 'points') return builder.add(change.chunk);
  for (const { variableId, lastVersionTimestamp } of change.changes) {
    builder.advance(variableId, { versionTimestamp: lastVersionTimestamp, dateMicros: Number.POSITIVE_INFINITY });
  }
  return [];
}
