/**
 * One call of `WatchPoints` (R-J1, R-J2): it waits until something is said to be new of its variables, reads what that is
 * from the database and writes it. Nothing is kept for the reader but where it is, so a slow one costs no memory.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Caller } from '../../identity/caller/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Dictionary } from '../../points/dictionary.ts';
import type { LinearScale } from '../../points/point.ts';
import type { ChangePosition } from '../../points/read/read-changes.ts';
import type { ReadVariable } from '../../selection/selection.ts';
import type { PointRowsMessage } from '../point-rows.ts';
import { encodeCursor } from './cursor.ts';
import { type BuiltMessage, MessageBuilder } from './message-builder.ts';
import type { CoalescingSemaphore, Semaphore } from './semaphore.ts';
import { type Change, streamChanges } from './stream-changes.ts';

export interface WatchMessage {
  /** Absent: nothing new, the cursor alone. */
  readonly points?: PointRowsMessage;
  readonly cursor: Buffer;
}

export interface WatchReading {
  /** Apart from other readers, with as many connections as there are turns. */
  readonly database: Database;
  readonly dictionary: Dictionary;
  /** Of reading little, shared by those who read the same, and of reading as much as there is. */
  readonly short: CoalescingSemaphore<readonly BuiltMessage[] | undefined>;
  readonly long: Semaphore;
  /** How long a snapshot of the database is kept for a reader that is slow to take what came of so much work. */
  readonly patienceMs: (workMs: number) => number;
}

export interface WatchOptions {
  readonly caller: Caller;
  /** The `authorization` of the call, looked at again while it lasts (R-B5). */
  readonly authorization: string | undefined;
  readonly variables: ReadonlyMap<number, ReadVariable>;
  readonly scales: ReadonlyMap<number, LinearScale> | undefined;
  readonly places: ReadonlyMap<number, ChangePosition>;
  readonly sink: Pick<ServerWritableStream<unknown, WatchMessage>, 'write'>;
  /** Aborted when the reader leaves. */
  readonly leaving: AbortSignal;
}

// What comes in quick succession is sent together: a watch reads for a quarter of the time at most, so that the busier the
// database is, the more comes at once.
const PAUSES_PER_ROUND = 3;
const MAX_PAUSE_MS = 500;
// More than that is not collected before it is sent, nor is what takes longer to find.
const MOST_COLLECTED = 10_000;
const COLLECT_MS = 2000;
// Whoever follows more is alone with that.
const MOST_SHARED = 100;

export class Watch {
  readonly options: WatchOptions;
  readonly #reading: WatchReading;
  readonly #places: Map<number, ChangePosition>;
  readonly #news = new Set<number>();
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
    this.#places = new Map(options.places);
    this.#signal = AbortSignal.any([options.leaving, this.#ending.signal]);
    for (const variableId of this.#places.keys()) this.#news.add(variableId);
  }

  /** Where the reader is in a variable. */
  placeOf(variableId: number): ChangePosition | undefined {
    return this.#places.get(variableId);
  }

  /** Says that there may be something new of a variable. */
  tell(variableId: number): void {
    this.#news.add(variableId);
    this.#wake?.();
  }

  /** Ends the call with an error, whatever it is doing. */
  end(error: Error): void {
    this.#ending.abort(error);
  }

  /** Sends the cursor if nothing was sent for a while; not to a reader that has not taken what was. */
  beat(heartbeatMs: number): void {
    if (this.#signal.aborted || this.#isWriting) return;
    if (performance.now() - this.#writtenMs >= heartbeatMs) void this.#write({ cursor: encodeCursor(this.#places) });
  }

  /** Sends news until the reader leaves. @returns how many points were sent. @throws what it was ended with. */
  async run(): Promise<number> {
    await this.#write({ cursor: encodeCursor(this.#places) });
    while (!this.#signal.aborted) {
      await this.#untilNews();
      if (this.#signal.aborted) break;
      const startMs = performance.now();
      await this.#round();
      const pauseMs = Math.min((performance.now() - startMs) * PAUSES_PER_ROUND, MAX_PAUSE_MS);
      await pause(pauseMs, undefined, { signal: this.#signal }).catch(() => {});
    }
    if (!this.options.leaving.aborted) throw this.#ending.signal.reason;
    return this.#points;
  }

  async #untilNews(): Promise<void> {
    if (this.#news.size > 0) return;
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

  /** Reads and sends what is new. A reader that stalls loses its connection to the database, and goes on from its place. */
  async #round(): Promise<void> {
    const wanted = [...this.#news];
    this.#news.clear();
    const messagesBefore = this.#messages;
    const { short, long } = this.#reading;
    try {
      const messages = await short.take(this.#keyOf(wanted), () => this.#collect(wanted), this.#signal);
      if (messages) for (const message of messages) await this.#send(message);
      else await long.take(() => this.#stream(wanted), this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (this.#messages === messagesBefore) throw error;
      for (const variableId of wanted) this.#news.add(variableId);
    }
  }

  /** The same for watches that would read the same from the same snapshot; undefined for what is not worth comparing. */
  #keyOf(wanted: readonly number[]): string | undefined {
    if (wanted.length > MOST_SHARED) return undefined;
    const { variables, scales } = this.options;
    const parts = [...wanted]
      .sort((a, b) => a - b)
      .map((variableId) => {
        const { versionTimestamp = 0, dateMicros = 0 } = this.#places.get(variableId) ?? {};
        // As text: JSON has no infinity.
        const place = `${versionTimestamp} ${dateMicros}`;
        return [variableId, place, variables.get(variableId)?.unitId, scales?.get(variableId)];
      });
    return JSON.stringify(parts);
  }

  /**
   * Others may wait for it too, so it does not end with this watch.
   * @returns undefined when there is more than should be collected.
   */
  async #collect(wanted: readonly number[]): Promise<readonly BuiltMessage[] | undefined> {
    const builder = this.#builder();
    const messages: BuiltMessage[] = [];
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(), COLLECT_MS);
    let points = 0;
    try {
      for await (const news of this.#newsOf(wanted, tooLong.signal)) {
        points += news.kind === 'points' ? news.chunk.dates.length : 0;
        if (points > MOST_COLLECTED) return undefined;
        messages.push(...(await take(builder, news)));
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

  /** Sends as it reads; goes on in another round, from its place, when its reader keeps the snapshot for too long. */
  async #stream(wanted: readonly number[]): Promise<void> {
    const builder = this.#builder();
    const startMs = performance.now();
    let sendingMs = 0;
    for await (const news of this.#newsOf(wanted, this.#signal)) {
      for (const message of await take(builder, news)) {
        const sentMs = performance.now();
        await this.#send(message);
        sendingMs += performance.now() - sentMs;
        const workMs = performance.now() - startMs - sendingMs;
        if (sendingMs <= this.#reading.patienceMs(workMs)) continue;
        for (const variableId of wanted) this.#news.add(variableId);
        return;
      }
    }
    const last = await builder.finish();
    if (last) await this.#send(last);
  }

  #builder(): MessageBuilder {
    const { variables } = this.options;
    return new MessageBuilder(this.#reading.dictionary, (variableId) => variables.get(variableId)?.unitId ?? null);
  }

  #newsOf(wanted: readonly number[], signal: AbortSignal): AsyncGenerator<Change> {
    const places = new Map(
      wanted.flatMap((variableId) => {
        const place = this.#places.get(variableId);
        return place ? [[variableId, place] as const] : [];
      }),
    );
    return streamChanges(this.#reading.database, places, this.options.scales, signal);
  }

  async #send({ points, places }: BuiltMessage): Promise<void> {
    if (this.#signal.aborted) return;
    for (const [variableId, place] of places) this.#places.set(variableId, place);
    const count = points.variableIds.length;
    this.#points += count;
    this.#messages += 1;
    await this.#write({ ...(count > 0 && { points }), cursor: encodeCursor(this.#places) });
  }

  /** Resolves when the reader has room for it, or the watch ends: no other message is made before. */
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

async function take(builder: MessageBuilder, news: Change): Promise<readonly BuiltMessage[]> {
  if (news.kind === 'points') return builder.add(news.chunk);
  for (const { variableId, lastVersionTimestamp } of news.changes) {
    builder.reach(variableId, { versionTimestamp: lastVersionTimestamp, dateMicros: Number.POSITIVE_INFINITY });
  }
  return [];
}
